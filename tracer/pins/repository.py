"""The engine at a commit, branch or tag of a repository: read from git's objects, without a work tree."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from packaging.version import Version

from .. import archive
from ..archive import one_line, refusal
from ..folder import is_wanted
from ..sources import Held, Source, expect_engine
from . import git

MAX_NAME = 1 << 16
_BLOCK = 1 << 16
_REGULAR = (b"100644", b"100755", b"100664")
_HASH = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


class Blob(NamedTuple):
    """A file of a tree."""

    name: str
    hash: bytes
    size: int


def git_folder(path: Path) -> Path:
    """Where git keeps a repository's objects: `.git` of a checkout, or the folder of a bare repository."""
    absolute = path.resolve()
    for folder in (absolute / ".git", absolute):
        if folder.is_file() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
            return folder
    raise refusal(path, "is no git repository", "name the root of a checkout or a bare repository")


def open_revision(repository: Path, name: str, engine: str) -> Source:
    """Open the engine at a revision of a repository on this machine."""
    folder = git_folder(repository)
    commit = commit_of(folder, name, repository)
    where = f"{repository}@{name}"
    blobs = _blobs(folder, commit, lambda name: is_wanted(name, engine), where)
    files = Held(_contents(folder, blobs, where))
    expect_engine(Path(where), engine, files)
    version = _tagged(folder, commit)
    return Source(engine, files, commit, version, version or _after(folder, commit))


def files_at(repository: Path, name: str, wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
    """The files of a revision whose names are wanted, links and submodules left out."""
    folder = git_folder(repository)
    where = f"{repository}@{name}"
    return _contents(folder, _blobs(folder, commit_of(folder, name, repository), wanted, where), where)


def between(repository: Path, base: str, head: str) -> str:
    """The commit in which the histories of two revisions meet."""
    folder = git_folder(repository)
    commits = [commit_of(folder, name, repository) for name in (base, head)]
    try:
        return git.read(folder, "merge-base", *commits).decode().strip()
    except git.GitError:
        raise refusal(repository, f"has no common history of {base} and {head}", "write BASE..HEAD") from None


def commit_of(folder: Path, name: str, repository: Path) -> str:
    """The commit that a name means; `repository` is what messages call the folder."""
    try:
        out = git.read(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()
    except git.GitError as problem:
        said = "" if "without a word" in str(problem) else f" ({problem})"
        raise refusal(
            repository, f"has no commit, branch or tag {one_line(name)}{said}", "fetch it, or name another"
        ) from None
    if not _HASH.fullmatch(out):
        raise refusal(repository, f"gives no commit for {one_line(name)}", "name another")
    return out.decode()


def _blobs(folder: Path, commit: str, wanted: Callable[[str], bool], where: str) -> list[Blob]:
    """The wanted files of a commit's tree; links and submodules are not there."""
    out: list[Blob] = []
    kept = 0
    for count, (mode, kind, hash, size, name) in enumerate(_entries(folder, commit, where)):
        if count >= archive.MAX_MEMBERS:
            raise refusal(Path(where), f"has over {archive.MAX_MEMBERS:,} files", "name another revision")
        if kind == b"blob" and mode in _REGULAR and size.isdigit() and wanted(os.fsdecode(name)):
            blob = Blob(os.fsdecode(name), hash, int(size))
            kept += blob.size
            _expect_small(blob, kept, where)
            out.append(blob)
    return out


def _entries(folder: Path, commit: str, where: str) -> Iterator[tuple[bytes, bytes, bytes, bytes, bytes]]:
    """Every entry of a tree as git lists it, folders too: a tree of empty folders counts as well."""
    command = ("ls-tree", "-r", "-t", "-z", "--long", "--full-tree", commit)
    try:
        with git.stream(folder, *command) as listed:
            for row in _rows(listed):
                facts, _, name = row.partition(b"\t")
                mode, kind, hash, size = facts.split()
                yield mode, kind, hash, size, name
    except (git.GitError, ValueError) as problem:
        raise refusal(
            Path(where), f"cannot be read ({problem})", "a partial or damaged repository: fetch it whole"
        ) from None


def _rows(listed: IO[bytes]) -> Iterator[bytes]:
    """What stands between zero bytes."""
    left = b""
    while block := listed.read(_BLOCK):
        *rows, left = (left + block).split(b"\0")
        if len(left) > MAX_NAME:
            raise ValueError("a name without end")
        yield from rows


def _expect_small(blob: Blob, kept: int, where: str) -> None:
    if blob.size > archive.MAX_FILE:
        name = one_line(repr(blob.name))
        raise refusal(
            Path(where), f"has a file over {archive.MAX_FILE:,} bytes: {name}", "name another revision"
        )
    if kept > archive.MAX_KEPT:
        raise refusal(Path(where), f"has over {archive.MAX_KEPT:,} bytes of source", "name another revision")


def _contents(folder: Path, blobs: list[Blob], where: str) -> dict[str, bytes]:
    """The bytes of all files, in one go; each must be as long as the tree's listing says."""
    wanted = b"".join(blob.hash + b"\n" for blob in blobs)
    try:
        told = git.read(folder, "cat-file", "--batch", data=wanted)
    except git.GitError as problem:
        raise refusal(Path(where), f"cannot be read ({problem})", "fetch the repository whole") from None
    out: dict[str, bytes] = {}
    at = 0
    for blob in blobs:
        head = b"%s blob %d\n" % (blob.hash, blob.size)
        if not told.startswith(head, at):
            raise refusal(Path(where), f"lacks {one_line(repr(blob.name))}", "fetch the repository whole")
        at += len(head)
        out[blob.name] = told[at : at + blob.size]
        at += blob.size + 1
    return out


def _tagged(folder: Path, commit: str) -> str | None:
    """The version of a commit by its tags, `v1.2.3`: the newest, as a candidate may become the release."""
    listed = git.read(
        folder, "for-each-ref", f"--points-at={commit}", "--format=%(refname:strip=2)", "refs/tags"
    )
    versions = [found for line in listed.decode("utf-8", "replace").split() if (found := _version(line))]
    return str(max(versions)) if versions else None


def _after(folder: Path, commit: str) -> str | None:
    """The release that a commit comes after, by the nearest tag of a version among its ancestors; None where
    the history is not there.
    """
    try:
        tag = git.read(folder, "describe", "--tags", "--abbrev=0", "--match=v[0-9]*", commit)
    except git.GitError:
        return None
    version = _version(tag.decode("utf-8", "replace").strip())
    return None if version is None else version.base_version


def _version(tag: str) -> Version | None:
    try:
        return Version(tag) if tag.startswith("v") else None
    except ValueError:  # InvalidVersion, or a number without end
        return None
