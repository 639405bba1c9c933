"""What a condition of C++ is about: dtypes and shapes of tensors, or something else."""

from __future__ import annotations

import re

from .outcome import bits_of
from .predicate import Always, Compare, Leaf, Predicate, leaves

SHAPE = re.compile(r"\.(?:numel|size|dim|stride)\(")
"""A tensor asked for its shape."""
ASKED = "scalar_type()"
"""How a tensor's dtype is asked for in C++."""


def about_tensors(test: Predicate) -> bool:
    """Whether a condition is on the dtypes and shapes of tensors alone."""
    return all(isinstance(leaf, Always) or _of_a_tensor(leaf) for leaf in leaves(test))


def _of_a_tensor(leaf: Leaf) -> bool:
    return isinstance(leaf, Compare) and (is_dtype(leaf) or SHAPE.search(leaf.left) is not None)


def is_dtype(test: Compare) -> bool:
    """Whether a comparison is of a tensor's dtype."""
    return test.left.endswith(ASKED) and bits_of(test.right) is not None
