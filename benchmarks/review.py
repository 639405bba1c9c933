"""What the review of a change to an engine takes, beside git's own diff of the same commits, in one run.

    python benchmarks/review.py SDIST_BEFORE SDIST_AFTER

Seconds on the clock, of whole processes. The two releases are committed to a repository of our own, and a
small change on top: a function that nothing calls, before a kernel's class, so that lines move.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

KERNEL = "vllm/model_executor/kernels/linear/mixed_precision/machete.py"
BUILT = ("PKG-INFO", "vllm/_version.py", "vllm.egg-info")
"""What an sdist holds and no repository does."""
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
WHO = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_CONFIG_GLOBAL": os.devnull}
WHO |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com"}


def git(folder: Path, *command: str) -> None:
    subprocess.run(
        ["git", *command], cwd=folder, env={**os.environ, **WHO}, check=True, stdout=subprocess.DEVNULL
    )


def committed(folder: Path, sdist: str) -> None:
    """One release as a commit with its tag."""
    name = Path(sdist).name.removesuffix(".tar.gz")
    with tempfile.TemporaryDirectory() as temporary, tarfile.open(sdist) as archive:
        archive.extractall(temporary, filter="data")
        tree = f"--work-tree={temporary}/{name}"
        git(folder, tree, "add", "--all", "--force", *(f":!{path}" for path in BUILT), ".")
    git(folder, "commit", "--quiet", "-m", name)
    git(folder, "tag", f"v{name.partition('-')[2]}")


def changed(folder: Path) -> None:
    """A small change on top."""
    git(folder, "reset", "--hard", "--quiet")
    path = folder / KERNEL
    before, class_, after = path.read_text().partition("\nclass Machete")
    path.write_text(f"{before}\ndef unrelated():\n    return 1\n\n{class_}{after}")
    git(folder, "commit", "--quiet", "--all", "-m", "small")


def took(cache: str, *argv: str) -> float:
    """Seconds of a process."""
    started = time.perf_counter()
    env = {**COMPILED, "QTRACE_CACHE": cache}
    done = subprocess.run(argv, cwd="/", env=env, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryDirectory() as cache:
        folder = Path(temporary)
        git(folder, "init", "--quiet")
        for sdist in sys.argv[1:3]:
            committed(folder, sdist)
        changed(folder)
        review = (sys.executable, "-P", "-m", "qtrace", "review", "--offline", "--git", str(folder))
        releases, small = "HEAD~2..HEAD~1", "HEAD~1..HEAD"
        rows = (
            ("git diff of the two releases", ("git", "-C", str(folder), "diff", "HEAD~2", "HEAD~1")),
            ("two releases, nothing kept", (*review, releases)),
            ("two releases, again", (*review, releases)),
            ("the small change", (*review, small)),
            ("the small change, again", (*review, small)),
        )
        print(f"{'':34}{'seconds':>8}{'x git':>8}")
        base = 0.0
        for name, argv in rows:
            seconds = took(cache, *argv)
            base = base or seconds
            print(f"{name:34}{seconds:8.2f}{seconds / base:8.1f}", flush=True)


if __name__ == "__main__":
    main()
