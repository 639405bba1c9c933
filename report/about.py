"""What a condition of C++ is about: dtypes and shapes of tensors, or something else."""

from __future__ import annotations

import re

from .outcome import bits_of
from .predicate import AllOf, Always, AnyOf, Compare, Not, Predicate

SHAPE = re.compile(r"\.(?:numel|size|dim|stride)\(")
"""A tensor asked for its shape."""
ASKED = "scalar_type()"
"""How a tensor's dtype is asked for in C++."""


def about_tensors(test: Predicate) -> bool:
    """Whether a condition is on the dtypes and shapes of tensors alone."""
    if isinstance(test, AllOf | AnyOf):
        return all(map(about_tensors, test.items))
    if isinstance(test, Not):
        return about_tensors(test.item)
    if isinstance(test, Compare):
        return is_dtype(test) or SHAPE.search(test.left) is not None
    return isinstance(test, Always)


def is_dtype(test: Compare) -> bool:
    """Whether a comparison is of a tensor's dtype."""
    return test.left.endswith(ASKED) and bits_of(test.right) is not None
