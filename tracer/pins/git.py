"""git as qtrace runs it: nothing that a repository's own configuration names is started by it.

The commands are those that read objects and refs, and `fetch` into a repository of our own. Hooks and the
file system monitor are off, so are replaced objects and lazy fetches of partial clones, and what goes over a
wire is limited to the schemes of a pin. No command touches a work tree.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ...report.errors import SourceError
from ..archive import MAX_TOTAL, one_line

SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# The user's own ways to a server; all other GIT_ variables could lead git elsewhere.
_OWN_WAYS = re.compile(
    r"GIT_SSH(_COMMAND|_VARIANT)?|GIT_SSL_\w+|GIT_PROXY_\w+|GIT_ASKPASS|GIT_HTTP_\w+|GIT_EXEC_PATH"
)
_SAID = ("fatal: ", "error: ", "remote: ", "ssh: ")
_CREDENTIALS = re.compile(r"//[^/@\s]*@")


class GitError(SourceError):
    """git says no, in its own words."""


def read(repository: Path, *command: str, data: bytes = b"") -> bytes:
    """Run a command that reads a repository, and give what it prints; GitError when it fails."""
    return _run([*_reading(repository), *command], _environment(local=True), data=data)


@contextmanager
def stream(repository: Path, *command: str) -> Iterator[IO[bytes]]:
    """Run a command that reads, to be listened to as long as one wants."""
    with tempfile.TemporaryFile() as errors:
        with _started([*_reading(repository), *command], _environment(local=True), errors) as child:
            assert child.stdout is not None
            try:
                yield child.stdout
            except BaseException:
                child.kill()
                raise
        if child.returncode:
            raise _failure(errors)


def create(folder: Path) -> None:
    """Make an empty bare repository."""
    _run(
        ["git", *SAFE, "init", "--quiet", "--bare", "--template=", "--", str(folder)],
        _environment(local=True),
    )


def remote(folder: Path, url: str, *command: str) -> bytes:
    """Run `fetch` or `ls-remote` in a repository of ours; the URL is no argument, it may hold a password."""
    named = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "remote.pin.url", "GIT_CONFIG_VALUE_0": url}
    return _run(["git", *SAFE, f"--git-dir={folder}", *command], _environment(local=False) | named)


def _reading(repository: Path) -> list[str]:
    return ["git", *SAFE, "--no-pager", f"--git-dir={repository}"]


def _environment(local: bool) -> dict[str, str]:
    """The user's variables without those that lead git elsewhere; for a remote with the user's own git
    configuration, where proxies and credentials are.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or _OWN_WAYS.fullmatch(k)}
    only_here = {"GIT_CONFIG_GLOBAL": os.devnull} if local else {}
    protocols = {"GIT_ALLOW_PROTOCOL": "none" if local else "https:ssh"}
    return own | only_here | protocols | QUIET


def _run(command: Sequence[str], env: Mapping[str, str], data: bytes = b"") -> bytes:
    with tempfile.TemporaryFile() as errors:
        with _started(command, env, errors) as child:
            try:
                out, _ = child.communicate(data)
            except BaseException:
                child.terminate()
                raise
        if child.returncode:
            raise _failure(errors)
        return out


def _started(command: Sequence[str], env: Mapping[str, str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            env=env,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            preexec_fn=_limited,
        )
    except FileNotFoundError:
        raise SourceError("git is not installed, and a revision of a repository is asked for") from None


def _limited() -> None:
    """No file that git writes grows without end."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = MAX_TOTAL if hard == resource.RLIM_INFINITY else min(MAX_TOTAL, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))


def _failure(errors: IO[bytes]) -> GitError:
    """The last lines of what git said, without user and password."""
    errors.seek(0)
    lines = errors.read(1 << 20).decode("utf-8", "replace").splitlines()
    told = [line for line in lines if line.startswith(_SAID)]
    words = "; ".join(line.partition(": ")[2] or line for line in told or lines[-1:])
    return GitError(one_line(_CREDENTIALS.sub("//", words), 300) or "git failed without a word")
