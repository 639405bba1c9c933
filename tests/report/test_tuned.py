"""Tuned configurations in the voices: what is looked for, and whether it is there."""

from __future__ import annotations

from msgspec.structs import replace

from qtrace.report.markdown import render as markdown
from qtrace.report.model import Report, Tuned
from qtrace.report.predicate import Member
from qtrace.report.text import render
from qtrace.rules.kernel_assets_missing import FIRES, SILENT, check


def flat(text: str) -> str:
    return " ".join(text.split())


def tuned(report: Report) -> Tuned:
    return report.tuned[-1]


def test_a_file_that_is_missing_is_told_with_the_nearest() -> None:
    one = tuned(FIRES[0])
    text = flat(render(FIRES[0], 160))
    assert (
        f"✗ {one.wanted} layer {one.layer} file not shipped: defaults are used nearest {one.nearest[0]}"
        in text
    )
    assert "unless envs.VLLM_BATCH_INVARIANT" in text
    (line,) = [line for line in markdown(FIRES[0]).split("\n") if line.startswith(f"| `{one.wanted}`")]
    assert f"no; nearest `{one.nearest[0].rpartition('/')[2]}`" in line
    assert "unless `envs.VLLM_BATCH_INVARIANT`" in line


def test_a_file_that_is_shipped_is_told_with_its_path() -> None:
    one = tuned(SILENT[0])
    assert f"✓ {one.wanted} layer {one.layer} file {one.shipped}" in flat(render(SILENT[0], 160))
    assert f"| `{one.wanted}` | model.layers.0.mlp.experts | yes |" in markdown(SILENT[0])


def test_conditions_and_other_spellings_are_told() -> None:
    one = replace(tuned(FIRES[3]), guard=Member("platform", ("cuda",)))
    report = replace(FIRES[3], tuned=(one,))
    text = flat(render(report, 160))
    assert f"but {one.spelt}" in text and "when platform == 'cuda'" in text
    assert f"no, but `{one.spelt}`" in markdown(report)
    (found,) = check(FIRES[3])
    assert "differs in its blanks" in found.message and found.seen == one.spelt


def test_nothing_is_said_where_nothing_is_looked_for() -> None:
    assert "tuned" not in render(SILENT[1]) and "tuned" not in markdown(SILENT[1])
