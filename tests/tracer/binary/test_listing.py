"""Kernels of real libraries: named, with the architectures they are compiled for; nothing is loaded."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from binaries import DATA, FLASHMLA, MARLIN, library, marlin, member
from indexes import wheel

from qtrace.report.errors import UsageError
from qtrace.tracer.binary import tool
from qtrace.tracer.binary.facts import Compiled, Library, Ptx
from qtrace.tracer.binary.listing import libraries

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cuobjdump is for Linux")

DEFAULT = Compiled(
    mangled="_ZN16marlin_moe_wna1613MarlinDefaultEPK4int4S2_PS0_S3_S2_PKfS2_S5_S2_PKiS7_S7_S5_ibiiiPibbb",
    architectures=("sm_75", "sm_80"),
    ptx=("compute_80",),
)
HOST = Path(msgspec._core.__file__)
"""A library without GPU code that is there wherever qtrace is."""


def expected(path: str) -> Library:
    return Library(path=path, kernels=(DEFAULT,), ptx=(Ptx(target="compute_80", images=1),))


def test_a_whole_library() -> None:
    (found,) = libraries(FLASHMLA)
    assert (found.path, len(found.kernels), found.ptx) == (FLASHMLA.name, 8, ())
    # The cubins are called sm_100; what ptxas was asked for is in their notes.
    assert {kernel.architectures for kernel in found.kernels} == {("sm_90a", "sm_100f")}
    assert [kernel.mangled for kernel in found.kernels] == sorted(kernel.mangled for kernel in found.kernels)
    assert found.kernels[0].mangled == "_Z23get_mla_metadata_kernel19Mla_metadata_params"


def test_machine_code_and_ptx_of_one_kernel(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(marlin())
    assert libraries(path) == (expected("lib.so"),)


def test_modules_that_hold_the_same_kernel_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(library(MARLIN.read_bytes() * 3))
    (found,) = libraries(path)
    assert found.kernels == (DEFAULT,)
    assert found.ptx == (Ptx(target="compute_80", images=3),)


def test_a_wheel(tmp_path: Path) -> None:
    path = wheel(
        tmp_path, "1.2.3", member("vllm/z.abi3.so", marlin()), member("vllm/a.so.12", HOST.read_bytes())
    )
    assert libraries(path) == (Library(path="vllm/a.so.12"), expected("vllm/z.abi3.so"))


def test_a_folder_with_odd_names(tmp_path: Path) -> None:
    name = "-x 'all' $(id),%s\u00e9.so"
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / name).write_bytes(marlin())
    (tmp_path / "inner" / "link.so").symlink_to(name)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "host.so").write_bytes(HOST.read_bytes())
    (tmp_path / "notes.txt").write_text("no library")
    assert libraries(tmp_path) == (Library(path="host.so"), expected(f"inner/{name}"))


def test_gpu_code_that_waits_to_be_linked(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(library(MARLIN.read_bytes(), "__nv_relfatbin"))
    assert libraries(path) == (expected("lib.so"),)


def test_without_gpu_code_no_program_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "DISTRIBUTION", "qtrace-no-such-distribution")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert libraries(HOST) == (Library(path=HOST.name),)
    with pytest.raises(UsageError, match=r"no cuobjdump is installed.*; pip install 'qtrace\[binary\]'$"):
        libraries(FLASHMLA)


def test_a_program_on_the_path_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cuobjdump").symlink_to(tool.cuobjdump())
    monkeypatch.setattr(tool, "DISTRIBUTION", "qtrace-no-such-distribution")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tool.cuobjdump() == tmp_path / "cuobjdump"
    assert len(libraries(FLASHMLA)[0].kernels) == 8


@pytest.mark.full
@pytest.mark.skipif("QTRACE_WHEEL" not in os.environ, reason="QTRACE_WHEEL names no wheel of vLLM 0.33.0")
def test_a_whole_wheel() -> None:
    found = libraries(Path(os.environ["QTRACE_WHEEL"]))
    assert {library.path: counted(library) for library in found} == json.loads(
        (DATA / "vllm-0.33.0.json").read_text()
    )


def counted(library: Library) -> dict[str, object]:
    code = Counter(name for kernel in library.kernels for name in (*kernel.architectures, *kernel.ptx))
    return {
        "kernels": len(library.kernels),
        "code": dict(code),
        "ptx_images": {ptx.target: ptx.images for ptx in library.ptx},
    }
