"""The order in which the classes of an object are asked: C3, as Python computes it."""

from __future__ import annotations

from typing import Any


def merge_mro(lists: list[list[Any]]) -> list[Any]:
    """C3 linearisation of the bases' orders; falls back to first-seen order where Python would refuse."""
    out: list[Any] = []
    lists = [x for x in lists if x]
    while lists:
        head = next((x[0] for x in lists if not any(x[0] in y[1:] for y in lists)), lists[0][0])
        out.append(head)
        lists = [[c for c in x if c is not head] for x in lists]
        lists = [x for x in lists if x]
    return out
