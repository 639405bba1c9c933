"""What the findings say to the user."""

from __future__ import annotations

import msgspec

from qtrace.report.model import Chain, Hop, HopKind, Level, Report, Verdict, Why
from qtrace.report.predicate import AllOf, Member, Not, Opaque, Site
from qtrace.rules import JUDGES, judge
from qtrace.rules.caches import same
from qtrace.rules.examples import ACCEPTED, CHECKPOINT, refused, relieved, report, unknown


def layers(report: Report, *names: str) -> Report:
    chain = report.chains[0]
    chains = tuple(msgspec.structs.replace(chain, layer=name) for name in names)
    return msgspec.structs.replace(report, chains=chains)


def test_a_refusal_that_layers_share_is_told_once() -> None:
    (finding,) = judge(layers(report(refused("no.")), "linear", "experts"))
    assert finding.subject == "linear, experts"
    assert finding.message == "The engine refuses this scenario: ValueError: no."
    assert finding.site == Site("vllm/config/model.py", 9)


def test_an_unknown_value_is_told_once_with_the_known_ones_and_the_engines_words() -> None:
    asked = report(unknown("fp9", "awq", "fp8"), asked={"quantization": "fp9"})
    (finding,) = judge(layers(asked, "linear", "experts"))
    assert (finding.rule, finding.verdict) == ("QT103", Verdict.FAIL)
    assert (finding.expected, finding.seen) == ("awq, fp8", "fp9")
    assert finding.message == (
        "quantization fp9 is unknown to vllm 0.33.0: ValueError: Unknown quantization method: fp9."
    )


def test_an_unknown_value_is_found_among_other_conditions() -> None:
    on = AllOf((Not(Opaque("plugins")), Not(Member("quantization", ("awq",)))))
    (finding,) = judge(report(refused("no.", on=on)))
    assert finding.rule == "QT103"


def test_a_value_that_is_unknown_only_on_some_platforms_is_open() -> None:
    cpu = Member("platform", ("cpu",))
    no = refused("no.", on=Not(Member("quantization", ("awq",))), guard=cpu)
    (finding,) = judge(report(ACCEPTED, no))
    assert (finding.rule, finding.verdict) == ("QT901", Verdict.OPEN)
    assert finding.message == (
        "The outcome is open: 2 possible outcomes, 1 refusal among them; decided by platform"
    )


def test_a_rewritten_flag_points_to_the_override() -> None:
    scan = Hop(
        kind=HopKind.FUNCTION, symbol="verify", why=Why.OVERRIDES, site=Site("vllm/config/model.py", 1394)
    )
    asked = report(ACCEPTED, asked={"quantization": "gptq"}, resolved={"quantization": "auto_gptq"})
    chain = Chain(layer="linear", hops=(scan,), outcomes=(ACCEPTED,))
    (finding,) = judge(msgspec.structs.replace(asked, chains=(chain,)))
    assert (finding.expected, finding.seen) == ("gptq", "auto_gptq")
    assert finding.site == scan.site


def test_float16_is_a_warning_only_where_bfloat16_can_be_had() -> None:
    half = {"quantization": "awq", "dtype": "float16"}
    (note,) = judge(report(ACCEPTED, asked=half, checkpoint=CHECKPOINT))
    wider = (relieved("dtype", "bfloat16"),)
    (warning,) = judge(report(ACCEPTED, asked=half, checkpoint=CHECKPOINT, reliefs=wider))
    assert (note.rule, note.level, "--dtype" in str(note.fix)) == ("QT106", Level.NOTE, False)
    assert (warning.rule, warning.level, "--dtype" in str(warning.fix)) == ("QT106", Level.WARNING, True)


def test_what_holds_in_some_outcomes_alone_is_open_with_its_condition() -> None:
    judges = {judge.rule: judge for judge in JUDGES}
    for rule, number in (("QT108", 1), ("QT109", 2), ("QT301", 0), ("QT304", 6)):
        (finding,) = judges[rule].check(judges[rule].fires[number])
        assert (finding.verdict, finding.level) == (Verdict.OPEN, Level.NOTE), rule
        assert finding.evidence[-1] == "when capability == 90", rule


def test_formats_of_a_cache_are_compared_by_what_they_hold() -> None:
    alike = (
        ("fp8", "fp8_e4m3"),
        ("fp8_e4m3", "fp8_ds_mla"),
        ("fp8", "fp8_ds_mla"),
        ("nvfp4", "nvfp4_ds_mla"),
    )
    others = (("fp8", "fp8_e5m2"), ("fp8", "fp8_per_token_head"), ("fp8_e5m2", "fp8_ds_mla"))
    assert all(same(*pair) for pair in alike)
    assert not any(same(*pair) for pair in others)


def test_a_backend_that_refuses_by_itself_is_told_with_its_words() -> None:
    judge_of = next(judge for judge in JUDGES if judge.rule == "QT303")
    (finding,) = judge_of.check(judge_of.fires[1])
    assert "TRITON_ATTN: picked, and then ValueError: no." in finding.evidence
    assert "accepted with kv_cache_dtype auto" in finding.evidence
