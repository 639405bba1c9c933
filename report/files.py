"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from .errors import UsageError


def check(path: Path) -> Path:
    """`path`, if as far as can be told a file can be written there; UsageError where it cannot."""
    folder = path.resolve().parent
    wrong = None
    if path.is_dir():
        wrong = errno.EISDIR
    elif not folder.is_dir():
        wrong = errno.ENOENT
    elif not os.access(path if _special(path) else folder, os.W_OK):
        wrong = errno.EACCES
    if wrong:
        raise UsageError(f"cannot write {path}: {os.strerror(wrong)}")
    return path


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step: a reader sees the old file or the new one, Ctrl-C leaves the old.

    A link is followed; a device or pipe (`/dev/null`) is written to, never replaced.
    """
    try:
        if _special(path):
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _special(path: Path) -> bool:
    """Whether something is there that is no file: a device or a pipe, by its own name or as `/dev/stdout`."""
    return path.exists() and not path.is_file()


def _replace(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(_mode(target))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that the umask gives a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
