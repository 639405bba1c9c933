"""The source of a library that an engine calls: where it is meant to come from, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...report.errors import UsageError
from ...report.fetched import Code, Fetched
from ..archive import one_line, refusal
from ..checkout import git_head
from ..folder import Folder, Shape
from .addresses import shown
from .cache import Cache, folder
from .grammar import Revision, place, remote
from .talk import Talk

OPTION = "--library"
MAX_CODE = 128 << 20
"""Bytes of a library's source."""
_REMEDY = "name a checkout or a revision of the library"
_SUFFIXES = (".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl", "/__init__.py")
_ASIDE = ("third-party", "third_party", "tests", "test", "build", "__pycache__")
"""Folders that are not the library's own, or not what it is built from."""


class LibraryCode(NamedTuple):
    """Files of a library, by a path that begins with its name and, of a revision, the commit:
    `deepgemm@891d57b4db10/csrc/a.cpp`.
    """

    code: Code
    held: Mapping[str, bytes]

    def read(self, path: str) -> bytes | None:
        """Give a file's bytes."""
        return self.held.get(path)

    def text(self, path: str) -> str | None:
        """Give a file's text; bytes that are no UTF-8 become U+FFFD."""
        data = self.read(path)
        return None if data is None else data.decode("utf-8-sig", errors="replace")

    def files(self, prefix: str = "", suffix: str | tuple[str, ...] = "") -> tuple[str, ...]:
        """List the paths that begin and end so, sorted."""
        return tuple(sorted(name for name in self.held if name.startswith(prefix) and name.endswith(suffix)))


def library_code(text: str, fetched: Sequence[Fetched], offline: bool, talk: Talk) -> LibraryCode:
    """Open what `NAME=WHERE` means, or for `NAME` alone what the release's build takes."""
    name, given, where = text.partition("=")
    taken = tuple(one for one in fetched if one.name == name)
    if not taken:
        known = ", ".join(sorted({one.name for one in fetched})) or "no library that it names"
        raise UsageError(f"{OPTION} {one_line(text, 200)}: the release's build takes {known}")
    asked = _asked(text, where, taken) if given else _pinned(name, taken)
    if isinstance(asked, Revision):
        return _of_revision(name, asked, taken, offline, talk)
    return _of_folder(name, Path(asked), taken)


def _asked(text: str, where: str, taken: Sequence[Fetched]) -> Revision | str:
    option = f"{OPTION} {taken[0].name}"
    if not where:
        told = one_line(text, 200)
        raise UsageError(f"{OPTION} {told} is empty: give a directory, FOLDER@REV or git+URL@REV")
    meant = remote(where, option) if where.startswith("git+") else place(where, option)
    return meant if isinstance(meant, Revision) else meant.path


def _pinned(name: str, taken: Sequence[Fetched]) -> Revision:
    """The revision that the build takes; UsageError where it may take one of several."""
    if len({(one.repository, one.revision) for one in taken}) > 1:
        several = " or ".join(map(str, taken))
        raise UsageError(f"{OPTION} {name}: the release's build takes {several}; write {name}=git+URL@REV")
    return remote(f"git+{taken[0].repository}@{taken[0].revision}", OPTION)


def _of_revision(
    name: str, asked: Revision, taken: tuple[Fetched, ...], offline: bool, talk: Talk
) -> LibraryCode:
    from .remote import fetched
    from .repository import commit_of, files_at, git_folder

    with Cache(folder(), talk) as cache:
        path, revision = Path(asked.repository), asked.name
        if asked.remote:
            path, _ = fetched(asked, offline, cache, talk)
            revision = path.name
        commit = commit_of(git_folder(path), revision, path)
        files = files_at(path, commit, _takes)
    address = shown(asked.repository).partition("://")[2].removesuffix(".git") if asked.remote else path.name
    return _labelled(Code(name=name, where=address, commit=commit, taken=taken), files, f"{path}@{revision}")


def _of_folder(name: str, path: Path, taken: tuple[Fetched, ...]) -> LibraryCode:
    try:
        if not path.is_dir():
            raise refusal(path, "is no directory", _REMEDY)
    except (OSError, ValueError) as problem:
        raise refusal(path, f"cannot be opened ({one_line(problem)})", _REMEDY) from None
    root = path.resolve()
    listed = Folder(root, Shape(_takes, lambda inner: _enters(root, inner)))
    files: dict[str, bytes] = {}
    total = 0
    for each in sorted(listed.names):
        files[each] = listed.read(each)
        total += len(files[each])
        if total > MAX_CODE:
            raise refusal(path, f"holds over {MAX_CODE >> 20} MiB of source", _REMEDY)
    code = Code(name=name, where=root.name, commit=git_head(root), as_it_is=True, taken=taken)
    return _labelled(code, files, str(path))


def _labelled(code: Code, files: Mapping[str, bytes], where: str) -> LibraryCode:
    if not any(name.endswith(_SUFFIXES[:-1]) for name in files):
        raise refusal(Path(where), "holds no C++ or CUDA", _REMEDY)
    label = code.name if code.commit is None or code.as_it_is else f"{code.name}@{code.commit[:12]}"
    return LibraryCode(code, {f"{label}/{name}": data for name, data in files.items()})


def _takes(name: str) -> bool:
    return name.endswith(_SUFFIXES) and not set(name.split("/")[:-1]).intersection(_ASIDE)


def _enters(root: Path, inner: str) -> bool:
    """A submodule is another repository's."""
    last = inner.rstrip("/").rpartition("/")[2]
    try:
        return last not in _ASIDE and not last.startswith(".") and not (root / inner / ".git").exists()
    except OSError:
        return False
