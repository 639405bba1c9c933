"""Public bug reports: each question gets the finding it deserves on the releases that have the fault, and
nothing on the others.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import Case, cases, report_of, told
from edited import edited, replaced

from qtrace.report.model import Report
from qtrace.tracer.library import Library
from qtrace.tracer.sources import Source, open_source

VERSIONS = ("0.20.0", "0.26.0", "0.33.0")
MODELS = "vllm/model_executor/models"


def named(name: str) -> Case:
    return next(case for case in cases() if case["name"] == name)


@pytest.mark.parametrize("case", [c for c in cases() if c["fast"]], ids=lambda case: case["name"])
def test_the_newest_release(library: Library, case: Case) -> None:
    report = report_of(library, case)
    assert told(report) == case["expect"]["0.33.0"]
    assert any(case.get("says", "") in finding.message for finding in report.findings)


@pytest.mark.full
@pytest.mark.parametrize("version", VERSIONS)
def test_every_release(vllm_sdist: Path, version: str) -> None:
    source = vllm_sdist.parent / f"vllm-{version}.tar.gz"
    if not source.exists():
        pytest.fail(f"no source at {source}: run `.ci/sdist vllm {version}`", pytrace=False)
    library = Library(open_source(source))
    got = {case["name"]: told(report_of(library, case)) for case in cases()}
    print(f"\n{version}", *(f"{name}: {found or 'silent'}" for name, found in got.items()), sep="\n  ")
    assert got == {case["name"]: case["expect"][version] for case in cases()}


def finding(report: Report, name: str) -> str:
    (found,) = (f for f in report.findings if f.name == name)
    return f"{found.subject}: {found.message}"


@pytest.mark.full
def test_an_ignored_module_that_is_made_under_another_name(vllm_source: Source) -> None:
    """The fault of the thread, put back into a release that has it no more."""
    prefix = 'prefix=f"{prefix}.short_conv",\n'
    old = edited(vllm_source, {f"{MODELS}/lfm2.py": replaced(prefix, prefix.replace("short_conv", "conv"))})
    report = report_of(Library(old), named("lfm2 with its convolutions ignored"))
    found = [f for f in report.findings if f.name == "quant.ignore_unmatched"]
    assert [f.subject for f in found] == [
        "model.layers.0.short_conv.in_proj",
        "model.layers.0.short_conv.out_proj",
    ]
    assert "10 ignored names such as model.layers.0.conv.in_proj" in found[0].message


@pytest.mark.full
def test_modules_of_two_precisions_in_one_layer(vllm_source: Source) -> None:
    """One in_proj for both parts, as the release of the thread had it."""
    both = replaced('"in_proj_qkvz": ["in_proj_qkvz"]', '"in_proj_qkvz": ["in_proj_qkvz_", "in_proj_ba"]')
    old = edited(vllm_source, {f"{MODELS}/qwen3_next.py": both})
    report = report_of(Library(old), named("qwen3-next with half of in_proj ignored"))
    assert "in_proj_qkvz_" in finding(report, "quant.fused_shards")


@pytest.mark.full
@pytest.mark.parametrize("version", VERSIONS)
def test_a_model_that_renames_modules_renames_the_ignored_ones(vllm_sdist: Path, version: str) -> None:
    """Each release's loader gives the config the model's names in its own way."""
    case = {**named("a layer stored in bfloat16 that is ignored"), "tensors": {}}
    names = [f"model.language_model.layers.{n}.mlp.down_proj" for n in range(32)]
    case["quantization_config"] = {**case["quantization_config"], "ignored_layers": names}
    case["config"] = {"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl"}
    library = Library(open_source(vllm_sdist.parent / f"vllm-{version}.tar.gz"))
    (chain,) = report_of(library, case).chains
    assert {o.method.rpartition(".")[2] for o in chain.outcomes if o.method} == {"UnquantizedLinearMethod"}
