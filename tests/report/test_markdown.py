"""The Markdown voice: the verdict first and true, no word from elsewhere read as markup, all in bounds."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from comment import MARKUP, faults, shown
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace
from reports import REPORTS
from shell import saved

import qtrace
from qtrace.report.codec import decode
from qtrace.report.markdown import LIMIT, render
from qtrace.report.markdown.words import code, prose, summary
from qtrace.report.model import (
    Chain,
    Outcome,
    Refusal,
    Report,
)
from qtrace.report.names import one_line
from qtrace.report.predicate import Always, Opaque, Site
from qtrace.report.standing import Standing, of_report, premises

LIMITS = st.integers(50_000, LIMIT)
HOSTILE = 'a|b `c` <d> **e** [f](g) @h #1 :i: $j$ </details>\n\n# k\n```\n--> "l" \\'
ROOT = "https://github.com/vllm-project/vllm/blob/4ba787ec9" + "0" * 31


def recorded(name: str) -> Report:
    return decode(Path(saved(name)).read_bytes())


def verdict(report: Report) -> str:
    return render(report).split("\n")[2]


def well_formed(report: Report, limit: int = LIMIT) -> bool:
    text = render(report, limit)
    assert faults(text) == []
    assert faults(text.encode("ascii", "xmlcharrefreplace").decode()) == []
    return len(text) <= limit


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS, LIMITS)
def test_any_report_is_well_formed(report: Report, limit: int) -> None:
    assert well_formed(report, limit)


def test_a_layer_that_begins_an_emoji_does_not_become_one() -> None:
    """A random report found it: its name is followed by a colon."""
    report = recorded("open")
    chains = tuple(replace(chain, layer=":zap", layers=(":0",)) for chain in report.chains)
    assert well_formed(replace(report, chains=chains))


@pytest.mark.full
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS, LIMITS)
def test_very_many_reports_are_well_formed(report: Report, limit: int) -> None:
    assert well_formed(report, limit)


@pytest.mark.parametrize("name", ["accepted", "open", "refused"])
@pytest.mark.parametrize("limit", [2_500, 5_000, 10_000, 20_000, LIMIT])
def test_recorded_reports_are_well_formed_in_any_room(name: str, limit: int) -> None:
    report = recorded(name)
    assert well_formed(report, limit)
    assert ("**Left out**" in render(report, limit)) == (len(render(report)) > limit)


@settings(max_examples=200, deadline=None)
@given(MARKUP)
def test_any_text_is_shown_as_it_is(text: str) -> None:
    cell = f"| a | b |\n| --- | --- |\n| x {prose(text)} | {code(text)} |\n"
    assert faults(f"<!-- qtrace -->\n\n{cell}") == []
    assert shown(prose(text)) == " ".join(one_line(text).split())
    assert shown(code(text)).split() == one_line(text).split()
    visible = html.unescape(re.sub(r"</?code>", "", summary(text)))
    assert visible == " ".join(one_line(text).split())


def test_hostile_words_anywhere_stay_words(report: Report) -> None:
    site = Site(HOSTILE, 1)
    hop = replace(report.chains[0].hops[0], symbol=HOSTILE, site=site, note=HOSTILE, guard=Opaque(HOSTILE))
    words = dict.fromkeys(("rule", "name", "subject", "expected", "seen", "message", "fix"), HOSTILE)
    finding = replace(report.findings[0], evidence=(HOSTILE,), site=site, **words)
    outcome = Outcome(config=HOSTILE, ops=(HOSTILE,))
    chain = Chain(layer=HOSTILE, layers=(HOSTILE,), hops=(hop,), outcomes=(outcome,))
    assert well_formed(replace(report, tool=HOSTILE, chains=(*report.chains, chain), findings=(finding,)))


@pytest.mark.parametrize(
    "wrong",
    [
        "| a | b |\n| --- | --- |\n| x | y | z |\n",
        "| a | b |\n| --- | --- |\n| x |\n",
        "| a | b |\n| --- | --- |\n| x | `y|z` |\n",
        "<details><summary>a</summary>\n\nb\n",
        "<details><summary><b>a</b></summary>\n\nb\n\n</details>\n",
        "a <b>c</b>\n",
        "*a*\n",
        "thanks @somebody\n",
        "see #12\n",
        "[a](http://elsewhere)\n",
        "---\n",
        "1. a\n",
        '```mermaid\nflowchart TD\n    h0["a"b"]\n```\n',
        '```mermaid\nflowchart TD\n    h0[""]\n```\n',
        '```mermaid\nflowchart TD\n    h0["a"]\n    h0 -->|calls| h1\n```\n',
    ],
)
def test_a_comment_that_is_not_well_formed_is_seen(wrong: str) -> None:
    assert faults(f"<!-- qtrace -->\n\n{wrong}") != []
    assert faults("a\n") == ["no marker first"]


# What it says.


def test_the_docs_show_what_is_written() -> None:
    page = (Path(qtrace.__file__).parent / "docs" / "report.md").read_text()
    assert f"````markdown\n{render(recorded('refused'))}````\n" in page
    assert f"  > {verdict(recorded('open'))}\n" in page
    outcomes = re.search(r"````markdown\n(- .*?)\n````", page, re.DOTALL)
    assert outcomes and outcomes[1] in render(recorded("open"))


def test_the_verdict_comes_first() -> None:
    assert verdict(recorded("accepted")) == (
        "**accepted**: `Fp8LinearMethod` → `CutlassFP8ScaledMMLinearKernel`; no findings"
    )
    refused = verdict(recorded("refused"))
    assert refused.startswith(
        "**refused**: ValueError: Quantization method specified in the model config (gptq)"
    )
    assert refused.endswith("; 1 error, 1 open note, 1 construct not evaluated")


def test_what_is_open_is_never_the_verdict_accepted(report: Report) -> None:
    told = verdict(recorded("open"))
    assert told.startswith(
        "**open**: 1 accepted (`AutoGPTQLinearMethod` → `MarlinLinearKernel`), 3 refused, decided by"
    )
    assert "`dtype == torch.bfloat16`" in told and "and 2 other conditions" in told
    condition = replace(report.chains[0], outcomes=report.chains[0].outcomes[:1])
    assert verdict(replace(report, chains=(condition,))).startswith("**open**: 1 accepted")
    assert verdict(replace(report, chains=())).startswith("**open**: no outcome")


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS)
def test_accepted_means_that_nothing_unknown_has_a_say(report: Report) -> None:
    sure, refused = [], []
    for premise in premises(report.chains) or ("",):
        under = [chain for chain in report.chains if not chain.premises or premise in chain.premises]
        refused.append(any(chain.refused() for chain in under))
        ends = [chain.outcomes[0] if chain.decided() else Outcome() for chain in under]
        sure.append(bool(ends) and all(end.method or end.kernels for end in ends))
    accepted = all(s and not r for s, r in zip(sure, refused, strict=True))
    assert (of_report(report) is Standing.ACCEPTED) == accepted
    assert (of_report(report) is Standing.REFUSED) == all(refused)


def test_layers_that_end_elsewhere_are_named(report: Report) -> None:
    def chain(name: str, *layers: str) -> Chain:
        return Chain(
            layer="linear", layers=layers, hops=(), outcomes=(Outcome(config="vllm.C", method=name),)
        )

    chains = (chain("vllm.A", "qkv_proj", "o_proj"), chain("vllm.B", "down_proj"), chain("vllm.B"))
    told = verdict(replace(report, chains=chains, findings=()))
    assert told.startswith("**accepted**: qkv_proj, o_proj `A`; down_proj, linear `B`; no findings")


def test_several_refusals_are_counted(report: Report) -> None:
    refused = replace(report.chains[1], outcomes=report.chains[1].outcomes[:1] * 3)
    assert "configuration. ([quantization/fp8.py:501](" in verdict(replace(report, chains=(refused,)))
    assert " and 2 other refusals; " in verdict(replace(report, chains=(refused,)))


def test_findings_are_a_table_and_what_they_say(report: Report) -> None:
    text = render(report)
    assert "| level | rule | subject | expected → seen | where |\n" in text
    row = next(line for line in text.split("\n") if line.startswith("| note | QT102"))
    assert row == (
        "| note | QT102 quant.flag_rewritten | `--quantization` | `gptq` → `fp8` |"
        f" [config/model.py:1394]({ROOT}/vllm/config/model.py#L1394) |"
    )
    assert "| note (open) | QT901 qtrace.open | `linear` |" in text
    assert (
        "- **QT102** --quantization gptq is rewritten to fp8 before it is used.\n  - fix: Nothing to mend"
        in text
    )


def test_alike_findings_say_it_once(report: Report) -> None:
    text = render(replace(report, findings=report.findings[:1] * 4))
    assert text.count("| note | QT102") == 4
    assert text.count("- **QT102**") == text.count("- **QT102** (4 times) ") == 1


def test_outcomes_stand_in_the_open_with_their_condition(report: Report) -> None:
    text = render(report).split("<details>")[0]
    for end, under in (
        (
            "✓ **accepted 1** `Fp8Config` → `Fp8LinearMethod` → `CutlassFP8ScaledMMLinearKernel`",
            "when `not vllm.",
        ),
        ("? **open 2** not followed to its end", "when `not (moe_backend in ('triton', 'cutlass'))`"),
    ):
        assert f"- {end}\n  - {under}" in text
    assert "  - runs `torch.ops.vllm.marlin_gemm`\n" in text


def test_choices_say_what_became_of_each_candidate_and_why(report: Report) -> None:
    text = render(report)
    assert (
        "`FlashInferFP8ScaledMMLinearKernel` | rejected | requires compute capability 100 or above |" in text
    )
    assert "`MarlinFP8ScaledMMLinearKernel` | possible when `vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN` |" in text
    assert "`CutlassFP8ScaledMMLinearKernel` | **taken** |" in text


def test_sizes_that_are_not_even_are_told_and_the_others_counted(report: Report) -> None:
    text = render(report)
    assert "`size_k 2880 -> 2944 (a multiple of 128)`" in text
    assert "\n1 size more, even\n" in text


# Places.


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"engine": "sglang"}, "a/b.py"),
        ({"commit": None}, "a/b.py"),
        ({"commit": "../../evil"}, "a/b.py"),
        ({"commit": "4BA787EC9"}, "a/b.py"),
        ({}, "../b.py"),
        ({}, "/a/b.py"),
        ({}, "a//b.py"),
        ({}, "a/\nb.py"),
    ],
)
def test_a_place_without_a_known_commit_is_no_link(
    report: Report, changes: dict[str, str | None], path: str
) -> None:
    hop = replace(report.chains[0].hops[0], site=Site(path, 7))
    chain = Chain(layer="linear", hops=(hop,), outcomes=())
    text = render(replace(report, pins=(replace(report.pins[0], **changes),), chains=(chain,), findings=()))
    assert "/blob/" not in text
    assert f"`{one_line(path)}:7`" in text


def test_a_link_names_commit_path_and_line(report: Report) -> None:
    hop = replace(report.chains[0].hops[0], site=Site("vllm/a (b)#c?/d.py", 7))
    text = render(replace(report, chains=(Chain(layer="linear", hops=(hop,), outcomes=()),)))
    assert f"({ROOT}/vllm/a%20%28b%29%23c%3F/d.py#L7)" in text


def test_another_pins_places_are_that_pins(report: Report) -> None:
    first, second = report.pins
    known = replace(second, commit="abcdef123")
    moved = "| 0.26.0 | `Fp8LinearMethod` | moved | "
    path = "vllm/model_executor/layers/quantization/fp8.py"
    link = f"[quantization/fp8.py:388](https://github.com/vllm-project/vllm/blob/abcdef123/{path}#L388)"
    assert f"{moved}`{path}:388` |" in render(report)
    assert f"{moved}{link} |" in render(replace(report, pins=(first, known)))
    assert f"{moved}`{path}:388` |" in render(replace(report, pins=(first, known, second)))


def test_what_hangs_on_the_checkpoint_is_open(report: Report) -> None:
    (chain, *_) = (each for each in report.chains if not each.refused())
    accepted = replace(chain, outcomes=(replace(chain.outcomes[0], guard=Always()),), premises=("FP8",))
    refused = Outcome(refusal=Refusal(exception="ValueError", message="no"))
    other = replace(accepted, outcomes=(refused,), premises=("not quantized",))
    text = render(replace(report, chains=(accepted, other)))
    assert "**open**" in text
    assert "decided by the checkpoint" in text
    assert "If the checkpoint is not quantized:" in text
    assert "**accepted**: " in render(replace(report, chains=(accepted,)))
    assert "**refused**: " in render(replace(report, chains=(replace(other, premises=("A", "B")),)))
