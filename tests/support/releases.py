"""A git repository that holds an engine's releases, as its own does: nothing in it that a build writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from repositories import Repository

from qtrace.tracer.sources import Source

BUILT = ("PKG-INFO", "vllm/_version.py")


def repository_of(folder: Path, *releases: Source) -> Repository:
    """A repository with a commit and a tag for each release, in order."""
    folder.mkdir()
    repo = Repository(folder, [])
    repo.git("init", "--quiet", "--initial-branch=main")
    for source in releases:
        commit(repo, {name: source.read(name) or b"" for name in source.files() if name not in BUILT}, True)
        repo.git("tag", f"v{source.version}")
    return repo


def change(repo: Repository, source: Source, edits: Mapping[str, Callable[[str], str]]) -> str:
    """One more commit in which files of the last release are edited; its name."""
    changed = {name: edit(source.text(name) or "").encode() for name, edit in edits.items()}
    commit(repo, changed, False)
    return repo.commits[-1]


def commit(repo: Repository, files: Mapping[str, bytes], whole: bool) -> None:
    """Write a commit without a work tree."""
    before = f"from {repo.commits[-1]}\n" if repo.commits else ""
    head = f"commit refs/heads/main\ncommitter A <a@example.com> {len(repo.commits)} +0000\ndata 1\nx\n"
    out = [head, before]
    out += ["deleteall\n"] if whole else []
    for name, content in files.items():
        data = content.decode("latin-1")
        out.append(f"M 100644 inline {name}\ndata {len(content)}\n{data}\n")
    repo.stream("fast-import", "--quiet", data="".join(out).encode("latin-1"))
    repo.commits.append(repo.git("rev-parse", "refs/heads/main"))
