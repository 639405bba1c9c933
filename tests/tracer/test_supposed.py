"""Questions without a checkpoint: what the flag comes to with each that the release takes it for."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from qtrace.report.gate import exit_for
from qtrace.report.model import Chain, Level, Report, Verdict
from qtrace.report.standing import Standing, of_report
from qtrace.rules import judge
from qtrace.tracer import supposed
from qtrace.tracer.answer import answered, walked
from qtrace.tracer.engines.walk import Walk
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import open_source
from qtrace.tracer.standard import standards
from qtrace.tracer.supposed import OTHER


def ask(library: Library, **given: object) -> Report:
    scenario = Scenario(whole=False, capability=90, profile="wheel", cuda=13000, **given)  # type: ignore[arg-type]
    made = answered(library, scenario, {})
    return replace(made, findings=judge(made))


def kernels(chain: Chain) -> set[str]:
    return {k.symbol.rpartition(".")[2] for o in chain.outcomes for k in o.kernels}


def test_a_flag_alone_is_asked_of_each_checkpoint_that_it_is_for(library: Library) -> None:
    made = ask(library, quantization="fp8", layer="o_proj")
    told = {premise: chain for chain in made.chains for premise in chain.premises}
    formats = [s.words for s in standards() if s.name.startswith("fp8-")]
    assert list(told) == ["not quantized", *formats, OTHER]
    plain, block = told["not quantized"], told["FP8 in blocks of 128 x 128, dynamic activations"]
    assert {o.config for o in plain.outcomes} != {o.config for o in block.outcomes}
    assert kernels(plain) == {"CutlassFP8ScaledMMLinearKernel"}
    assert "DeepGemmFp8BlockScaledMMKernel" in kernels(block)
    assert "model" in made.question.unknown
    assert any("no checkpoint was given" in sentence for sentence in made.question.assumed)


def test_a_checkpoint_of_another_method_is_left_out_though_the_release_takes_it(library: Library) -> None:
    """ModelOpt's checkpoints override any flag: they say nothing of it."""
    made = ask(library, quantization="gptq", layer="o_proj")
    told = {premise for chain in made.chains for premise in chain.premises}
    gptq = {s.words for s in standards() if s.config["quant_method"] == "gptq"}
    assert told - {"not quantized", OTHER} <= gptq
    assert len(told) > 2


@pytest.mark.parametrize("flag", ["gptq_marlin", "modelopt_mixed"])
def test_a_flag_by_another_name_or_of_no_standard_checkpoint_is_open(library: Library, flag: str) -> None:
    """One is another name of a method, no standard checkpoint is of the other: none is sure to be refused."""
    made = ask(library, quantization=flag, layer="o_proj")
    told = {premise for chain in made.chains for premise in chain.premises}
    assert ("GPTQ, 4 bits in groups of 128" in told) == (flag == "gptq_marlin")
    assert of_report(made) is Standing.OPEN
    assert exit_for(made.findings) == 0


def test_what_holds_for_one_checkpoint_is_open_and_stops_nobody(library: Library) -> None:
    """GPTQ needs a quantized checkpoint: that one without is refused decides nothing."""
    made = ask(library, quantization="gptq", layer="o_proj")
    refused = [chain for chain in made.chains if chain.refused()]
    assert [chain.premises for chain in refused] == [("not quantized",)]
    (finding,) = (f for f in made.findings if f.level is Level.ERROR)
    assert finding.verdict is Verdict.OPEN
    assert finding.message.startswith("If the checkpoint is not quantized: ")
    assert exit_for(made.findings) == 0


def test_a_flag_that_the_release_does_not_know_is_asked_of_no_checkpoint(library: Library) -> None:
    made = ask(library, quantization="no_such_method")
    assert [chain.premises for chain in made.chains] == [()]
    assert exit_for(made.findings) == 2


def test_one_chain_stands_for_checkpoints_that_lead_to_the_same(library: Library) -> None:
    made = ask(library, quantization="fp8", kv_cache_dtype="fp8", layer="attention")
    assert {len(chain.premises) for chain in made.chains} == {1, 3}


@pytest.mark.full
@pytest.mark.parametrize("flag", ["awq", "gptq"])
def test_a_checkpoint_is_taken_in_the_dtype_that_the_release_allows(vllm_sdist: Path, flag: str) -> None:
    """On ROCm 0.20.0 has AWQ and GPTQ in float16 alone."""
    library = Library(open_source(vllm_sdist.parent / "vllm-0.20.0.tar.gz"))
    scenario = Scenario(
        whole=False, quantization=flag, platform="rocm", arch="gfx942", profile="wheel", layer="o_proj"
    )
    made = answered(library, scenario, {})
    accepted = [p for chain in made.chains if not chain.refused() for p in chain.premises]
    assert any(premise.endswith(", in float16") for premise in accepted)


def test_without_a_flag_other_formats_may_keep_the_cache_otherwise(library: Library) -> None:
    made = ask(library, kv_cache_dtype="fp8", layer="attention")
    told = {premise for chain in made.chains for premise in chain.premises}
    assert told == {"not quantized", OTHER, *(s.words for s in standards() if s.cache)}
    assert of_report(made) is Standing.OPEN


@pytest.mark.full
@pytest.mark.parametrize("flag", ["fp8", "gptq", "compressed-tensors", "quark", "modelopt"])
def test_formats_that_are_not_asked_are_refused_when_they_are(library: Library, flag: str) -> None:
    """They agree with one that was refused in all that the release read of it."""
    question = supposed._anywhere(Scenario(quantization=flag))

    def configured(one: Scenario) -> Walk:
        return walked(library, one, configured=True)

    told = supposed._for_flag(question, configured)
    each = [(standard, supposed._taken_in(standard, question, configured)[0]) for standard in standards()]
    assert told == tuple((standard, dtype) for standard, dtype in each if dtype is not None)
