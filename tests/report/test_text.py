"""The text voice: everything that decides is on the page, and the page keeps its width."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace
from reports import REPORTS

from qtrace.report.model import Chain, Hop, HopKind, Outcome, Report, Why
from qtrace.report.predicate import Site
from qtrace.report.text import NARROWEST, render

WIDTHS = st.integers(1, 160)


def fits(report: Report, width: int, unicode: bool) -> bool:
    text = render(report, width, unicode=unicode)
    lines = text.split("\n")
    printable = all(line.isprintable() for line in lines)
    return printable and (unicode or text.isascii()) and max(map(len, lines)) <= max(width, NARROWEST)


def flat(text: str) -> str:
    return " ".join(text.split())


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS, WIDTHS, st.booleans())
def test_any_report_fits(report: Report, width: int, unicode: bool) -> None:
    assert fits(report, width, unicode)


@pytest.mark.full
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS, WIDTHS, st.booleans())
def test_very_many_reports_fit(report: Report, width: int, unicode: bool) -> None:
    assert fits(report, width, unicode)


@pytest.mark.parametrize("width", range(NARROWEST, 161))
@pytest.mark.parametrize("unicode", [True, False])
def test_the_whole_report_fits(report: Report, width: int, unicode: bool) -> None:
    assert fits(report, width, unicode)


def test_the_head_says_what_was_read_and_asked(report: Report) -> None:
    head = render(report).split("\n\n")[0].split("\n")
    assert head[1].startswith("vllm 0.33.0 @ 4ba787ec9 ") and head[1].endswith(" python 3f2a3f2a3f2a")
    assert head[3:] == [
        "asked     quantization=gptq  compute_capability=90  with=flashinfer,deep_gemm",
        "resolved  quantization=fp8  dtype=bfloat16",
        "unknown   M, env.VLLM_TEST_FORCE_FP8_MARLIN",
        "assumed   the packages that the wheel installs are there",
    ]


def test_every_outcome_stands_with_its_condition(report: Report) -> None:
    lines = [line.strip() for line in render(report).split("\n")]
    for end, condition in (
        (
            "✓ accepted 1  Fp8Config → Fp8LinearMethod → CutlassFP8ScaledMMLinearKernel",
            "when      not vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN",
        ),
        (
            "✗ refused 1   NotImplementedError: No Fp8 MoE backend supports the deployment configuration.",
            "when      moe_backend in ('triton', 'cutlass')",
        ),
        ("? open 2      not followed to its end", "when      not (moe_backend in ('triton', 'cutlass'))"),
    ):
        assert lines[lines.index(end) + 1] == condition


def test_one_outcome_without_condition_needs_no_number(report: Report) -> None:
    chain = Chain(layer="linear", hops=(), outcomes=(Outcome(method="vllm.fp8.Fp8LinearMethod"),))
    assert "  ✓ accepted  Fp8LinearMethod\n" in render(msgspec.structs.replace(report, chains=(chain,)))


def test_hops_are_a_tree_with_sites_at_the_right_edge(report: Report) -> None:
    lines = render(report).split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("  --quantization"))
    rows = [line for line in lines[start : start + 11] if "vllm/" in line]
    assert [row.split("  ")[1].strip() for row in rows[:2]] == [
        "--quantization",
        "├ ModelConfig.quantization",
    ]
    assert all(len(row) == 100 for row in rows)
    assert {row.index(why) for row, why in zip(rows, ("reads", "reads"), strict=False)} == {38}


def test_the_tree_shows_who_has_siblings(report: Report) -> None:
    trees = re.findall(r"^  ([├└│ ]*)\w[\w.:]", render(report), flags=re.MULTILINE)
    assert trees[4:10] == ["├ ", "│ └ ", "      ", "└ ", "  └ ", "    └ "]


def test_conditions_and_notes_stand_under_their_hop(report: Report) -> None:
    text = flat(render(report))
    assert "note first override_quantization_method() that is not None wins" in text
    assert "when not vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN and K % 16 == 0" in text


def test_every_candidate_stands_with_its_fate(report: Report) -> None:
    text = flat(render(report))
    assert "choice: fp8 linear kernel from _POSSIBLE_FP8_KERNELS[CUDA]" in text
    assert "✗ FlashInferFP8ScaledMMLinearKernel rejected: requires compute capability 100 or above" in text
    assert "(…/kernels/linear/scaled_mm/flashinfer.py:50)" in text
    assert "? MarlinFP8ScaledMMLinearKernel possible when vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN" in text
    assert "✓ CutlassFP8ScaledMMLinearKernel taken" in text
    assert "· PerTensorTorchFP8ScaledMMLinearKernel not reached" in text


def test_parameters_that_outcomes_share_stand_once(report: Report) -> None:
    text = render(report)
    assert text.count("weight_scale") == 1
    assert "parameters of outcome 1, 2" in text
    assert "weight_scale  float32        [len(logical_widths)]" in text


def test_findings_say_expected_seen_and_what_to_do(report: Report) -> None:
    text = flat(render(report))
    assert "findings 4 notes" in text
    assert "note QT102 quant.flag_rewritten --quantization vllm/config/model.py:1394" in text
    assert "expected gptq seen fp8 fix Nothing to mend" in text
    assert "note QT901 qtrace.open (open) linear" in text


def test_what_could_not_be_evaluated_is_told(report: Report) -> None:
    assert "read  41 modules, 12,033 statements, 1 construct not evaluated, 1 exhausted bound\n" in render(
        report
    )


def test_what_is_shortened_is_told(report: Report) -> None:
    assert re.search(
        r"shortened with …: \d+ paths and \d+ names?; --format json has them whole", render(report, 80)
    )
    small = msgspec.structs.replace(report, chains=(), findings=(), pins=())
    assert "shortened" not in render(small)


def test_ascii_keeps_every_word(report: Report) -> None:
    words = re.compile(r"\w\w+")
    plain = render(report, 160, unicode=False)
    assert plain.isascii()
    assert words.findall(plain) == words.findall(render(report, 160))


def test_colour_changes_no_text(report: Report) -> None:
    painted = render(report, color=True)
    assert "\x1b[32m" in painted
    assert re.sub(r"\x1b\[\d+m", "", painted).replace(" ", "") == render(report).replace(" ", "")


def test_control_characters_do_not_reach_the_terminal(report: Report) -> None:
    hostile = Hop(
        kind=HopKind.FUNCTION, symbol="a", why=Why.CALLS, site=Site("\x1b]0;title\x07.py", 1), note="b\x1b[2J"
    )
    chain = Chain(layer="x\ny", hops=(hostile,), outcomes=())
    text = render(msgspec.structs.replace(report, chains=(chain,)))
    assert r"b\x1b[2J" in text
    assert r"\x1b]0;title\x07.py:1" in text
    assert "\nx y\n" in text


def test_a_chain_under_premises_names_them(report: Report) -> None:
    (chain, *rest) = report.chains
    told = replace(report, chains=(replace(chain, premises=("not quantized", "FP8")), *rest))
    assert "\n  checkpoint  not quantized; or FP8\n" in render(told)
