"""The table of ends: what neighbours share is told once, what differs is open, and it fits the page."""

from __future__ import annotations

import msgspec
import pytest

from qtrace.report.codec import decode, encode
from qtrace.report.markdown import render as markdown
from qtrace.report.matrix import End, Matrix, Row, spanned
from qtrace.report.model import Report
from qtrace.report.standing import Standing
from qtrace.report.text import render

MARLIN = End(standing=Standing.ACCEPTED, symbol="MarlinLinearKernel")
MACHETE = End(standing=Standing.ACCEPTED, symbol="MacheteLinearKernel")
REFUSED = End(standing=Standing.REFUSED, symbol="ValueError")
LOST = End(standing=Standing.OPEN)
AWQ = Row(
    flag="awq", layer="linear", premises=("AWQ", "AWQ-8"), cells=((REFUSED,), (MARLIN,), (MARLIN, MACHETE))
)
GGUF = Row(flag="gguf", layer="linear", premises=("GGUF",), cells=((REFUSED,), (REFUSED, MARLIN), (LOST,)))


def matrix(merged: bool) -> Matrix:
    return Matrix(columns=("sm_75", "sm_80", "sm_90"), rows=(AWQ, GGUF), merged=merged)


def table(report: Report, merged: bool) -> Report:
    return msgspec.structs.replace(report, chains=(), findings=(), matrix=matrix(merged))


def test_ends_that_differ_in_standing_are_open() -> None:
    assert list(AWQ.standings()) == [Standing.REFUSED, Standing.ACCEPTED, Standing.ACCEPTED]
    assert list(GGUF.standings()) == [Standing.REFUSED, Standing.OPEN, Standing.OPEN]
    assert AWQ.accepted() == ("MarlinLinearKernel", "MacheteLinearKernel")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["sm_75"], "sm_75"),
        (["sm_75", "sm_80", "sm_86"], "sm_75-86"),
        (["gfx906", "gfx942"], "gfx906-gfx942"),
        (["cpu"], "cpu"),
    ],
)
def test_neighbours_are_told_as_a_span(names: list[str], told: str) -> None:
    assert spanned(names) == told


def test_a_row_is_a_line_where_the_page_is_wide_enough(report: Report) -> None:
    lines = render(table(report, merged=True), width=100).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("--quantization "))
    assert lines[at] == "--quantization  75 80 90  reaches"
    assert lines[at + 1] == "awq              ✗  ✓  ✓  MarlinLinearKernel, MacheteLinearKernel"
    assert lines[at + 2] == "gguf             ✗  ?  ?  MarlinLinearKernel"


def test_on_a_narrow_page_what_is_reached_is_left_out(report: Report) -> None:
    lines = render(table(report, merged=True), width=40).splitlines()
    at = lines.index("--quantization  75 80 90")
    assert lines[at + 1 : at + 3] == ["awq              ✗  ✓  ✓", "gguf             ✗  ?  ?"]


@pytest.mark.parametrize("width", [100, 40])
def test_else_its_ends_are_told_by_device(report: Report, width: int) -> None:
    text = render(table(report, merged=False), width=width)
    assert "    ✗ sm_75  refused (ValueError)\n" in text
    assert "    ? sm_80  refused (ValueError); or" in text
    assert "    ? sm_90  " in text and "not followed to its" in text
    assert "  AWQ; or AWQ-8\n" in text
    assert max(map(len, text.splitlines())) <= width


def test_a_device_without_an_end_is_open(report: Report) -> None:
    row = Row(flag="x", layer="linear", cells=((MARLIN,), ()))
    assert list(row.standings()) == [Standing.ACCEPTED, Standing.OPEN]
    lone = Matrix(columns=("sm_80", "sm_90"), rows=(row,))
    told = msgspec.structs.replace(report, chains=(), findings=(), matrix=lone)
    assert "    ? sm_90  not followed to its end\n" in render(told)
    assert "sm_90: not followed to its end |" in markdown(told)


def test_in_ascii_it_is_ascii(report: Report) -> None:
    assert render(table(report, merged=True), unicode=False).isascii()


def test_markdown_counts_first(report: Report) -> None:
    text = markdown(table(report, merged=True))
    assert "**2 values of `--quantization`** on 3 devices: 2 accepted, 2 refused, 2 open" in text
    assert "| `--quantization` | sm_75 | sm_80 | sm_90 | reaches |\n| --- | --- | --- | --- | --- |\n" in text
    assert "| `awq` | no | yes | yes | `MarlinLinearKernel`, `MacheteLinearKernel` |\n" in text
    text = markdown(table(report, merged=False))
    ends = "sm_75: refused (`ValueError`)<br>sm_80: refused (`ValueError`) or `MarlinLinearKernel`<br>"
    assert f"| `gguf` | GGUF | {ends}sm_90: not followed to its end |\n" in text


def test_it_is_kept_as_it_is(report: Report) -> None:
    kept = table(report, merged=True)
    assert decode(encode(kept)) == kept
