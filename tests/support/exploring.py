"""An explorer as the command makes it, from the snapshot of 0.33.0, and keys pressed in it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from asking import EXAMPLE
from textual.pilot import Pilot

from qtrace.commands import tui
from qtrace.commands.exploring import Asking
from qtrace.tui.app import Explorer
from qtrace.tui.rows import Rows
from qtrace.tui.words import said

FLAG = ("--quantization", "fp8", "--device", "sm_90")
SIZE = (120, 36)


def explorer(*argv: str, unicode: bool = True) -> Explorer:
    """What `qtrace tui ARGV --at 0.33.0 --offline` shows."""
    return _explorer([*argv, "--at", "0.33.0", "--offline"], unicode)


def explorer_of(source: Path) -> Explorer:
    """Of a source and a checkpoint: what is shown has its source beside it."""
    return _explorer(["-q", "fp8", "--device", "h100", "--model", str(EXAMPLE), "--at", str(source)], True)


def _explorer(argv: list[str], unicode: bool) -> Explorer:
    parser = argparse.ArgumentParser()
    tui.configure(parser)
    args = parser.parse_args(argv)
    args.line = None
    session = Asking(args)
    app = Explorer(session, session.ask(session.first), session.first, unicode=unicode)
    session.listen(app.hear)
    return app


def rows(app: Explorer) -> Rows:
    return app.screen.query_one(Rows)


def chosen(app: Explorer) -> str:
    """The words of the chosen line."""
    line = rows(app).line
    return "" if line is None else said(line).text()


def shown(app: Explorer) -> list[str]:
    """The words of all lines that are not folded away, however wide."""
    found = rows(app)
    return [said(found.lines[number]).text() for number in found.seen]


def drawn(app: Explorer) -> list[str]:
    """The screen, a text a line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Let the app work until something holds; ten seconds are more than any of it takes."""
    for _ in range(1000):
        await pilot.pause(0.01)
        if holds():
            return
    raise AssertionError("it never came to that")
