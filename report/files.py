"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from .errors import UsageError


def check(path: Path) -> Path:
    """`path`, if as far as can be told a file can be written there; UsageError where it cannot."""
    target = path.resolve()
    if target.is_dir():
        raise UsageError(f"cannot write {path}: {os.strerror(errno.EISDIR)}")
    if not target.parent.is_dir():
        raise UsageError(f"cannot write {path}: {os.strerror(errno.ENOENT)}: {path.parent}")
    held = target if target.exists() and not target.is_file() else target.parent
    if not os.access(held, os.W_OK):
        raise UsageError(f"cannot write {path}: {os.strerror(errno.EACCES)}")
    return path


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step: a reader sees the old file or the new one, Ctrl-C leaves the old.

    A link is followed; a device or pipe (`/dev/null`) is written to, never replaced.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


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
