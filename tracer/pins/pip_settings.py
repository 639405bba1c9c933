"""The package index that pip is configured for: its files, its environment variables, else its own default.

pip is not run. What counts is what `pip install` would take: `[install]` before `[global]`, a variable before
a file, the virtual environment's file before the user's and the user's before the machine's.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from zipimport import zipimporter

from msgspec import Struct

from ...report.errors import UsageError
from ..archive import one_line

SECTIONS = ("global", "install")
TIMEOUT = 15.0


class Settings(Struct, frozen=True, kw_only=True):
    """Where to look, and how to get there."""

    index_urls: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    """Hosts, with or without a port, whose certificates need not be valid."""
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = TIMEOUT


def settings(env: Mapping[str, str] = os.environ) -> Settings:
    """Read pip's configuration as it is now."""
    found = _configured(env)
    timeout = found.get("timeout") or found.get("default-timeout") or str(TIMEOUT)
    indexes = [found.get("index-url") or pip_default(), *found.get("extra-index-url", "").split()]
    return Settings(
        index_urls=() if _yes(found.get("no-index", "")) else tuple(url for url in indexes if url),
        find_links=tuple(found.get("find-links", "").split()),
        trusted=tuple(found.get("trusted-host", "").split()),
        cert=found.get("cert") or env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE"),
        client_cert=found.get("client-cert"),
        proxy=found.get("proxy"),
        timeout=float(timeout) if timeout.replace(".", "", 1).isdigit() else TIMEOUT,
    )


def pip_default() -> str | None:
    """The index that pip asks where nobody says, by pip itself; None where there is no pip at all."""
    try:
        from pip._internal.models.index import PyPI
    except ImportError:
        return _bundled_default()
    return str(PyPI.simple_url)


def _bundled_default() -> str | None:
    """The same of the pip that comes with Python, for environments that were made without one."""
    spec = find_spec("ensurepip")
    folder = Path(spec.origin or "").parent / "_bundled" if spec else Path()
    for wheel in sorted(folder.glob("pip-*.whl")):
        found = zipimporter(f"{wheel}/pip/_internal/models").find_spec("index")
        if found is not None and found.loader is not None:
            module = module_from_spec(found)
            found.loader.exec_module(module)
            return str(module.PyPI.simple_url)
    return None


def _configured(env: Mapping[str, str]) -> dict[str, str]:
    """Each option by its long name: a later file replaces an earlier one, a section the one before."""
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for path in _files(env):
        for section, rows in _read(path).items():
            sections[section] |= rows
    out = {name: value for rows in sections.values() for name, value in rows.items()}
    for name, value in env.items():
        if name.startswith("PIP_") and value:
            out[name[4:].lower().replace("_", "-")] = value
    return out


def _files(env: Mapping[str, str]) -> Iterator[Path]:
    """The files in pip's order; with PIP_CONFIG_FILE the user's own are left out, with `/dev/null` all."""
    named = env.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    yield from _machine(env)
    if not (named and Path(named).exists()):
        yield from _user(env)
    yield Path(sys.prefix) / "pip.conf"
    if named:
        yield Path(named)


def _machine(env: Mapping[str, str]) -> Iterator[Path]:
    if sys.platform == "darwin":
        yield Path("/Library/Application Support/pip/pip.conf")
    else:
        for folder in (env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
            yield Path(folder) / "pip" / "pip.conf"
        yield Path("/etc/pip.conf")


def _user(env: Mapping[str, str]) -> Iterator[Path]:
    home = Path(env.get("HOME") or Path.home())
    yield home / ".pip" / "pip.conf"
    support = home / "Library" / "Application Support" / "pip"
    if sys.platform == "darwin" and support.is_dir():
        yield support / "pip.conf"
    else:
        yield Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"


def _read(path: Path) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"), str(path))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (configparser.Error, UnicodeDecodeError, OSError) as problem:
        why = one_line(str(problem).splitlines()[0])
        raise UsageError(f"{one_line(path)}: pip's configuration cannot be read ({why})") from None
    return {
        section: {name.lower().replace("_", "-"): value for name, value in parser.items(section) if value}
        for section in SECTIONS
        if parser.has_section(section)
    }


def _yes(value: str) -> bool:
    return value.strip().lower() in ("1", "y", "yes", "t", "true", "on")
