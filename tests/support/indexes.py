"""Small engines as sdists and wheels, and a package index on this machine that serves what a test says."""

from __future__ import annotations

import hashlib
import io
import json
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

Body = bytes | Callable[[BaseHTTPRequestHandler], None]


def engine(version: str) -> dict[str, bytes]:
    """The files of an engine that is hardly one."""
    return {
        "PKG-INFO": f"Metadata-Version: 2.4\nName: vllm\nVersion: {version}\n\n".encode(),
        "pyproject.toml": b"[project]\n",
        "vllm/__init__.py": f"VERSION = {version!r}\n".encode(),
        "vllm/config/model.py": b"X = 1\n",
        "csrc/ops.cpp": b"int x;\n",
    }


def sdist(folder: Path, version: str, files: Mapping[str, bytes] | None = None) -> Path:
    """An sdist of the engine at a version, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"vllm-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, content in (engine(version) if files is None else files).items():
            info = tarfile.TarInfo(f"vllm-{version}/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def wheel(folder: Path, version: str, *extra: tuple[zipfile.ZipInfo, bytes]) -> Path:
    """A wheel of the engine at a version, in a folder."""
    path = folder / f"vllm-{version}-py3-none-any.whl"
    files = {name: content for name, content in engine(version).items() if name.startswith("vllm/")}
    files[f"vllm-{version}.dist-info/METADATA"] = engine(version)["PKG-INFO"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        for info, content in extra:
            archive.writestr(info, content, info.compress_type)
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def html(*rows: str) -> bytes:
    """A page of links, as PEP 503 has it."""
    return f"<!DOCTYPE html><html><body>{''.join(rows)}</body></html>".encode()


def anchor(path: Path, href: str = "", *, hashed: bool = True) -> str:
    fragment = f"#sha256={sha256(path)}&amp;egg=x" if hashed else ""
    return f'<a href="{href or path.name}{fragment}">{path.name}</a>'


def page(*paths: Path, **hashes: str) -> bytes:
    """A listing as PEP 691 has it; `hashes` replaces what a version's file is said to have."""
    rows = [
        {
            "filename": p.name,
            "url": f"/files/{p.name}",
            "hashes": {"sha256": sha256(p)},
            "size": p.stat().st_size,
        }
        for p in paths
    ]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": "vllm", "files": rows}).encode()


class Answer(NamedTuple):
    """What the index says to one path."""

    body: Body = b""
    status: int = 200
    kind: str = "application/octet-stream"
    headers: tuple[tuple[str, str], ...] = ()


CERTIFICATE = Path(__file__).parent.parent / "data" / "tls" / "cert.pem"
JSON = "application/vnd.pypi.simple.v1+json"


class Index:
    """A server: what it answers by path, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, str | None]] = []
        """Each path, with the header that named who asked."""

    def list(self, *paths: Path) -> None:
        """List these files, and serve them."""
        self.answers["/simple/vllm/"] = Answer(page(*paths), kind=JSON)
        for path in paths:
            self.answers[f"/files/{path.name}"] = Answer(path.read_bytes())

    def count(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)


class Server(ThreadingHTTPServer):
    """A server that does not speak of clients that go away."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


@contextmanager
def serving(tls: bool = False) -> Iterator[Index]:
    """An index on a free port of this machine; with `tls` it has the certificate of tests/data/tls."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append((self.path, self.headers.get("Authorization")))
            answer = index.answers.get(self.path, Answer(b"no such page", 404))
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            if callable(answer.body):
                answer.body(self)
                return
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_name("key.pem"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    index = Index(f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
