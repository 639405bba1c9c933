"""Addresses: what of one may be printed, who may be asked, and with whose name."""

from __future__ import annotations

import base64
import ipaddress
import netrc
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from ...report.errors import SourceError
from ..archive import one_line, refusal

HTTP = ("http", "https")


def split(url: str) -> SplitResult:
    """The parts of an address; SourceError for one that has none."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - checked when asked for
    except ValueError as problem:
        raise SourceError(f"an address of the package index is malformed ({one_line(problem)})") from None
    return parts


def shown(url: str) -> str:
    """An address as it may be printed: no user, no password, no query."""
    parts = split(url)
    return one_line(parts._replace(netloc=host(parts), query="", fragment="").geturl(), 300)


def host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def bare(url: str) -> str:
    """An address without user and password, as it is sent."""
    parts = split(url)
    return parts._replace(netloc=host(parts), fragment="").geturl()


def local_path(url: str) -> Path:
    """The path that a file: address means; SourceError for one of another machine."""
    parts = split(url)
    if parts.netloc not in ("", "localhost") or "\0" in unquote(parts.path):
        raise refusal(shown(url), "is no file of this machine", "write file:///PATH")
    return Path(unquote(parts.path))


def same_origin(one: str, other: str) -> bool:
    a, b = split(one), split(other)
    return (a.scheme, host(a).lower()) == (b.scheme, host(b).lower())


def authorization(url: str) -> str | None:
    """The header that names who asks: from the address, else from the user's netrc file."""
    parts = split(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not parts.username:
        user, password = _netrc(parts.hostname or "")
    if not user and not password:
        return None
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _netrc(name: str) -> tuple[str, str]:
    try:
        found = netrc.netrc().authenticators(name)
    except (OSError, netrc.NetrcParseError):
        return "", ""
    return (found[0] or "", found[2] or "") if found else ("", "")


def trusted(parts: SplitResult, hosts: Sequence[str]) -> bool:
    """Whether the user's pip trusts a host without a valid certificate."""
    return bool({parts.hostname, host(parts).lower()} & set(hosts))


def expect_safe(url: str, hosts: Sequence[str]) -> None:
    """Refuse what is neither https, nor on this machine, nor trusted by the user's pip."""
    parts = split(url)
    if parts.scheme not in HTTP or not parts.hostname:
        raise refusal(shown(url), "is no http(s) address", "mend pip's configuration")
    if parts.scheme == "http" and not _loopback(parts.hostname) and not trusted(parts, hosts):
        raise refusal(shown(url), "is not https", "use https, or name the host in pip's trusted-host")


def _loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
