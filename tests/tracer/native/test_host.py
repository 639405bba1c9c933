"""From an op to the host function that answers it, and what that function says and asks."""

from __future__ import annotations

import pytest

from qtrace.report.predicate import Site
from qtrace.tracer.native.build import cuda_facts
from qtrace.tracer.native.host import read_host
from qtrace.tracer.native.ops import OpIndex
from qtrace.tracer.sources import Held, Source


def test_an_op_leads_to_the_function_that_answers_it(source: Source, index: OpIndex) -> None:
    predicate = index.predicate("_C", "is_wide")
    assert predicate is not None
    assert predicate.sites == (Site("csrc/quant/gates.cu", 20),)
    assert predicate.params == ("capability",)
    assert predicate.needs == {"CUDART_VERSION"}
    for capability, wide in ((90, False), (100, True), (119, True), (120, False)):
        assert predicate.decide({"capability": capability}, cuda_facts(source, 12090)) is wide
        assert predicate.decide({"capability": capability}, cuda_facts(source, 12080)) is False


def test_an_op_without_such_a_function_has_none(index: OpIndex) -> None:
    assert index.predicate("_C", "two_lines") is None
    assert index.predicate("_C", "ghost") is None


@pytest.mark.parametrize(
    ("version", "capability", "answer"),
    [
        (12090, 75, False),
        (12090, 90, True),
        (12090, 100, True),
        (12090, 120, False),
        (12050, 90, True),
        (12050, 100, False),
    ],
)
def test_macros_and_arguments_decide(source: Source, version: int, capability: int, answer: bool) -> None:
    predicate = read_host(source, "by_toolkit", ["csrc/quant/gates.cu"])
    assert predicate is not None
    assert predicate.needs == {"CUDA_VERSION", "ENABLE_WIDE", "ENABLE_NARROW"}
    assert predicate.decide({"capability": capability}, cuda_facts(source, version)) is answer


def test_the_return_that_was_taken_is_named(source: Source) -> None:
    predicate = read_host(source, "by_toolkit", ["csrc/quant/gates.cu"])
    assert predicate is not None
    facts = cuda_facts(source, 12090)
    assert predicate.answer({"capability": 100}, facts).site == Site("csrc/quant/gates.cu", 28)
    assert predicate.answer({"capability": 75}, facts).site == Site("csrc/quant/gates.cu", 37)
    assert predicate.answer({}, facts).site is None


def test_what_is_missing_is_named_and_only_that(source: Source) -> None:
    predicate = read_host(source, "by_toolkit", ["csrc/quant/gates.cu"])
    assert predicate is not None
    assert predicate.decide({"capability": 75}, {}) is False
    assert predicate.answer({"capability": 90}, {"CUDA_VERSION": 12090}).needs == {
        "ENABLE_WIDE",
        "ENABLE_NARROW",
    }
    assert predicate.answer({}, {"CUDA_VERSION": 12090, "ENABLE_WIDE": None, "ENABLE_NARROW": 1}).needs == {
        "capability"
    }
    assert predicate.decide({}, {"CUDA_VERSION": None}) is False


def test_a_query_stays_a_name_until_someone_tells(source: Source) -> None:
    predicate = read_host(source, "by_runtime", ["csrc/quant/gates.cu"])
    assert predicate is not None
    known = {"ENABLE_WIDE": 1}
    assert predicate.answer({"capability": 100}, known).needs == {"cudaRuntimeGetVersion"}
    assert predicate.decide({"capability": 90}, known) is False
    assert predicate.decide({"capability": 100}, {**known, "cudaRuntimeGetVersion": 13000}) is True
    assert predicate.decide({"capability": 100}, {**known, "cudaRuntimeGetVersion": 12040}) is False


def test_a_function_defined_in_two_files_is_not_taken() -> None:
    body = b"bool f() { return true; }"
    files = {"vllm/__init__.py": b"", "PKG-INFO": b"", "csrc/a.cu": body, "csrc/b.cu": body}
    assert read_host(Source("vllm", Held(files)), "f", ["csrc/a.cu", "csrc/b.cu"]) is None
