"""An engine's text: of a directory, an sdist or a wheel, read in place. Nothing of it is ever run."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

from ..report.model import Pin
from .archive import read_sdist, refusal
from .checkout import git_head
from .folder import NATIVE_FOLDERS, ROOT_FILES, Folder, is_wanted, of_engine
from .kept.archives import unpacked
from .pins.grammar import FORMS
from .wheel import is_zip, read_wheel

_REMEDY = f"give {FORMS}"

_VERSION = re.compile(r"^(?:__version__|version)\s*=[^'\"\n]*['\"]([^'\"\n]+)['\"]", re.M)
_COMMIT = re.compile(r"^(?:__commit_id__|commit_id)\s*=[^'\"\n]*['\"]g?([0-9a-f]{7,40})['\"]", re.M)
_PLAIN_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,63}")


class Source:
    """One engine's text at one pin: files by their path below the root that holds the engine's package."""

    def __init__(
        self,
        engine: str,
        files: Files,
        git_head: str | None = None,
        version: str | None = None,
        release: str | None = None,
    ) -> None:
        self.engine = engine
        self._files = files
        self._base = _base(engine, files.names)
        self._names = tuple(sorted(_visible(files.names, self._base)))
        self._known = frozenset(self._names)
        self._made: dict[str, bytes] = {}
        """What the build of a revision writes, and no tree of git holds."""
        self._folders = frozenset(_folders(self.files(f"{engine}/", ".py")))
        generated = self.text(f"{engine}/_version.py") or ""
        self.version: str | None = version or self._metadata_version() or _first(_VERSION, generated)
        self.release = self.version or release
        """What it is asked for as the engine's own version: of a commit without one, the release that it
        comes after.
        """
        self.commit: str | None = git_head or _first(_COMMIT, generated)
        if release is not None and not generated:
            self._made = _version_module(engine, release)
            self._known |= self._made.keys()

    def __str__(self) -> str:
        commit = f"@ {self.commit[:9]}" if self.commit else "(version unknown)"
        return f"{self.engine} {self.version or commit}"

    def read(self, path: str) -> bytes | None:
        """Give a file's bytes, or None when the engine has no such file."""
        if path in self._made:
            return self._made[path]
        return self._files.read(self._base + path) if path in self._known else None

    def text(self, path: str) -> str | None:
        """Give a file's text: UTF-8, with or without a mark; bytes that are none become U+FFFD."""
        data = self.read(path)
        return None if data is None else data.decode("utf-8-sig", errors="replace")

    def files(self, prefix: str = "", suffix: str | tuple[str, ...] = "") -> tuple[str, ...]:
        """List the paths that begin and end so, sorted."""
        return tuple(name for name in self._names if name.startswith(prefix) and name.endswith(suffix))

    def module_path(self, module: str) -> str | None:
        """Find a module's file as Python would: the package before the plain module."""
        path = _module_stem(module)
        candidates = (f"{path}/__init__.py", f"{path}.py")
        return next((name for name in candidates if path and name in self._known), None)

    def is_package(self, module: str) -> bool:
        """Tell whether other modules can live below this one (a folder without `__init__.py` counts)."""
        path = _module_stem(module)
        shadowed = f"{path}.py" in self._known and f"{path}/__init__.py" not in self._known
        return path in self._folders and not shadowed

    @cached_property
    def has_native(self) -> bool:
        """Whether the C++/CUDA half came along: in an sdist or a checkout, not in an installed package."""
        return bool(self.files("csrc/"))

    @cached_property
    def python_hash(self) -> str:
        """The content hash of the engine's Python files."""
        return self._digest(self.files(f"{self.engine}/", ".py"))

    @cached_property
    def native_hash(self) -> str | None:
        """The content hash of csrc, or None when it is not there."""
        return self._digest(self.files("csrc/")) if self.has_native else None

    @cached_property
    def rest_hash(self) -> str:
        """The content hash of all that is read and is no Python of the engine, but for what names a build."""
        package = set(self.files(f"{self.engine}/", ".py"))
        named = ("PKG-INFO", *self.files("", ".dist-info/METADATA"))
        return self._digest(path for path in self._names if path not in package and path not in named)

    def pin(self) -> Pin:
        """Say what was read, in the words of a report."""
        return Pin(
            engine=self.engine,
            version=self.version or "unknown",
            commit=self.commit,
            python_hash=self.python_hash,
            native_hash=self.native_hash,
        )

    def _digest(self, paths: Iterable[str]) -> str:
        whole = hashlib.sha256()
        known = self._files.digests if isinstance(self._files, Held) else {}
        for path in paths:
            name = self._base + path
            sha256 = known.get(name) or hashlib.sha256(self._files.read(name)).hexdigest()
            whole.update(f"{path}\0{sha256}\n".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()

    def _metadata_version(self) -> str | None:
        for path in ("PKG-INFO", *self.files("", ".dist-info/METADATA")):
            head = (self.text(path) or "").split("\n\n", 1)[0]
            fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
            version = fields.get("Version", "").strip()
            name = fields.get("Name", "").strip().lower().replace("_", "-")
            if name in (self.engine, f"{self.engine}-cpu") and _PLAIN_VERSION.fullmatch(version):
                return version
        return None


class Files(Protocol):
    """Where bytes lie: names relative to a folder (posix), and the content of each."""

    @property
    def names(self) -> frozenset[str]: ...

    def read(self, name: str) -> bytes:
        """Give the content of one of `names`."""
        ...


class Held:
    """Files of an archive, held in memory; the sha256 of some may be known already."""

    def __init__(
        self, content: Mapping[str, bytes | memoryview], digests: Mapping[str, str] | None = None
    ) -> None:
        self._content = content
        self.digests = digests or {}
        self.names = frozenset(content)

    def read(self, name: str) -> bytes:
        return bytes(self._content[name])


def open_source(at: str | Path, engine: str = "vllm", version: str | None = None) -> Source:
    """Open an engine's source: the folder that holds its package, or an sdist or wheel, read in place.

    `version` is what is known of it already, as of a package that is installed.
    """
    path = Path(at)
    mode = _mode(path)
    if stat.S_ISDIR(mode):
        root = path.resolve()
        files: Files = Folder(root, of_engine(engine))
        expect_engine(path, engine, files)
        return Source(engine, files, git_head(root), version)
    if not stat.S_ISREG(mode):
        raise refusal(path, "is neither a directory nor a file", _REMEDY)
    read = read_wheel if is_zip(path) else read_sdist
    files = Held(*unpacked(path, engine, lambda: read(path, lambda name: is_wanted(name, engine))))
    expect_engine(path, engine, files)
    return Source(engine, files, version=version)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise refusal(path, f"cannot be opened ({why})", _REMEDY) from None


def expect_engine(path: Path, engine: str, files: Files) -> None:
    """Refuse what does not hold the engine's package, with a word on what to name instead."""
    if _base(engine, files.names) or f"{engine}/__init__.py" in files.names:
        return
    problem = f"holds no {engine}/__init__.py"
    remedy = "name the root of a checkout or sdist, or site-packages"
    if path.is_dir() and (path / engine).is_symlink():
        problem, remedy = f"{engine} is a link that is not followed", "name the folder that holds its target"
    elif path.is_dir() and path.resolve().name == engine and (path / "__init__.py").is_file():
        remedy = "name the folder above it"
    elif (path / "HEAD").is_file() and (path / "objects").is_dir():
        problem, remedy = "is a repository without a work tree", "write FOLDER@REV for a revision of it"
    raise refusal(path, problem, remedy)


def _version_module(engine: str, release: str) -> dict[str, bytes]:
    """The module that setuptools-scm writes."""
    numbers = tuple(int(part) for part in release.split(".") if part.isdigit())
    text = (
        f"__version__ = version = {release!r}\n__version_tuple__ = version_tuple = {numbers!r}\n"
        "__commit_id__ = commit_id = None\n"
    )
    return {f"{engine}/_version.py": text.encode()}


def _base(engine: str, names: frozenset[str]) -> str:
    """Find where the package lies: at the root, or under `python/` as in a checkout of SGLang."""
    inner = f"python/{engine}/__init__.py"
    return "python/" if f"{engine}/__init__.py" not in names and inner in names else ""


def _visible(names: frozenset[str], base: str) -> Iterator[str]:
    """Drop folders that are not the engine's, and the base from the names of the rest."""
    is_root = any(base + name in names for name in ROOT_FILES)
    for name in names:
        if name.startswith(base) and (is_root or not name.startswith(NATIVE_FOLDERS)):
            yield name[len(base) :]


def _module_stem(module: str) -> str:
    parts = module.split(".")
    return "/".join(parts) if all(part.isidentifier() for part in parts) else ""


def _folders(paths: Iterable[str]) -> Iterator[str]:
    for folder in {path.rpartition("/")[0] for path in paths}:
        parts = folder.split("/")
        for depth in range(1, len(parts) + 1):
            yield "/".join(parts[:depth])


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found.group(1) if found else None
