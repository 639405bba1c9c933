"""What the build says: macros that it defines, and those that it never does."""

from __future__ import annotations

from qtrace.tracer.native.build import build_facts, build_macros
from qtrace.tracer.sources import Source


def test_the_build_of_the_newest_toolkit_defines_what_its_architectures_ask(source: Source) -> None:
    macros = build_macros(source)
    assert macros == {"ENABLE_NARROW": 1, "ENABLE_WIDE": 1, "EXTRA_OPS": 1, "USE_CUDA": 1}


def test_an_older_toolkit_builds_less(source: Source) -> None:
    macros = build_macros(source, 12030)
    assert "ENABLE_WIDE" not in macros
    assert macros["ENABLE_THIN"] == macros["ENABLE_NARROW"] == 1


def test_what_the_build_never_defines_is_known_not_to_be(source: Source) -> None:
    facts = build_facts(source, "cuda")
    assert facts["ENABLE_WAVES"] is None and facts["USE_ROCM"] is None and facts["ENABLE_THIN"] is None
    assert "ENABLE_ON_REQUEST" not in facts
    assert build_facts(source, "rocm")["ENABLE_WAVES"] == 1
