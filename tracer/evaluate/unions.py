"""Guarded sets: reading them on the current path, joining them at merges, applying functions to their
atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from .values import CONSTANTS, MISSING, Guarded, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine

WIDEST = 64
"""Alternatives a value may have before it is widened to an unknown."""


def same(a: Value, b: Value) -> bool:
    """Whether two atoms are certainly the same value, so that a join keeps one."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float | complex):
        return repr(a) == repr(b)
    if isinstance(a, CONSTANTS):
        return bool(a == b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Unknown):
        return bool(a.key == b.key)
    return False


def alternatives(m: Machine, value: Value) -> list[tuple[Guard, Value]]:
    """The atoms of `value` that the current path can meet, each under its part of the path."""
    if type(value) is not Guarded:
        return [(m.live, value)]
    if value.path is m.live:
        return list(value.alts)
    out = []
    for guard, atom in value.alts:
        on_path = guard & m.live
        if not on_path.is_false:
            out.append((on_path, atom))
    return out


def cover(m: Machine, value: Value) -> Guard:
    """Where on the current path `value` is there at all."""
    guard = m.space.false
    for on_path, atom in alternatives(m, value):
        if atom is not MISSING:
            guard = guard | on_path
    return guard


def join(m: Machine, parts: Iterable[tuple[Guard, Value]], path: Guard | None = None) -> Value:
    """One value out of values that hold under disjoint guards, whose union `path` is if given; equal atoms
    are merged.
    """
    flat: list[tuple[Guard, Value]] = []
    for guard, value in parts:
        if type(value) is Guarded and value.path is guard:
            flat += value.alts
        elif type(value) is Guarded:
            flat += [(g, a) for h, a in value.alts if not (g := guard & h).is_false]
        elif not guard.is_false:
            flat.append((guard, value))
    return _pack(m, flat, path)


def _pack(m: Machine, flat: list[tuple[Guard, Value]], path: Guard | None) -> Value:
    merged: list[tuple[Guard, Value]] = []
    for guard, atom in flat:
        for i, (seen, other) in enumerate(merged):
            if same(atom, other):
                merged[i] = (seen | guard, other)
                break
        else:
            merged.append((guard, atom))
    merged = _one_tensor(m, merged)
    if len(merged) == 1:
        return merged[0][1]
    if len(merged) > WIDEST:
        return _widened(m, merged)
    return Guarded(tuple(merged), path)


def _one_tensor(m: Machine, merged: list[tuple[Guard, Value]]) -> list[tuple[Guard, Value]]:
    """Tensors of which nothing is known are one such tensor: telling them apart decides nothing."""
    blank = [(g, a) for g, a in merged if isinstance(a, Unknown) and a.kind == "tensor"]
    if len(blank) < 2:
        return merged
    guard = m.space.false
    for part, _ in blank:
        guard = guard | part
    rest = [(g, a) for g, a in merged if not (isinstance(a, Unknown) and a.kind == "tensor")]
    return [*rest, (guard, m.unknown("a tensor", kind="tensor"))]


def _widened(m: Machine, parts: list[tuple[Guard, Value]]) -> Value:
    """One unknown instead of many values; where there is none at all stays known."""
    m.coverage.budget(f"a value with more than {WIDEST} alternatives")
    there, gone = m.space.false, m.space.false
    for guard, atom in parts:
        there, gone = (there, gone | guard) if atom is MISSING else (there | guard, gone)
    unknown = m.unknown(f"one of {len(parts)} values")
    return unknown if gone.is_false else Guarded(((gone, MISSING), (there, unknown)))


def store(m: Machine, old: Value, new: Value, born: Guard) -> Value:
    """What a slot holds after `new` is written to it on the current path; `born` is where the slot exists."""
    if m.live is born:
        return new
    parts: list[tuple[Guard, Value]] = [(m.live, new)]
    elsewhere = born & ~m.live
    parts.append((elsewhere, old))
    flat: list[tuple[Guard, Value]] = []
    for guard, value in parts:
        if type(value) is Guarded:
            flat += [(g, a) for h, a in value.alts if not (g := guard & h).is_false]
        elif not guard.is_false:
            flat.append((guard, value))
    if len(flat) == 1:
        return flat[0][1] if flat[0][0] is born else Guarded(tuple(flat))
    return _pack(m, flat, None)


def settle(m: Machine, value: Value) -> Value:
    """`value` as the current path sees it: one atom when only one is possible here."""
    if type(value) is not Guarded:
        return value
    alts = alternatives(m, value)
    if len(alts) == 1 and alts[0][0] is m.live:
        return alts[0][1]
    return Guarded(tuple(alts))


def each(m: Machine, value: Value, apply: Callable[[Value], Value]) -> Value:
    """`apply` on every atom of `value`, each on its own part of the path, joined again."""
    if type(value) is not Guarded:
        return apply(value)
    alts = alternatives(m, value)
    if len(alts) == 1 and alts[0][0] is m.live:
        return apply(alts[0][1])
    whole = m.live if value.path is m.live else None
    return m.split([(guard, partial(apply, atom)) for guard, atom in alts], whole)


def each2(m: Machine, left: Value, right: Value, apply: Callable[[Value, Value], Value]) -> Value:
    """`apply` on every pair of atoms that can meet."""
    if type(left) is not Guarded and type(right) is not Guarded:
        return apply(left, right)
    return each(m, left, lambda a: each(m, right, lambda b: apply(a, b)))
