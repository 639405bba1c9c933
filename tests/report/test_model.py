"""The fact types: frozen, told by name, and readable."""

from __future__ import annotations

import msgspec
import pytest

from qtrace.report import model
from qtrace.report.model import Chain, Hop, Level, Outcome, Refusal, Report
from qtrace.report.predicate import Member

STRUCTS = [getattr(model, name) for name in model.__all__ if isinstance(getattr(model, name), type)]
FACTS = [kind for kind in STRUCTS if issubclass(kind, msgspec.Struct)]
REFUSED = Outcome(refusal=Refusal(exception="ValueError", message="no"))
OLD = Member("compute_capability", (75,))


def chain(*outcomes: Outcome) -> Chain:
    return Chain(layer="linear", hops=(), outcomes=outcomes)


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
def test_facts_are_frozen_and_keyword_only(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
    with pytest.raises(TypeError, match="positional"):
        kind(*["value"] * len(kind.__struct_fields__))
    assert kind.__doc__


def test_a_chain_is_refused_only_when_nothing_could_save_it() -> None:
    assert chain(REFUSED).refused()
    assert chain(REFUSED, REFUSED).refused()
    assert not chain(REFUSED, Outcome()).refused()
    assert not chain().refused()


def test_a_chain_is_decided_when_one_outcome_stands_without_condition() -> None:
    assert chain(Outcome()).decided()
    assert chain(REFUSED).decided()
    assert not chain(Outcome(guard=OLD)).decided()
    assert not chain(Outcome(), REFUSED).decided()
    assert not chain().decided()


def test_levels_reach_those_below_them() -> None:
    assert [Level.WARNING.reaches(level) for level in Level] == [False, True, True]


def test_facts_read_well(report: Report) -> None:
    (first, marlin), (refused, nowhere) = (chain.outcomes for chain in report.chains)
    kernel = "CutlassFP8ScaledMMLinearKernel"
    forced = "vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN"
    assert str(first) == f"Fp8Config -> Fp8LinearMethod -> {kernel} when not {forced}"
    assert str(marlin).endswith(f"when {forced}")
    assert str(refused).startswith("NotImplementedError: No Fp8 MoE backend")
    assert str(nowhere).startswith("not followed to its end when")
    assert str(report.pins[0]) == "vllm 0.33.0 @ 4ba787ec9"
    assert str(report.pins[1]) == "vllm 0.26.0"
    assert (
        str(report.question)
        == "vllm quantization=gptq compute_capability=90 with=('flashinfer', 'deep_gemm')"
    )
    assert str(first.parameters[0]) == "weight: float8_e4m3fn[N, K]"
    assert str(first.kernels[0]).startswith("fp8_linear: vllm.")
    assert str(report.coverage.unsupported[0]) == "Match at vllm/config/vllm.py:812 (3 times)"


def test_hops_choices_and_findings_read_well(report: Report) -> None:
    chain = report.chains[0]
    flag: Hop = chain.hops[0]
    assert str(flag) == "reads --quantization at vllm/engine/arg_utils.py:992"
    rejected, _, taken, left = chain.choices[0].candidates
    assert chain.choices[0].taken() is taken
    assert str(rejected).endswith("rejected: requires compute capability 100 or above")
    assert str(left).endswith("not reached")
    assert str(report.findings[0]).startswith("note QT102 quant.flag_rewritten: --quantization gptq")
