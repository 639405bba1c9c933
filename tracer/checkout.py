"""The commit that is checked out in a folder, read from git's own files; git is not run."""

from __future__ import annotations

import re
from pathlib import Path

from .archive import MAX_FILE

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"refs/[\w./+@-]{1,200}")


def git_head(root: Path) -> str | None:
    """The checked-out commit; None where nothing says it."""
    folder = root / ".git"
    if folder.is_file():
        # A worktree or submodule: `.git` is a file that names the real folder.
        folder = root / _small(folder).removeprefix("gitdir:").strip()
    head = _small(folder / "HEAD")
    if _HASH.fullmatch(head):
        return head
    ref = head.removeprefix("ref:").strip()
    if not _REF.fullmatch(ref) or ".." in ref:
        return None
    common = folder / (_small(folder / "commondir") or ".")
    for place in (folder, common):
        if _HASH.fullmatch(value := _small(place / ref)):
            return value
    packed = re.search(rf"^({_HASH.pattern}) {re.escape(ref)}$", _small(common / "packed-refs"), re.M)
    return packed.group(1) if packed else None


def _small(path: Path) -> str:
    """Read one of git's little files; whatever is wrong with it, it says nothing."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(MAX_FILE).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""
