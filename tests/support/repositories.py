"""Git repositories for tests: an engine with two releases, and what a hostile one holds."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from indexes import engine

WHO = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Repository(NamedTuple):
    """A repository with a work tree, and its commits from the first on."""

    folder: Path
    commits: list[str]

    def git(self, *command: str, data: str | None = None) -> str:
        """Run git in it, as its owner does."""
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *command],
            cwd=self.folder,
            env={**os.environ, **WHO},
            input=data,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def stream(self, *command: str, data: bytes) -> None:
        """The same with bytes to read."""
        subprocess.run(
            ["git", *command],
            cwd=self.folder,
            env={**os.environ, **WHO},
            input=data,
            capture_output=True,
            check=True,
        )

    def save(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        self.commits.append(self.git("rev-parse", "HEAD"))

    def tree(self, rows: str) -> str:
        """Write a tree object."""
        return self.git("mktree", data=rows)

    def state(self) -> dict[str, int]:
        """Every file of git's own, with the time of its last change."""
        own = self.folder / ".git"
        return {str(path): path.stat().st_mtime_ns for path in own.rglob("*")}


def repository(folder: Path, files: Mapping[str, bytes] | None = None) -> Repository:
    """A repository of an engine: release 1.1.0 on the branch `old`, then 1.2.0 on `main`."""
    folder.mkdir()
    repo = Repository(folder, [])
    repo.git("init", "--quiet", "--initial-branch=main")
    for version in ("1.1.0", "1.2.0"):
        for name, content in (engine(version) if files is None else files).items():
            if name != "PKG-INFO":
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        repo.save(version)
        repo.git("tag", f"v{version}")
    repo.git("branch", "old", "v1.1.0")
    repo.git("tag", "-a", "annotated", "-m", "annotated")
    return repo


def submodule(repo: Repository, path: str, url: str) -> None:
    """A submodule at a path, whose address is `url`."""
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.commits[0]},{path}")
    (repo.folder / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = {path}\n\turl = {url}\n')
