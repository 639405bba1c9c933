"""How fast the terminal interface answers: first screen, what-if, keys, a report of 100,000 lines.

    python benchmarks/tui.py

On the clock, from a snapshot that comes with qtrace: whole processes for the first screen; in one process,
from a key to the first paint after it, for what-if to the last one. An app of textual's with one word is
what to compare with.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from textual import events

from qtrace.commands import tui
from qtrace.commands.exploring import Asking
from qtrace.report.codec import encode
from qtrace.tui.app import Explorer

KEYS = ("down", "down", "pagedown", "up", "n", "e", "end", "h", "home", "left", "right", "enter")
EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("ready")
Empty().run()
"""
WHOLE = 100_000
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What a process is started with: an installed package is compiled once, not in each process."""


def first_paint(*argv: str, until: bytes) -> float:
    """Seconds from the start of a process to the moment at which `until` is on its terminal."""
    own, its = pty.openpty()
    started = time.perf_counter()
    env = {**COMPILED, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        [sys.executable, "-P", *argv], stdin=its, stdout=its, stderr=its, env=env, start_new_session=True
    )
    seen = b""
    while until not in seen and time.perf_counter() - started < 60:
        if select.select([own], [], [], 0.05)[0]:
            seen = (seen + os.read(own, 65536))[-200_000:]
    took = time.perf_counter() - started
    process.kill()
    process.wait()
    os.close(own)
    os.close(its)
    return took


def asking(*argv: str) -> Explorer:
    """An explorer of the answer to a question."""
    parser = argparse.ArgumentParser()
    tui.configure(parser)
    args = parser.parse_args(argv)
    args.line = None
    session = Asking(args)
    app = Explorer(session, session.ask(session.first), session.first)
    gc.freeze()  # as the command does
    return app


async def painted(app: Explorer, key: str, quiet: float = 0.0) -> float:
    """Seconds from a key to the first paint after it; to the last one before `quiet` seconds without any,
    where those are given.
    """
    seen = asyncio.Event()
    last = 0.0
    display = app._display

    def shown(screen: Any, renderable: Any) -> None:
        nonlocal last
        display(screen, renderable)
        last = time.perf_counter()
        seen.set()

    app._display = shown  # type: ignore[method-assign]
    started = time.perf_counter()
    app.post_message(events.Key(key, key if len(key) == 1 else None))
    try:
        await asyncio.wait_for(seen.wait(), 5)
        while quiet and time.perf_counter() < last + quiet:
            await asyncio.sleep(0.02)
        return last - started
    finally:
        app._display = display  # type: ignore[method-assign]


async def keys(app: Explorer) -> list[float]:
    """What 200 keys take."""
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause(0.5)
        app.sought = "kernel"
        took = []
        for key in itertools.islice(itertools.cycle(KEYS), 200):
            took.append(await painted(app, key))
            await asyncio.sleep(0.02)
        return took


async def what_if(app: Explorer, times: int = 30) -> list[float]:
    """What it takes to go to the next device, until all of the screen shows the other answer."""
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("w")
        await pilot.pause(0.5)
        took = []
        for _ in range(times):
            before = app.report
            key = "right" if app.asked["device"] != "sm_120" else "left"
            took.append(await painted(app, key, quiet=0.25))
            assert app.report is not before
        return took


def large(folder: str) -> Path:
    """A report of a chain with 100,000 hops."""
    report = asking("-q", "fp8", "--device", "h100").report
    chain = report.chains[0]
    hops = tuple(itertools.islice(itertools.cycle(chain.hops), WHOLE))
    path = Path(folder) / "large.json"
    path.write_bytes(encode(replace(report, chains=(replace(chain, hops=hops),), findings=())))
    return path


def row(name: str, seconds: Iterable[float]) -> None:
    took = sorted(seconds)
    told = (statistics.median(took), took[int(len(took) * 0.95)], took[-1])
    print(f"{name:44}" + "".join(f"{value * 1000:9.0f}" for value in told), flush=True)


def main() -> None:
    gc.set_threshold(*tui.SELDOM)  # as the command does
    print(f"{'milliseconds':44}{'median':>9}{'p95':>9}{'most':>9}")
    row("an empty app of textual, first screen", [first_paint("-c", EMPTY, until=b"ready") for _ in range(5)])
    alone = ("-m", "qtrace", "tui")
    row("qtrace tui, first screen", [first_paint(*alone, until=b"Overview") for _ in range(5)])
    flag = (*alone, "-q", "fp8", "--device", "h100")
    row("qtrace tui -q fp8 --device h100", [first_paint(*flag, until=b"QKVParallelLinear") for _ in range(5)])
    with tempfile.TemporaryDirectory() as folder:
        path = str(large(folder))
        row(
            f"a report of {WHOLE:,} hops", [first_paint(*alone, path, until=b"QKVParallel") for _ in range(3)]
        )
    grid = asking("-q", "fp8", "--device", "sm_90")
    row("what-if on the grid, key to last paint", asyncio.run(what_if(grid)))
    row("200 keys, key to paint", asyncio.run(keys(asking("-q", "fp8", "--device", "h100"))))


if __name__ == "__main__":
    main()
