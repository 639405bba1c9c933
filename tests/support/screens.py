"""A program on a terminal of its own: what it drew, and what is typed to it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType

from shell import clean

START = """
import fcntl, os, sys, termios
fcntl.ioctl({fd}, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""What makes the terminal the process's own, before it becomes qtrace."""
LONGEST = 60.0
"""Seconds that nothing here takes, on any machine."""


class Terminal:
    """`qtrace ARGV` in 100 columns and 30 rows; `stdin` is piped in where it is given."""

    def __init__(
        self, *argv: str, stdin: bytes | None = None, cwd: Path | str = "/", rows: int = 30, **env: str
    ) -> None:
        self._own, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
        self.seen = b""
        start = START.format(fd=its)
        command = [sys.executable, "-c", start, sys.executable, "-P", "-m", "qtrace", *argv]
        self.process = subprocess.Popen(
            command,
            stdin=its if stdin is None else subprocess.PIPE,
            stdout=its,
            stderr=its,
            pass_fds=(its,),
            start_new_session=True,
            cwd=cwd,
            env=clean(**{"TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": "truecolor", **env}),
        )
        os.close(its)
        if stdin is not None and self.process.stdin is not None:
            self.process.stdin.write(stdin)
            self.process.stdin.close()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._own)

    def type(self, keys: bytes) -> None:
        os.write(self._own, keys)

    def until(self, *words: bytes) -> None:
        """Read until all of these were drawn since the last time this was asked."""
        start, end = len(self.seen), time.monotonic() + LONGEST
        while not all(word in self.seen[start:] for word in words):
            if time.monotonic() > end or not self._more():
                raise AssertionError(f"never saw {words} in {self.seen[start:]!r}")

    def _more(self) -> bool:
        """Read what there is; whether there may be more."""
        if not select.select([self._own], [], [], 0.1)[0]:
            return self.process.poll() is None
        try:
            data = os.read(self._own, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += data
        return bool(data)

    def ended(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + LONGEST
        while self._more() and time.monotonic() < end:
            pass
        return self.process.wait(timeout=LONGEST)
