"""A real engine on this machine's CPU: started, asked what its worker holds, and ended."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

INSIDE = Path(__file__).parent.parent / "engine" / "inside"
"""Modules that run in the engine's environment."""

READY_SECONDS = 300
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_SERVER_DEV_MODE": "1",  # the endpoint that calls a worker's methods
    "VLLM_CPU_KVCACHE_SPACE": "1",
}
ARGUMENTS = (
    "--host", "127.0.0.1", "--max-model-len", "512", "--max-num-seqs", "8", "--enforce-eager",
    "--worker-extension-cls", "look.Look",
)  # fmt: skip
KERNEL = re.compile(r"\b((?:Selected|Using) \w+ for [\w -]+)$", re.M)
ERROR = re.compile(r"^(\(.*?\) ERROR [^\]]*\] )(\w+Error: .*)$")


class Refused(Exception):  # noqa: N818 - an engine that refuses is an answer, not an error
    """The engine ended before it was ready; the text is its log."""


def environment(*, hidden: str = "") -> dict[str, str]:
    """The variables an engine starts with."""
    paths = [str(INSIDE), *([str(INSIDE / "hidden")] if hidden else [])]
    more = {"PYTHONPATH": os.pathsep.join(paths), "QTRACE_HIDE": hidden}
    return {**os.environ, **QUIET, **more}


def checkpoints(python: Path, folder: Path, names: list[str]) -> None:
    """Make checkpoints with the libraries of the engine's environment."""
    command = [str(python), str(INSIDE / "checkpoints.py"), str(folder), *names]
    subprocess.run(command, env=environment(), cwd=folder, check=True, capture_output=True, text=True)


def observed(
    python: Path, model: Path, arguments: list[str], scratch: Path, hidden: str = ""
) -> dict[str, Any]:
    """What one engine holds, and the lines in which it names kernels; or the words it refuses with."""
    try:
        with served(python, model, arguments, scratch, hidden) as (address, log):
            (seen,) = _post(f"{address}/collective_rpc", {"method": "look"})["results"]
            return {**seen, "lines": kernel_lines(log.read_text())}
    except Refused as refused:
        text = str(refused)
        return {"refused": first_error(text), "lines": kernel_lines(text)}


def kernel_lines(log: str) -> list[str]:
    """The lines that name a kernel, each once."""
    return sorted(set(KERNEL.findall(log)))


def _begins(head: str, line: str) -> bool:
    """Whether a line goes on with what an error says."""
    return line.startswith(head) and not line.startswith(f"{head}Traceback")


def first_error(log: str) -> str:
    """The first error that a process of the engine tells, with the lines that go on, as one line."""
    lines = log.splitlines()
    for at, line in enumerate(lines):
        found = ERROR.match(line)
        if found is not None:
            head = found[1]
            more = itertools.takewhile(partial(_begins, head), lines[at + 1 :])
            return " ".join(" ".join([found[2], *(line.removeprefix(head) for line in more)]).split())
    return log[-2000:]


@contextmanager
def served(
    python: Path, model: Path, arguments: list[str], scratch: Path, hidden: str
) -> Iterator[tuple[str, Path]]:
    """An engine that is ready, by its address and the file of its log; it ends with all its processes."""
    log, port = scratch / "engine.log", _free_port()
    command = [str(python), "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--port", str(port), *ARGUMENTS, *arguments]
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            env=environment(hidden=hidden),
            cwd=scratch,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}", log
    finally:
        _end(process)


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    while process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            pass
        if time.monotonic() > end:
            raise AssertionError(
                f"the engine was not ready after {READY_SECONDS} s:\n{log.read_text()[-4000:]}"
            )
        time.sleep(0.5)
    raise Refused(log.read_text())


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the engine's own process group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(20)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _post(address: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        address, json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)
