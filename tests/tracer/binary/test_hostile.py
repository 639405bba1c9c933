"""What is no wheel, is cut off or was bent on purpose: one line that says what, where and what to do."""

from __future__ import annotations

import os
import stat
import struct
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from binaries import FLASHMLA, MARLIN, library, marlin, member
from indexes import wheel

from qtrace.report.errors import SourceError
from qtrace.tracer import archive
from qtrace.tracer.binary import listing, members, tool
from qtrace.tracer.binary.cubin import read_cubin, read_ptx
from qtrace.tracer.binary.elf import BrokenElfError
from qtrace.tracer.binary.listing import libraries

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cuobjdump is for Linux")


def refused(path: Path) -> str:
    with pytest.raises(SourceError) as caught:
        libraries(path)
    message = str(caught.value)
    assert message.isprintable() and path.name in message and "; " in message
    return message


@pytest.mark.parametrize("size", [4, 63, 64, 1000, 100_000, 219_735])
def test_a_library_that_is_cut_off(tmp_path: Path, size: int) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(FLASHMLA.read_bytes()[:size])
    assert "is cut off" in refused(path) or "is no ELF file" in refused(path)


def test_in_a_wheel_the_library_is_named(tmp_path: Path) -> None:
    path = wheel(tmp_path, "1.2.3", member("vllm/lib.so", FLASHMLA.read_bytes()[:1000]))
    assert f"{path}: vllm/lib.so: is cut off" in refused(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "neither a wheel nor a shared library"),
        (b"INPUT(libx.so.1)\n", "neither a wheel nor a shared library"),
        (b"PK\3\4" + bytes(100), "is corrupt or truncated"),
        (b"\x7fELF\1\1" + bytes(100), "is no ELF file for 64 bits"),
        (library(MARLIN.read_bytes()[:-200]), "has GPU code that cuobjdump cannot read"),
        (library(MARLIN.read_bytes()[:2500] + b"\xff" * 1000), "has GPU code that cuobjdump cannot read"),
        (library(b"no modules of GPU code"), "has GPU code that cuobjdump cannot read"),
    ],
)
def test_a_file_that_is_something_else(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(content)
    message = refused(path)
    assert reason in message and str(tool.cuobjdump().parent) not in message and "/said" not in message


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert "is no file and no folder" in refused(tmp_path / "nothing.whl")
    os.mkfifo(tmp_path / "pipe.so")
    assert "is no file and no folder" in refused(tmp_path / "pipe.so")


def test_a_wheel_or_folder_without_libraries(tmp_path: Path) -> None:
    assert "holds no shared library" in refused(wheel(tmp_path, "1.2.3"))
    assert "holds no shared library" in refused(tmp_path)


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        (member("../lib.so", b""), "leads out"),
        (member("vllm/../../lib.so", b""), "leads out"),
        (member("/lib.so", b""), "leads out"),
        (member("vllm/link.so", b"/etc/passwd", stat.S_IFLNK | 0o777), "no plain file"),
        (member("vllm/lib.so", b"x" * 100, packed=zipfile.ZIP_LZMA), "is packed as no wheel is"),
    ],
)
def test_a_member_that_no_wheel_holds(
    tmp_path: Path, extra: tuple[zipfile.ZipInfo, bytes], reason: str
) -> None:
    assert reason in refused(wheel(tmp_path, "1.2.3", extra))


def test_a_library_that_is_there_twice(tmp_path: Path) -> None:
    twice = member("vllm/lib.so", marlin()), member("vllm/lib.so", b"")
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = wheel(tmp_path, "1.2.3", *twice)
    assert "names 'vllm/lib.so' twice" in refused(path)


def test_a_member_that_is_broken(tmp_path: Path) -> None:
    path = wheel(tmp_path, "1.2.3", member("vllm/lib.so", marlin(), packed=zipfile.ZIP_STORED))
    data = path.read_bytes()
    at = data.index(b"\x7fELF")
    path.write_bytes(data[: at + 80] + b"\xff" + data[at + 81 :])
    assert "cannot be unpacked at 'vllm/lib.so' (Bad CRC-32" in refused(path)


def test_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(tmp_path, "1.2.3", member("vllm/lib.so", bytes(10_000)))
    monkeypatch.setattr(members, "MAX_LIBRARY", 9_999)
    assert "has a library over 9,999 bytes: 'vllm/lib.so'" in refused(path)
    monkeypatch.setattr(archive, "MAX_TOTAL", 9_000)
    assert "unpacks to over 9,000 bytes" in refused(path)


def test_a_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    path = wheel(tmp_path, "1.2.3", member("vllm/lib.so", bytes(10_000)))
    data = bytearray(path.read_bytes())
    for found in (data.index(struct.pack("<I", 10_000)), data.rindex(struct.pack("<I", 10_000))):
        data[found : found + 4] = struct.pack("<I", 100)
    path.write_bytes(data)
    assert "cannot be unpacked at 'vllm/lib.so'" in refused(path)


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    for number, target in enumerate((str(FLASHMLA), "/dev/zero", "nothing.so", "link.so")):
        link = tmp_path / "package" / "link.so"
        link.symlink_to(target)
        assert "is a link that leads out of the folder" in refusal_below(tmp_path / "package"), number
        link.unlink()


def refusal_below(folder: Path) -> str:
    with pytest.raises(SourceError) as caught:
        libraries(folder)
    return str(caught.value)


@contextmanager
def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Iterator[Path]:
    """Another program in the place of cuobjdump, and a library to give it."""
    path = folder / "cuobjdump"
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(listing, "cuobjdump", lambda: path)
    (folder / "lib.so").write_bytes(marlin())
    yield folder / "lib.so"


def test_a_program_that_hangs_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "TIMEOUT", 0.5)
    script = f"/bin/sleep 600 & echo $! > {tmp_path}/child; wait"
    start = time.monotonic()
    with program(tmp_path, monkeypatch, script) as path:
        assert "keeps cuobjdump busy for over 0.5 seconds" in refused(path)
    assert time.monotonic() - start < 10
    state = Path("/proc", (tmp_path / "child").read_text().strip(), "stat")
    assert not state.exists() or state.read_text().rpartition(") ")[2].startswith("Z")


def test_gpu_code_that_unpacks_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "MAX_EXTRACTED", 1 << 20)
    script = "while :; do echo x > $RANDOM$RANDOM; /bin/head -c 900000 /dev/zero > $RANDOM; done"
    with program(tmp_path, monkeypatch, script) as path:
        assert "unpacks to over 1,048,576 bytes of GPU code" in refused(path)


def test_a_program_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with program(tmp_path, monkeypatch, "") as path:
        (tmp_path / "cuobjdump").write_bytes(b"\0")
        assert "cannot be started" in refusal_below(path)


def test_a_program_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with program(tmp_path, monkeypatch, "kill -SEGV $$") as path:
        assert "cannot read (exit code -11)" in refused(path)


def test_modules_that_are_bent(tmp_path: Path) -> None:
    cubin, text = tmp_path / "library.1.sm_80.cubin", tmp_path / "library.1.sm_80.ptx"
    for content in (b"", b"\x7fELF\2\1\1" + bytes(57), library(b"")[:-1]):
        cubin.write_bytes(content)
        with pytest.raises(BrokenElfError):
            read_cubin(cubin)
    for words in ("", ".target sm_1\n", ".target sm_80\n.entry \u00e4(\n"):
        text.write_text(words)
        if words.endswith("(\n"):
            assert read_ptx(text).kernels == frozenset()
        else:
            with pytest.raises(BrokenElfError):
                read_ptx(text)
