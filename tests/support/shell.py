"""`qtrace` as a shell starts it: a process with its own streams, in another folder than the checkout."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

COMMAND = (sys.executable, "-P", "-m", "qtrace")
REPORTS = Path(__file__).parent.parent / "data" / "reports"


def saved(name: str) -> str:
    """A recorded report: `accepted`, `open`, `refused`."""
    return str(REPORTS / f"{name}.json")


def clean(**env: str) -> dict[str, str]:
    """The environment without what says how output is to look, and `env` besides."""
    manners = ("LC_", "LANG", "COLUMNS", "TERM", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(manners)}
    return {**kept, **env}


def qtrace(
    *argv: str, stdin: bytes = b"", cwd: Path | str = "/", **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run to its end with `stdin` to read, its output caught."""
    return subprocess.run(
        [*COMMAND, *argv], input=stdin, capture_output=True, env=clean(**env), cwd=cwd, timeout=120
    )


def redirected(words: str, *argv: str, cwd: Path | str = "/") -> subprocess.CompletedProcess[bytes]:
    """The same with a shell's redirections or pipes behind it: `<&-`, `| head -1`."""
    line = f'set -o pipefail; "$@" {words}'
    command = ["bash", "-c", line, "bash", *COMMAND, *argv]
    return subprocess.run(command, capture_output=True, env=clean(), cwd=cwd, timeout=120)


def unheard(*argv: str) -> subprocess.CompletedProcess[bytes]:
    """The same with a reader that has gone before the first byte."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run([*COMMAND, *argv], stdout=writer, stderr=subprocess.PIPE, cwd="/", timeout=120)
    finally:
        os.close(writer)


def on_terminal(columns: int, *argv: str, **env: str) -> str:
    """What a terminal of that many columns gets to see."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *argv], stdin=theirs, stdout=theirs, stderr=theirs, env=clean(**env)
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := _read(ours):
            seen += piece
    finally:
        os.close(ours)
        process.wait(timeout=120)
    return seen.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """What comes next; nothing once the other side is closed, which Linux calls an error."""
    try:
        return os.read(terminal, 65536)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""
