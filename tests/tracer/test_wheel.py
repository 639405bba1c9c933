"""Wheels: read in place like an sdist, and nothing from a hostile one."""

from __future__ import annotations

import stat
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from indexes import wheel

from qtrace.report.errors import SourceError
from qtrace.tracer import archive, wheel as wheels
from qtrace.tracer.sources import open_source


def member(
    name: str, content: bytes = b"", mode: int = 0, packed: int = zipfile.ZIP_DEFLATED
) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = packed
    return info, content


def refused(path: Path) -> str:
    with pytest.raises(SourceError) as caught:
        open_source(path)
    message = str(caught.value)
    assert message.isprintable() and path.name in message and "; " in message
    return message


def test_a_wheel_is_read_in_place(tmp_path: Path) -> None:
    source = open_source(
        wheel(tmp_path, "1.2.3", member("csrc/ops.cpp", b"int x;"), member("vllm/lib.so", b"x"))
    )
    assert (source.version, source.has_native) == ("1.2.3", False)
    assert source.text("vllm/__init__.py") == "VERSION = '1.2.3'\n"
    assert source.files("vllm/") == ("vllm/__init__.py", "vllm/config/model.py")


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        (member("../x.py"), "leads out"),
        (member("vllm/../../x.py"), "leads out"),
        (member("/etc/x.py"), "leads out"),
        (member("vllm\\..\\x.py"), "leads out"),
        (member("vllm/x.py", b"/etc/passwd", stat.S_IFLNK | 0o777), "no plain file"),
        (member("vllm/x.py", b"", stat.S_IFIFO), "no plain file"),
        (member("vllm/config/model.py", b"again"), "twice"),
        (member("vllm/x.py", b"x" * 100, packed=zipfile.ZIP_BZIP2), "is packed as no wheel is"),
        (member("vllm/x.py", b"x" * 100, packed=zipfile.ZIP_LZMA), "is packed as no wheel is"),
    ],
)
def test_a_member_that_no_wheel_holds_is_refused(
    tmp_path: Path, extra: tuple[zipfile.ZipInfo, bytes], reason: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zipfile's own, of a name that is there already
        path = wheel(tmp_path, "1.2.3", extra)
    assert reason in refused(path)


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_MEMBERS", 2, "over 2 members"),
        ("MAX_TOTAL", 60, "unpacks to over 60 bytes"),
        ("MAX_FILE", 10, "a file over 10 bytes"),
        ("MAX_KEPT", 60, "over 60 bytes of source"),
    ],
)
def test_limits_hold_in_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(archive, limit, value)
    assert reason in refused(wheel(tmp_path, "1.2.3"))


def test_a_long_directory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "MAX_DIRECTORY", 100)
    assert "has a directory over 100 bytes" in refused(wheel(tmp_path, "1.2.3"))


def test_a_bomb_that_calls_itself_small_is_not_unpacked(tmp_path: Path) -> None:
    """A member that unpacks to 64 MiB and states 10 bytes: no more than that is held."""
    true, stated = struct.pack("<L", (64 << 20) + 321), struct.pack("<L", 10)
    path = wheel(tmp_path, "1.2.3", member("vllm/bomb.py", bytes((64 << 20) + 321)))
    data = path.read_bytes()
    assert data.count(true) == 2
    path.write_bytes(data.replace(true, stated))
    tracemalloc.start()
    try:
        assert "corrupt or truncated (Bad CRC-32" in refused(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "broken",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-30],
        lambda data: data[:60] + bytes(20) + data[80:],
        lambda data: b"PK" + bytes(100),
        lambda data: b"PK\x05\x06" + bytes(18),
    ],
)
def test_a_broken_wheel_is_refused(tmp_path: Path, broken: Callable[[bytes], bytes]) -> None:
    path = wheel(tmp_path, "1.2.3")
    path.write_bytes(broken(path.read_bytes()))
    assert "corrupt or truncated" in refused(path) or "holds no vllm" in refused(path)


def test_a_wheel_with_a_password_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path, "1.2.3")
    data = path.read_bytes()
    path.write_bytes(
        data.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")
    )
    assert "corrupt or truncated" in refused(path)
