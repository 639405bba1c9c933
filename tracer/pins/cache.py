"""What was fetched, kept in the user's cache folder: files by their sha256, repositories by their commit.

files/SHA256          an archive as the index served it
git/COMMIT            a bare repository that holds one commit
names/KEY             one JSON line: what a name was found to be, last time it was asked for
locks/, parts/        one process fetches a thing; what is not whole has another name and goes away
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ..archive import one_line
from .talk import Talk

CACHED = "from the cache"
KINDS = ("files", "git", "names", "locks", "parts")
_KEY = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Kept(Struct, frozen=True, kw_only=True):
    """What a name was found to be."""

    name: str
    """`vllm-0.24.0.tar.gz`, or `URL@REV`."""
    key: str
    """The sha256 of the file, or the commit."""
    places: str = ""
    """A digest of the addresses that were asked; the same name elsewhere may be something else."""


def folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where the cache is: QTRACE_CACHE, else `qtrace` in the user's own cache folder."""
    if named := env.get("QTRACE_CACHE"):
        return Path(named).expanduser() / "pins"
    home = env.get("XDG_CACHE_HOME") or Path(env.get("HOME") or Path.home()) / ".cache"
    return Path(home) / "qtrace" / "pins"


class Cache:
    """The folder; where it cannot be written, a temporary one beside it that lasts as long as this object."""

    def __init__(self, root: Path, talk: Talk) -> None:
        self.root = root
        self._talk = talk
        self._room: Path | None = None
        self._spare: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        if self._spare is not None:
            self._spare.cleanup()

    @property
    def room(self) -> Path:
        """A folder that can be written."""
        if self._room is None:
            self._room = self._writable()
        return self._room

    def file(self, sha256: str) -> Path | None:
        """A kept archive; one whose content is no longer what its name says is not there."""
        for root in self._roots():
            path = root / "files" / sha256
            if _is_file(path) and digest(path) == sha256:
                return path
        return None

    def has(self, sha256: str) -> bool:
        """Whether an archive is kept; its content is compared when it is used."""
        return any(_is_file(root / "files" / sha256) for root in self._roots())

    def size(self, key: str) -> int | None:
        """The bytes of what is kept under a key."""
        paths = (root / kind / key for root in self._roots() for kind in ("files", "git"))
        return next((_size(path) for path in paths if path.exists()), None)

    def repository(self, commit: str) -> Path | None:
        """A kept repository that holds a commit, which is given by its hash or how that begins."""
        found = [
            path for root in self._roots() for path in _entries(root / "git") if path.name.startswith(commit)
        ]
        return found[0] if len({path.name for path in found}) == 1 else None

    def names(self) -> list[Kept]:
        """What names were found to be."""
        rows = (_kept(path) for root in self._roots() for path in _entries(root / "names"))
        return [row for row in rows if row is not None]

    def remember(self, kept: Kept) -> None:
        """Write down what a name was found to be, in one step; it is a note, which a full disk may lack."""
        key = hashlib.sha256(f"{kept.name}\0{kept.places}".encode()).hexdigest()[:32]
        with suppress(OSError), self.part(f"name-{key}") as part:
            part.write_bytes(msgspec.json.encode(kept))
            self.keep(part, "names", key)

    def keep(self, part: Path, kind: str, key: str) -> Path:
        """Give what is whole its own name; a part that is there already stays."""
        target = self.room / kind / key
        if not (part.is_dir() and target.exists()):
            part.replace(target)
        return target

    @contextmanager
    def part(self, key: str) -> Iterator[Path]:
        """A name for what is not whole yet; whatever bears it at the end goes away."""
        path = self.room / "parts" / f"{key}.{os.getpid()}"
        try:
            yield path
        finally:
            _removed(path)

    @contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Wait until no other process fetches the same; leavings of one that was killed go away."""
        with (self.room / "locks" / key).open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._talk.say("waiting for another qtrace that fetches the same")
                fcntl.flock(file, fcntl.LOCK_EX)
            for left in (self.room / "parts").glob(f"{key}.*"):
                _removed(left)
            yield

    def _roots(self) -> list[Path]:
        return [self.root] if self._room in (None, self.root) else [self.root, self._room]

    def _writable(self) -> Path:
        try:
            for kind in KINDS:
                (self.root / kind).mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=self.root / kind) as probe:
                    fcntl.flock(probe, fcntl.LOCK_EX)
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or problem
            self._talk.say(f"{one_line(self.root)}: cannot be written ({one_line(why)}); nothing is kept")
            self._spare = tempfile.TemporaryDirectory(prefix="qtrace-")
            for kind in KINDS:
                Path(self._spare.name, kind).mkdir()
            return Path(self._spare.name)
        return self.root


def digest(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    return sum(inner.lstat().st_size for inner in (path, *path.rglob("*")) if inner.is_file())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _kept(path: Path) -> Kept | None:
    """A row of the names; None for one that is damaged."""
    try:
        row = msgspec.json.decode(path.read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return row if _KEY.fullmatch(row.key) else None


def _removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
