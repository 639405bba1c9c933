"""Which ops there are on a platform: registrations, read from csrc."""

from __future__ import annotations

import pytest

from qtrace.report.predicate import Site
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.ops import OpIndex
from qtrace.tracer.sources import Held, Source


def test_the_ops_of_a_platform_are_those_its_build_compiles(index: OpIndex) -> None:
    assert index.namespaces == ("_C", "_C_cache_ops", "_moe_C")
    assert index.ops("_C") == ("braces", "extra", "is_wide", "no_wave", "on_request", "two_lines")
    assert index.ops("_C_cache_ops") == ("swap",)
    assert index.ops("_moe_C") == ("route",)
    assert len(index) == 8


def test_other_platforms_have_their_own(source: Source) -> None:
    rocm, cpu = OpIndex.read(source, Build("rocm")), OpIndex.read(source, Build("cpu"))
    assert rocm.defines("_C", "waves") and rocm.defines("_C", "wave_only")
    assert rocm.defines("_C", "no_wave") is False
    assert rocm.ops("_rocm_C") == ("paged",)
    assert "_moe_C" not in rocm.namespaces
    assert cpu.ops("_C") == ("on_the_processor",)


def test_what_an_open_condition_decides_is_not_claimed(index: OpIndex) -> None:
    assert index.defines("_C", "on_request") is None
    assert index.defines("_C", "extra") is True
    assert index.defines("_C", "wave_only") is False
    assert index.defines("_C", "ghost") is False
    assert index.defines("_somebody_else_C", "x") is None


def test_a_schema_is_one_line_and_has_its_site(index: OpIndex) -> None:
    assert index.schema("_C", "two_lines") == "two_lines(Tensor a, int b) -> Tensor"
    assert index.site("_C", "two_lines") == Site("csrc/bindings.cpp", 5)
    assert index.schema("_C", "ghost") is None and index.site("_C", "ghost") is None


def test_implementations_keep_their_key(index: OpIndex) -> None:
    swap = index.get("_C_cache_ops", "swap")
    two_lines = index.get("_C", "two_lines")
    assert swap and [(i.key, i.function) for i in swap.implementations] == [("", "swap"), ("CUDA", "swap")]
    assert two_lines and [(i.key, i.function) for i in two_lines.implementations] == [
        ("CUDA", "two_lines_cuda")
    ]


def test_without_csrc_nothing_is_claimed() -> None:
    index = OpIndex.read(Source("vllm", Held({"vllm/__init__.py": b""})))
    assert len(index) == 0
    assert index.defines("_C", "two_lines") is None


@pytest.mark.parametrize(
    "text",
    [
        "TORCH_LIBRARY(",
        "TORCH_LIBRARY(_C, m) {",
        'TORCH_LIBRARY(_C, m) { m.def("a(',
        'TORCH_LIBRARY(_C, m) { m.def(NAME); m.def(""); m.def(); }',
        "#if (((\n#elif\n#endif\n#endif\n#else\nTORCH_LIBRARY(_C, m) {}",
    ],
)
def test_broken_registrations_are_no_ops_and_no_error(text: str) -> None:
    files = {"vllm/__init__.py": b"", "csrc/a.cpp": text.encode(), "PKG-INFO": b""}
    assert len(OpIndex.read(Source("vllm", Held(files)))) == 0
