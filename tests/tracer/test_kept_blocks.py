"""Facts as bytes: a lowered block is read back as it was, to the type of each literal, or not kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.msgpack import Decoder

from qtrace.tracer import tree
from qtrace.tracer.index import ClassIndex, ModuleIndex, class_header, index_module, statement_block
from qtrace.tracer.kept.written import decoded, encoded, literal
from qtrace.tracer.lower import lower_block
from qtrace.tracer.sources import Source

SAMPLE = Path(__file__).parent.parent / "data" / "lower" / "constructs.py.txt"
FILES = (
    "vllm/__init__.py",
    "vllm/platforms/cuda.py",
    "vllm/model_executor/layers/quantization/fp8.py",
    "vllm/model_executor/layers/linear.py",
    "vllm/utils/torch_utils.py",
)
BLOCK = Decoder(tree.Block, ext_hook=literal)

constants = st.one_of(
    st.none(),
    st.booleans(),
    st.just(...),
    st.integers(),
    st.sampled_from((2**63, 2**64 - 1, 2**64, -(2**63) - 1)),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs"]), min_size=1),
    st.binary(),
)


def again(block: tree.Block) -> tree.Block | None:
    return decoded(BLOCK, encoded(block))


def kinds(part: Any) -> Iterator[type]:
    """The classes of all nodes of a tree."""
    if isinstance(part, tuple):
        for each in part:
            yield from kinds(each)
    elif hasattr(part, "__struct_fields__"):
        yield type(part)
        for name in part.__struct_fields__:
            yield from kinds(getattr(part, name))


def blocks(text: str) -> Iterator[tree.Block]:
    for statement in index_module(text).statements:
        yield statement_block(text, statement)
        if isinstance(statement, ClassIndex):
            yield (class_header(text, statement),)


def test_every_kind_of_node_is_read_back_as_it_was() -> None:
    block = lower_block(f"{SAMPLE.read_text()}\nmatch x:\n    case 1:\n        pass\n", 1)
    assert set(tree.Node.__subclasses__()) <= set(kinds(block))
    assert again(block) == block and repr(again(block)) == repr(block)


@pytest.mark.parametrize("path", FILES)
def test_what_the_engine_is_made_of_is_read_back_as_it_was(vllm_source: Source, path: str) -> None:
    text = vllm_source.text(path) or ""
    index = index_module(text)
    assert decoded(Decoder(ModuleIndex), encoded(index)) == index
    for block in blocks(text):
        assert again(block) == block and repr(again(block)) == repr(block)


@given(constants, st.integers(1, 10**6))
def test_a_literal_keeps_its_type_and_value_or_is_not_kept(value: object, line: int) -> None:
    block = (tree.ExprStmt(line, tree.Const(line, value)),)
    data = encoded(block)
    if data is None:
        assert isinstance(value, int | str)  # too large, or no text
        assert not isinstance(value, int) or not -(2**63) <= value < 2**64
    else:
        (found,) = decoded(BLOCK, data) or ()
        assert isinstance(found, tree.ExprStmt) and isinstance(found.value, tree.Const)
        assert type(found.value.value) is type(value) and repr(found) == repr(block[0])


def test_a_tree_that_is_too_deep_is_not_kept() -> None:
    node: tree.Node = tree.Const(1, 1)
    for _ in range(100_000):
        node = tree.Await(1, node)
    assert encoded((tree.ExprStmt(1, node),)) is None


@given(st.binary(max_size=60))
def test_bytes_that_are_no_block_are_none(data: bytes) -> None:
    found = decoded(BLOCK, data)
    assert found is None or all(isinstance(node, tree.Node) for node in found)
