"""What `typing` tells of types, held against CPython."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .harness import OneOf, check, evaluate

HEAD = """
import collections.abc
import typing
from typing import Any, Generic, List, Literal, Optional, TypeVar, Union, get_origin
T = TypeVar("T")
class Plain:
    pass
class Box(Generic[T]):
    pass
def told(*types):
    known = (list, dict, type, Union, Literal, collections.abc.Sequence, Box, Plain, None)
    return [[get_origin(t) is k for k in known] for t in types]
"""

CERTAIN = ("int, str, Plain", "Literal['a'], Literal", "List, List[int], typing.Dict[str, int]", "Any, None")
OPEN = {
    "list": "list",
    "list[int]": "list",
    "dict[str, int]": "dict",
    "type[int]": "type",
    "Optional[int]": "Union",
    "Union[int, str]": "Union",
    "Box": "Box",
    "Box[int]": "Box",
}
"""Types that are the same here with and without brackets, and what they are of with them."""


@pytest.mark.parametrize("types", CERTAIN)
def test_an_origin_that_brackets_do_not_change(types: str) -> None:
    text = f"{dedent(HEAD)}def main():\n    return told({types})\n"
    assert not check(text, {}, exact=True).widened


@pytest.mark.parametrize("name", OPEN)
def test_an_origin_that_hangs_on_brackets(name: str) -> None:
    text = f"{dedent(HEAD)}def main():\n    return told({name})\n"
    check(text, {})
    origin = f"def main():\n    origin = get_origin({name})\n"
    origin += f"    return 'it' if origin is {OPEN[name]} else 'none' if origin is None else 'other'\n"
    assert {value for _, value in evaluate(dedent(HEAD) + origin, {}).ends} == {"it", "none"}


def test_a_type_that_is_one_of_several() -> None:
    text = f"{dedent(HEAD)}def main(a):\n    return told(int if a else Literal['a'])\n"
    assert not check(text, {"a": OneOf((True, False))}, exact=True).widened
