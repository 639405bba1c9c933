"""What two answers have in common: conditions in one space, ends that became others, chains alike."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from qtrace.report.drift import Fate
from qtrace.report.model import (
    Chain,
    Change,
    Coverage,
    Hop,
    HopKind,
    Kernel,
    Outcome,
    Pin,
    Question,
    Refusal,
    Report,
    Why,
)
from qtrace.report.predicate import AllOf, Always, Compare, Member, Not, Opaque, Predicate, Site
from qtrace.tracer.drift.compare import one
from qtrace.tracer.drift.ends import became
from qtrace.tracer.drift.joint import Joint, Side

ALWAYS = Always()
FLASHINFER = Member("package flashinfer", (True,))
FEW, SOME = Compare("M", "<=", "16"), Compare("M", "<=", "32")
VAGUE = Opaque("another iteration")
NVCC = Compare("None", "is", "shutil.which('nvcc')")


def kernel(
    name: str, guard: Predicate = ALWAYS, method: str = "vllm.Method", ops: tuple[str, ...] = ()
) -> Outcome:
    return Outcome(
        guard=guard, method=method, kernels=(Kernel(attribute="k", symbol=f"vllm.{name}"),), ops=ops
    )


def refused(message: str, guard: Predicate = ALWAYS) -> Outcome:
    return Outcome(guard=guard, refusal=Refusal(exception="ValueError", message=message))


def chain(*outcomes: Outcome, layers: tuple[str, ...] = (), premises: tuple[str, ...] = ()) -> Chain:
    return Chain(layer="linear", layers=layers, premises=premises, hops=(), outcomes=outcomes)


def report(*chains: Chain, version: str = "1") -> Report:
    return Report(
        tool="",
        question=Question(engine="vllm", asked={}, resolved={}),
        pins=(Pin(engine="vllm", version=version, python_hash=version * 8),),
        chains=chains,
        coverage=Coverage(modules_read=1, statements=1),
    )


def told(here: Chain, there: Chain, capability: int | None = None) -> list[tuple[Fate, str, str, str, bool]]:
    return [
        (each.fate, str(each.was), str(each.now), str(each.guard), each.sure)
        for each in became(here, there, capability)
    ]


@pytest.mark.parametrize(
    ("was", "now", "fate"),
    [
        (kernel("A"), refused("no"), Fate.REFUSED),
        (refused("no"), kernel("A"), Fate.ACCEPTED),
        (kernel("A"), kernel("B"), Fate.OTHER),
        (kernel("A"), kernel("A", method="vllm.Other"), Fate.WAY),
        (kernel("A"), kernel("A", ops=("torch.ops._C.x",)), Fate.WAY),
        (kernel("A"), kernel("moved.A"), None),
        (kernel("A"), Outcome(), Fate.OPEN),
        (Outcome(), Outcome(config="vllm.Config"), None),
        (refused("no"), refused("no, for another reason"), None),
        (Outcome(method="vllm.A"), Outcome(method="vllm.B"), Fate.OTHER),
    ],
)
def test_what_became_of_an_end(was: Outcome, now: Outcome, fate: Fate | None) -> None:
    assert [each.fate for each in became(chain(was), chain(now))] == ([] if fate is None else [fate])


def test_a_change_is_told_with_when_it_happens() -> None:
    here = chain(kernel("A", FLASHINFER), kernel("B", Not(FLASHINFER)))
    assert told(here, chain(kernel("A"))) == [
        (
            Fate.OTHER,
            "Method -> B when not (package flashinfer == True)",
            "Method -> A",
            "package flashinfer == False",
            True,
        )
    ]


def test_comparisons_of_one_number_are_not_independent() -> None:
    """No number is at most 16 and not at most 32."""
    here = chain(kernel("A", FEW), kernel("B", Not(FEW)))
    there = chain(kernel("A", SOME), kernel("B", Not(SOME)))
    (change,) = became(here, there)
    assert (str(change.was), str(change.now)) == (
        "Method -> B when not (M <= 16)",
        "Method -> A when M <= 32",
    )


def test_what_only_one_asks_is_open_and_what_one_alone_asks_is_not() -> None:
    here = chain(kernel("A", NVCC), kernel("B", Not(NVCC)))
    ninja = Compare("None", "is", "shutil.which('ninja')")
    both = told(here, chain(kernel("A", ninja), kernel("B", Not(ninja))))
    assert [sure for *_, sure in both] == [False, False]
    assert [sure for *_, sure in told(here, chain(kernel("B")))] == [True]


def test_descriptions_in_words_are_no_shared_condition() -> None:
    here = chain(kernel("A", VAGUE), kernel("B", Not(VAGUE)))
    assert not told(here, here)
    there = chain(kernel("A", AllOf((VAGUE, FLASHINFER))), kernel("B", Not(AllOf((VAGUE, FLASHINFER)))))
    assert {sure for *_, sure in told(here, there)} == {False}


def test_one_device_of_an_answer_about_any() -> None:
    new = Member("capability", (90, 100))
    here, there = chain(kernel("A")), chain(kernel("B", new), kernel("A", Not(new)))
    assert told(here, there, 80) == []
    assert [guard for *_, guard, _ in told(here, there, 90)] == ["always"]
    assert [guard for *_, guard, _ in told(here, there)] == ["capability in (90, 100)"]


def test_a_variable_may_have_values_that_nobody_names() -> None:
    sizes = [Member("size", (1, 2)), Member("size", (2, 3))]
    joint = Joint(sizes[:1], sizes[1:])
    neither = ~joint.guard(sizes[0], Side.HERE) & ~joint.guard(sizes[1], Side.THERE)
    assert not neither.is_false and str(joint.words(neither)) == "not (size in (1, 2, 3))"


def test_layers_are_compared_by_name_and_under_another_name_by_kind() -> None:
    here = report(chain(kernel("A"), layers=("qkv", "o")), chain(kernel("B"), layers=("down",)))
    there = report(chain(kernel("A"), layers=("qkv",)), chain(kernel("C"), layers=("o", "down")), version="2")
    drift = one(here, there).drift
    assert drift is not None
    assert [(str(c.was), str(c.now), c.where[0].layers) for c in drift.changes] == [
        ("A", "C", ("o",)),
        ("B", "C", ("down",)),
    ]
    renamed = one(
        report(chain(kernel("A"), layers=("e",))), report(chain(kernel("B"), layers=("f",)), version="2")
    )
    assert renamed.drift is not None and [c.fate for c in renamed.drift.changes] == [Fate.OTHER]


def test_a_checkpoint_that_one_pin_alone_takes_is_told_and_not_compared() -> None:
    drift = one(
        report(chain(kernel("A"), premises=("awq", "gptq"))),
        report(chain(kernel("A"), premises=("awq",)), version="2"),
    ).drift
    assert drift is not None
    assert [(each.value, each.change) for each in drift.only] == [("gptq", Change.GONE)]
    assert not drift.changes and not drift.unchanged()


def hop(symbol: str, line: int, guard: Predicate = ALWAYS) -> Hop:
    return Hop(kind=HopKind.FUNCTION, symbol=symbol, why=Why.CALLS, site=Site("a.py", line), guard=guard)


def test_hops_are_aligned_by_symbol() -> None:
    here = replace(chain(kernel("A")), hops=(hop("a", 1), hop("b", 2), hop("c", 3), hop("e", 9)))
    there = replace(chain(kernel("A")), hops=(hop("a", 1), hop("c", 4), hop("d", 5), hop("e", 9, FLASHINFER)))
    drift = one(report(here), report(there, version="2")).drift
    assert drift is not None
    assert [(step.symbol, step.change) for step in drift.chains[0].steps] == [
        ("a", Change.SAME),
        ("b", Change.GONE),
        ("c", Change.MOVED),
        ("d", Change.NEW),
        ("e", Change.CHANGED),
    ]
    assert one(report(here), report(here)).drift.unchanged()  # type: ignore[union-attr]
