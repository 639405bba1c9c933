"""Processes that fetch: two at once fetch once, and Ctrl-C leaves nothing half."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from indexes import Answer, Index, sdist
from pinning import left

WAIT = 60
OPEN = """
import sys
from qtrace.commands.pin import Stderr
from qtrace.tracer.pins.opening import open_pin
print(open_pin("1.2.0", "vllm", None, False, Stderr()).python_hash)
"""


@pytest.fixture
def slow(index: Index, tmp_path: Path) -> threading.Event:
    """The index, whose file ends only when the event is set."""
    file = sdist(tmp_path / "made", "1.2.0")
    go_on = threading.Event()

    def in_two_parts(handler: BaseHTTPRequestHandler) -> None:
        data = file.read_bytes()
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[:100])
        go_on.wait(WAIT)
        handler.wfile.write(data[100:])

    index.list(file)
    index.answers[f"/files/{file.name}"] = Answer(in_two_parts)
    return go_on


def started(*command: str) -> subprocess.Popen[str]:
    run = [sys.executable, "-P", *command]
    return subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/")


def part(cache: Path) -> Path:
    """The file that is being fetched, once there is one."""
    for _ in range(WAIT * 100):
        found = [path for path in (cache / "pins" / "parts").glob("*") if path.exists()]
        if found:
            return found[0]
        threading.Event().wait(0.01)
    raise AssertionError("nothing is fetched")


def test_two_processes_at_once_fetch_once(slow: threading.Event, index: Index, tmp_path: Path) -> None:
    with started("-c", OPEN) as first:
        part(tmp_path / "cache")
        with started("-c", OPEN) as second:
            assert second.stderr is not None
            assert second.stderr.readline() == "qtrace: waiting for another qtrace that fetches the same\n"
            slow.set()
            told = [process.communicate(timeout=WAIT) for process in (first, second)]
    assert first.returncode == second.returncode == 0
    assert told[0][0] == told[1][0] != ""
    assert index.count("/files/vllm-1.2.0.tar.gz") == 1
    assert left(tmp_path / "cache") == []


def test_ctrl_c_leaves_nothing_half(slow: threading.Event, tmp_path: Path) -> None:
    with started("-m", "qtrace", "static", "vllm", "--at", "1.2.0") as process:
        assert part(tmp_path / "cache").suffix == f".{process.pid}"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT)
    slow.set()
    assert (process.returncode, out, err) == (130, "", "qtrace: interrupted\n")
    assert left(tmp_path / "cache") == []
    assert not list((tmp_path / "cache" / "pins" / "files").glob("*"))


def test_what_a_killed_process_left_goes_away(slow: threading.Event, tmp_path: Path) -> None:
    with started("-c", OPEN) as process:
        part(tmp_path / "cache")
        process.kill()
        process.communicate(timeout=WAIT)
    assert len(left(tmp_path / "cache")) == 1
    slow.set()
    with started("-c", OPEN) as process:
        _, err = process.communicate(timeout=WAIT)
    assert (process.returncode, err) == (0, "qtrace: vllm 1.2.0 from the package index\n")
    assert left(tmp_path / "cache") == []


def test_a_terminal_sees_a_bar_and_then_nothing_of_it(slow: threading.Event) -> None:
    slow.set()
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-P", "-c", OPEN]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd="/", check=True, timeout=WAIT)
        shown = os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "vllm-1.2.0.tar.gz [##############################] 0.0 of 0.0 MiB" in shown
    assert shown.endswith("\r\x1b[Kqtrace: vllm 1.2.0 from the package index\r\n")
