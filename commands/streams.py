"""The standard streams as a shell may hand them over: closed, full, or with nobody at the other end."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

FULL = (errno.EBADF, errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT)
"""Why a write to an open stream fails."""


def stand_in() -> None:
    """Put something in the place of streams that were closed before the start, where Python has None.

    stderr goes nowhere. stdin cannot be read and stdout not be written to: whoever needs them fails and
    says so. In this order, so that each takes its own number and no file that is opened later gets it.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def put(data: bytes) -> None:
    """Write to stdout; a reader that has gone (`qtrace ... | head`) is no error."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        let_go(sys.stdout)


def say(line: str) -> None:
    """A line of talk on stderr; nobody has to listen."""
    try:
        print(f"qtrace: {line}", file=sys.stderr, flush=True)
    except OSError:
        let_go(sys.stderr)


def let_go(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def of_stdout(error: OSError) -> bool:
    """Whether it is stdout that could not be written to: errors about files name the file."""
    return error.filename is None and error.errno in FULL
