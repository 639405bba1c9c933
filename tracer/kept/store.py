"""Facts by their key in one folder: one file each, whole and unharmed or as good as absent.

A key is made of what the fact was read from and of the code that reads it, so that a fact is never out of
date; whatever goes wrong with a file or with the folder, the fact is read from its source as ever.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from ..pins.cache import folder as pins_folder
from .code import made_by

LIMIT = 400_000_000
"""The bytes that are kept: some seven releases. Facts that were not used for longest go first."""

_OURS = re.compile(r"[0-9a-f]{64}(\.\w+)?")
"""A fact by its key, or one that is not whole yet; whatever else lies in the folder is somebody else's."""
_SUM = hashlib.sha256().digest_size


def folder() -> Path:
    """Where facts are kept: beside the pins."""
    return pins_folder().with_name("facts")


def key_of(kind: str, content: str) -> str:
    """The name of a fact that was read from content of this hash by the code that runs."""
    return hashlib.sha256(f"{kind}\0{content}\0{made_by()}".encode()).hexdigest()


class Store:
    """The folder, which need neither exist nor be writable."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = folder() if root is None else root

    def get(self, key: str) -> memoryview | None:
        """A fact as it was put; None for one that is absent, damaged, or another's."""
        with suppress(OSError, ValueError):
            data = memoryview(_content(self.root / key))
            if data[:_SUM] == _sum(key, data[_SUM:]):
                return data[_SUM:]
        return None

    def put(self, key: str, fact: bytes) -> None:
        """Keep a fact, in one step; where nothing can be written it is not kept."""
        with suppress(OSError, ValueError):
            if self._is_writable:
                _write(self.root, key, fact)

    @cached_property
    def _is_writable(self) -> bool:
        """Whether the folder is there or can be made; it is tidied before anything is added."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.tidy()
        return os.access(self.root, os.W_OK)

    def tidy(self, limit: int = LIMIT) -> None:
        """Drop what was not used for longest, until what is left has `limit` bytes."""
        rows = sorted(self._files(), key=lambda row: max(row[1].st_atime, row[1].st_mtime), reverse=True)
        kept = 0
        for path, facts in rows:
            kept += facts.st_size
            if kept > limit:
                with suppress(OSError):
                    path.unlink()

    def size(self) -> tuple[int, int]:
        """How many files there are, and their bytes."""
        sizes = [facts.st_size for _, facts in self._files()]
        return len(sizes), sum(sizes)

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        found = []
        with suppress(OSError, ValueError), os.scandir(self.root) as entries:
            for entry in entries:
                with suppress(OSError):  # another process may have dropped it
                    found.append((Path(entry.path), entry.stat(follow_symlinks=False)))
        return [row for row in found if stat.S_ISREG(row[1].st_mode) and _OURS.fullmatch(row[0].name)]


def _sum(key: str, fact: memoryview | bytes) -> bytes:
    """The checksum of a fact under its key: a file that was renamed is no fact either."""
    whole = hashlib.sha256(key.encode())
    whole.update(fact)
    return whole.digest()


def _content(path: Path) -> bytes:
    """The bytes of a plain file; ValueError for what is none, or is over the limit."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LIMIT:
            raise ValueError("no fact")
        return file.read()


def _write(root: Path, key: str, fact: bytes) -> None:
    handle, part = tempfile.mkstemp(prefix=f"{key}.", dir=root)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_sum(key, fact))
            file.write(fact)
        Path(part).replace(root / key)
    except BaseException:
        with suppress(OSError):
            Path(part).unlink()
        raise
