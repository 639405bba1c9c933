"""Reading dicts and sets: the entries that a key may mean, and the order in which each path inserted them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .atoms import describe
from .hashing import atoms_of_key, equal, hash_key
from .unions import alternatives, cover, each, join, settle
from .values import MISSING, DictValue, DictView, SetValue, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine


def look_up(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    """The value under `key`, MISSING where there is none; an unknown key may be any of them."""
    return atoms_of_key(m, key, lambda k: _look_up(m, atom, k, node))


def _look_up(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    name = hash_key(m, key)
    if name is None:
        return _by_equality(m, atom, key, node)
    value = settle(m, atom.entries.get(name, (None, MISSING))[1])
    other = cover(m, atom.other)
    if other.is_false:
        return value
    label = f"{describe(atom)}[{describe(key)}]"
    there = cover(m, value) | m.holds(m.unknown(f"{describe(key)} in {describe(atom)}", node))
    known = [(g & ~other, a) for g, a in alternatives(m, value)]
    return join(m, [(other & there, m.unknown(label, node)), (m.live & other & ~there, MISSING), *known])


def _by_equality(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    """Each entry under the guard that the key equals its name (first match wins), missing elsewhere."""
    if len(atom.entries) > 64 or not cover(m, atom.other).is_false:
        there = m.holds(m.unknown(f"{describe(key)} in {describe(atom)}", node))
        return join(
            m,
            [
                (m.live & there, m.unknown(f"{describe(atom)}[{describe(key)}]", node)),
                (m.live & ~there, MISSING),
            ],
        )
    parts, hit = [], m.space.false
    for _, value, here in matches(m, atom, key, node):
        parts += [(g & here, a) for g, a in alternatives(m, value) if a is not MISSING]
        hit = hit | here
    return join(m, [*[p for p in parts if not p[0].is_false], (m.live & ~hit, MISSING)])


def matches(
    m: Machine, atom: DictValue | SetValue, key: Value, node: Node | None
) -> list[tuple[Any, Value, Guard]]:
    """(key, value, where it is the entry that `key` means) of the entries that may be meant."""
    out = []
    rest = m.live
    for name, (shown, value) in list(atom.entries.items()):
        here = cover(m, value)
        if not (here & rest).is_false:
            hit = rest & here & equal(m, key, shown, node)
            out.append((name, value, hit))
            rest = rest & m.live & ~hit
    return out


def keys_of(m: Machine, atom: DictValue | SetValue) -> Value:
    """The keys in order, one tuple for every set of keys that can be there."""
    out: Value = ()
    for key, here in in_order(m, atom):
        if not here.is_false:
            out = _with_key(m, out, atom.entries[key][0], here)
    for guard, other in alternatives(m, atom.other):
        if other is not MISSING:
            out = join(
                m, [(guard, m.unknown("the keys of a dict with an unknown key")), (m.live & ~guard, out)]
            )
    return out


def elements_of(m: Machine, view: DictView) -> Value:
    """What iterating a view gives: a tuple for every set of keys that can be there."""
    return each(m, keys_of(m, view.source), lambda keys: _elements(m, view, keys))


def _elements(m: Machine, view: DictView, keys: Value) -> Value:
    if isinstance(keys, Unknown) or view.kind == "keys":
        return keys
    return tuple(element_of(m, view, key) for key in keys)


def element_of(m: Machine, atom: DictValue | SetValue | DictView, key: Value) -> Value:
    """What walking gives for a key that is there: itself, its value, or both."""
    if not isinstance(atom, DictView) or atom.kind == "keys":
        return key
    value = look_up(m, atom.source, key, None)
    return (key, value) if atom.kind == "items" else value


def in_order(m: Machine, atom: DictValue | SetValue) -> list[tuple[Any, Guard]]:
    """(key, where it stands here) in the order of insertion; a key that moved stands in several places."""
    moves = atom.moves if isinstance(atom, DictValue) else []
    here = {key: cover(m, value) for key, (_, value) in atom.entries.items()}
    later: dict[Any, Guard] = {}
    placed: dict[int, list[tuple[Any, Guard]]] = {}
    for at, key, where in reversed(moves):
        taken = later.get(key, m.space.false)
        placed.setdefault(at, []).append((key, here[key] & where & ~taken))
        later[key] = taken | where
    out: list[tuple[Any, Guard]] = []
    for at, key in enumerate(here):
        out += reversed(placed.pop(at, []))
        out.append((key, here[key] & ~later[key] if key in later else here[key]))
    return [*out, *(found for at in sorted(placed) for found in reversed(placed[at]))]


def _with_key(m: Machine, keys: Value, name: Value, here: Guard) -> Value:
    return m.branch(
        here,
        lambda: each(m, keys, lambda k: k if isinstance(k, Unknown) else (*k, name)),
        lambda: settle(m, keys),
    )


def size_of(m: Machine, atom: DictValue | SetValue) -> Value:
    """How many entries there are."""
    if not cover(m, atom.other).is_false:
        return m.unknown(f"len({describe(atom)})", kind="int")
    counts = [m.live]
    for _, value in atom.entries.values():
        here = cover(m, value)
        grown = [m.space.false, *(c & here for c in counts)]
        counts = [(c & ~here) | g for c, g in zip([*counts, m.space.false], grown, strict=True)]
    return join(m, [(guard, count) for count, guard in enumerate(counts)])
