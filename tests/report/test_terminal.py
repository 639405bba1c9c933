"""What the output stream can show."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from qtrace.report.terminal import WIDTH, terminal


class Screen(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def screen(encoding: str = "utf-8") -> Screen:
    return Screen(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("env", "color"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals_that_want_it(env: Mapping[str, str], color: bool) -> None:
    assert terminal(screen(), env).color is color


def test_a_file_gets_no_colour() -> None:
    assert not terminal(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {}).color


@pytest.mark.parametrize(
    ("columns", "width"), [("72", 72), ("0", WIDTH), ("-3", WIDTH), ("wide", WIDTH), ("", WIDTH)]
)
def test_columns_decide_the_width(columns: str, width: int) -> None:
    assert terminal(screen(), {"COLUMNS": columns}).width == width


@pytest.mark.parametrize(
    ("env", "unicode"),
    [
        ({}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "C.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_ALL": "en_US.UTF-8"}, True),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, True),
        # Python itself sets LC_CTYPE so under LANG=C.
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
    ],
)
def test_the_locale_decides_the_glyphs(env: Mapping[str, str], unicode: bool) -> None:
    assert terminal(screen(), env).unicode is unicode


def test_an_encoding_without_the_glyphs_gets_none() -> None:
    assert not terminal(screen("latin-1"), {}).unicode
