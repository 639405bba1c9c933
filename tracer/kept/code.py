"""Which code makes the facts: other code may make others, so its digest is a part of every key."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

from ... import __version__

TRACER = Path(__file__).parent.parent


@cache
def made_by() -> str:
    """The digest of the code that makes facts; of code that cannot be read, a name that nobody else has."""
    try:
        return digest(TRACER)
    except (OSError, ImportError):
        return os.urandom(16).hex()


def digest(root: Path) -> str:
    """The digest of all Python below a folder, and the versions of what parses for it.

    All of it, and not the modules that happen to make facts today: nobody has to keep a list, and reading it
    takes a few milliseconds.
    """
    from importlib.metadata import version  # a snapshot is read without it

    whole = hashlib.sha256(f"{__version__}\0{sys.version}\0{version('libcst')}".encode())
    paths = sorted(root.rglob("*.py"))
    if not paths:
        raise FileNotFoundError(root)
    for path in paths:
        text = path.read_bytes()
        whole.update(f"\0{path.relative_to(root)}\0{len(text)}\0".encode())
        whole.update(text)
    return whole.hexdigest()
