"""Bytes from an address: http(s), or a file of this machine; limited, and with no secret in an error."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, cast
from urllib.error import HTTPError
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from msgspec import Struct

from ... import __version__
from ...report.errors import SourceError
from ..archive import one_line
from .addresses import authorization, bare, expect_safe, local_path, same_origin, shown, split, trusted
from .pip_settings import Settings

_BLOCK = 1 << 16
_FAILED = (OSError, http.client.HTTPException, ValueError)


class MissingError(SourceError):
    """The address answers that there is no such thing."""


class Answer(Struct, frozen=True):
    """What an address gives: after redirects, with its kind and its size where they are told."""

    url: str
    kind: str
    size: int | None
    stream: IO[bytes]

    def blocks(self, limit: int) -> Iterator[bytes]:
        """The content, block by block, never more than `limit`."""
        read = 0
        try:
            while block := self.stream.read(_BLOCK):
                read += len(block)
                if read > limit:
                    raise SourceError(f"{shown(self.url)}: gives over {limit:,} bytes; nothing of it is kept")
                yield block
        except _FAILED as problem:
            raise SourceError(
                f"{shown(self.url)}: broke off after {read:,} bytes ({_why(problem)})"
            ) from None
        if self.size is not None and read < self.size:
            raise SourceError(f"{shown(self.url)}: ended after {read:,} of {self.size:,} bytes; ask again")


@contextmanager
def opened(url: str, settings: Settings, accept: str = "*/*") -> Iterator[Answer]:
    """Open an address; MissingError or another SourceError says what is wrong with it."""
    if split(url).scheme == "file":
        with _file(url) as answer:
            yield answer
        return
    with closing(_asked(url, settings, accept)) as response:
        size = response.headers.get("Content-Length", "")
        yield Answer(
            response.url,
            response.headers.get_content_type(),
            int(size) if size.isdecimal() else None,
            cast("IO[bytes]", response),
        )


@contextmanager
def _file(url: str) -> Iterator[Answer]:
    path = local_path(url)
    try:
        if not path.is_file():
            raise FileNotFoundError(2, "no such file")
        stream = path.open("rb")
    except (OSError, ValueError) as problem:
        raise MissingError(f"{shown(url)}: cannot be opened ({_why(problem)})") from None
    with stream:
        kind = "application/json" if path.suffix == ".json" else "text/html"
        yield Answer(url, kind, path.stat().st_size, stream)


def _asked(url: str, settings: Settings, accept: str) -> Any:
    expect_safe(url, settings.trusted)
    agent = f"qtrace/{__version__}"
    request = Request(
        bare(url), headers={"Accept": accept, "User-Agent": agent, "Accept-Encoding": "identity"}
    )
    if header := authorization(url):
        request.add_unredirected_header("Authorization", header)
    try:
        return _opener(url, settings).open(request, timeout=settings.timeout)
    except HTTPError as problem:
        with problem:
            raise _told(url, problem) from None
    except _FAILED as problem:
        raise SourceError(f"{shown(url)}: cannot be reached ({_why(problem)})") from None


def _told(url: str, problem: HTTPError) -> SourceError:
    why = f"answers {problem.code} {one_line(problem.reason, 60)}"
    if problem.code in (404, 410):
        return MissingError(f"{shown(url)}: {why}")
    remedy = "; give user and password as pip has them" if problem.code in (401, 403) else ""
    return SourceError(f"{shown(url)}: {why}{remedy}")


def _opener(url: str, settings: Settings) -> OpenerDirector:
    proxy = settings.proxy
    proxies = ProxyHandler({"http": proxy, "https": proxy} if proxy else None)
    secure = HTTPSHandler(context=_certificates(url, settings))
    return build_opener(proxies, HTTPHandler, secure, _Redirects(settings))


def _certificates(url: str, settings: Settings) -> ssl.SSLContext:
    """Who vouches for a host: what pip is told, else what Python knows."""
    try:
        folder = settings.cert is not None and Path(settings.cert).is_dir()
        where = {"capath" if folder else "cafile": settings.cert}
        context = ssl.create_default_context(**where)  # type: ignore[arg-type]
        if settings.client_cert:
            context.load_cert_chain(settings.client_cert)
    except OSError as problem:
        raise SourceError(f"{one_line(settings.cert)}: no certificates ({_why(problem)})") from None
    if trusted(split(url), settings.trusted):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class _Redirects(HTTPRedirectHandler):
    """Redirects that stay as safe as the first address was; who asks is told to the same host only."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> Request | None:
        try:
            expect_safe(newurl, self._settings.trusted)
            if req.full_url.startswith("https:") and not newurl.startswith("https:"):
                raise SourceError(f"{shown(req.full_url)}: leads from https to {shown(newurl)}; not followed")
        except SourceError:
            fp.close()
            raise
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        header = req.unredirected_hdrs.get("Authorization")
        if new is not None and header and same_origin(req.full_url, newurl):
            new.add_unredirected_header("Authorization", header)
        return new


def _why(problem: BaseException) -> str:
    inner = getattr(problem, "reason", None)
    text = getattr(inner, "strerror", None) or getattr(problem, "strerror", None) or inner or problem
    return one_line(text, 200)
