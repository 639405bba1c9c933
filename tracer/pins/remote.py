"""One commit of a remote repository, brought into the cache as a bare repository of depth 1."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ...report.errors import SourceError
from ..archive import one_line
from . import git
from .addresses import shown
from .cache import CACHED, Cache, Kept
from .grammar import Revision
from .talk import Talk

_WHOLE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PEELED = "^{}"


def fetched(asked: Revision, offline: bool, cache: Cache, talk: Talk) -> tuple[Path, str]:
    """A repository in the cache that holds the revision and nothing else, named as the commit; and for people
    where it came from.
    """
    if _WHOLE.fullmatch(asked.name) and (path := cache.repository(asked.name)):
        return path, CACHED
    try:
        if offline:
            raise SourceError("--offline forbids asking for it")
        return _asked(asked, cache, talk), "from the repository"
    except SourceError as problem:
        return _last_known(asked, problem, cache, talk), CACHED
    except OSError as problem:
        raise SourceError(f"{_name(asked)}: cannot be kept ({problem.strerror})") from None


def _asked(asked: Revision, cache: Cache, talk: Talk) -> Path:
    """Ask the repository what the name is, and fetch that commit unless it is in the cache."""
    key = f"git-{hashlib.sha256(_name(asked).encode()).hexdigest()[:32]}"
    with cache.locked(key), cache.part(key) as part:
        git.create(part)
        ref, commit = _advertised(part, asked)
        path = cache.repository(commit) or _fetched(part, asked, ref, cache, talk)
    cache.remember(Kept(name=_name(asked), key=path.name))
    return path


def _advertised(part: Path, asked: Revision) -> tuple[str, str]:
    """The full name of a branch or tag, and its commit, as the repository tells them; tags come first."""
    if _WHOLE.fullmatch(asked.name):
        return asked.name, asked.name
    refs = [asked.name] if asked.name.startswith("refs/") else _full_names(asked.name)
    patterns = (name for ref in refs for name in (ref, ref + _PEELED))
    out = git.remote(part, asked.repository, "ls-remote", "--quiet", "--", "pin", *patterns)
    rows = [line.split("\t", 1) for line in out.decode("utf-8", "replace").splitlines() if "\t" in line]
    found = {ref: commit for commit, ref in rows if _WHOLE.fullmatch(commit)}
    for ref in refs:
        if ref in found:
            return ref, found.get(ref + _PEELED, found[ref])
    raise SourceError("there is no such branch or tag, and a commit is given by its 40 digits")


def _full_names(name: str) -> list[str]:
    return [f"refs/tags/{name}", f"refs/heads/{name}"]


def _fetched(part: Path, asked: Revision, ref: str, cache: Cache, talk: Talk) -> Path:
    """Fetch one commit into a repository of ours, and give that the commit's name."""
    talk.say(f"fetching {_name(asked)}")
    target = ref if ref.startswith("refs/") else "refs/heads/pin"
    options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    git.remote(part, asked.repository, "fetch", *options, "--", "pin", f"+{ref}:{target}")
    commit = git.read(part, "rev-parse", "--verify", f"{target}^{{commit}}").decode().strip()
    return cache.keep(part, "git", commit)


def _last_known(asked: Revision, problem: SourceError, cache: Cache, talk: Talk) -> Path:
    """Where the repository does not answer: what the name was last time, or a commit that begins so."""
    name = _name(asked)
    known = next((row.key for row in cache.names() if row.name == name), asked.name)
    if (path := cache.repository(known)) is None:
        raise SourceError(f"{name}: {problem}") from None
    talk.say(f"{name}: {problem}; commit {path.name[:12]} in the cache is used")
    return path


def _name(asked: Revision) -> str:
    """The revision as it may be printed and kept."""
    return one_line(f"{shown(asked.repository)}@{asked.name}", 300)
