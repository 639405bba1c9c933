"""Lower Python source to the small tree of `tracer.tree`: parsed by libcst, with the lines of the file."""

from __future__ import annotations

import re

import libcst as cst

from ..collector import collector_paused
from ..index import SourceSyntaxError, framed
from ..tree import Block, If
from . import calls, compound, displays, expressions, simple, strings
from .walk import Handler, Walk

_PLACE = re.compile(r"error at (\d+):\d+: ")
_HANDLERS: dict[type[cst.CSTNode], Handler] = {
    **expressions.HANDLERS,
    **strings.HANDLERS,
    **displays.HANDLERS,
    **calls.HANDLERS,
    **simple.HANDLERS,
    **compound.HANDLERS,
}


def lower_block(text: str, first_line: int) -> Block:
    """Lower complete statements that begin on line `first_line` of their file, indented or not.

    Raises `SourceSyntaxError` where libcst cannot read them, or loses a line of them.
    """
    if not text.strip():
        return ()
    text, extra = framed(text)
    with collector_paused():
        block = _lowered(text, first_line - extra)
    return _unframed(block) if extra else block


def _lowered(text: str, first_line: int) -> Block:
    module = _parsed(text, first_line)
    walk = Walk(_HANDLERS, first_line)
    walk.lines(module.header)
    block = compound.statements(walk, module.body)
    walk.lines(module.footer)
    _check_lines(walk, text, first_line)
    return block


def _parsed(text: str, first_line: int) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        place = _PLACE.search(error.message)  # `raw_line` is often the line after
        line = min(int(place[1]) if place else error.raw_line, text.count("\n"))
        raise SourceSyntaxError(first_line + line - 1, _PLACE.sub("", error.message)) from error
    except AttributeError as error:  # a node that libcst parses and then cannot build: `async` newline `for`
        raise SourceSyntaxError(first_line, f"libcst fails: {error}") from error


def _check_lines(walk: Walk, text: str, first_line: int) -> None:
    """Refuse to hand out wrong lines: libcst drops a lone backslash before a statement, newline and all."""
    missing = first_line + text.count("\n") - walk.line
    if missing:
        raise SourceSyntaxError(first_line, f"libcst lost {missing} line(s) between here and {walk.line}")


def _unframed(block: Block) -> Block:
    frame = block[0]
    assert isinstance(frame, If), frame
    return frame.body
