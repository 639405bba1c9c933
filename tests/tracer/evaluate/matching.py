"""Structural equality of an evaluated value and a Python object, under one choice of the unknowns."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qtrace.report.predicate import Scalar
from qtrace.tracer.evaluate.entries import keys_of, look_up
from qtrace.tracer.evaluate.machine import Machine
from qtrace.tracer.evaluate.values import (
    CONSTANTS,
    LIBRARY_ERROR,
    MISSING,
    ClassValue,
    DictValue,
    Guarded,
    Instance,
    ListValue,
    NativeClass,
    SetValue,
    Unknown,
    Value,
)
from qtrace.tracer.guards import Guard


@dataclass(frozen=True)
class Raised:
    """An outcome: this exception left the function."""

    error: Any


class Match:
    """Structural equality of an evaluated value and a Python object, for one choice of the unknowns."""

    def __init__(self, m: Machine, chosen: Mapping[str, Scalar], exact: bool = False) -> None:
        self.m, self.chosen, self.exact = m, chosen, exact

    def outcome(self, value: Value, expected: Any, guard: Guard) -> bool:
        if isinstance(value, Raised) != isinstance(expected, Raised):
            return False
        if isinstance(value, Raised):
            return self.exception(value.error, expected.error, guard)
        return self.value(value, expected, guard)

    def exception(self, error: Instance, expected: BaseException, guard: Guard) -> bool:
        if error.cls.symbol == LIBRARY_ERROR:
            return not self.exact
        if error.cls.name != type(expected).__name__:
            return False
        own = type(expected).__module__ != "builtins"
        return not own or self.value(error.attrs.get("args", ()), expected.args, guard)

    def value(self, value: Value, expected: Any, guard: Guard) -> bool:
        return any(self.atom(atom, expected, g) for g, atom in self.alternatives(value, guard))

    def alternatives(self, value: Value, guard: Guard) -> Iterator[tuple[Guard, Value]]:
        for g, atom in value.alts if isinstance(value, Guarded) else [(guard, value)]:
            here = self.m.space.assign(g, self.chosen) & guard
            if not here.is_false:
                yield here, atom

    def atom(self, atom: Value, expected: Any, guard: Guard) -> bool:
        if isinstance(atom, Unknown):
            return not self.exact
        if atom is MISSING:
            return False
        if isinstance(atom, CONSTANTS):
            return constant(atom, expected)
        if isinstance(atom, Instance):
            return self.instance(atom, expected, guard)
        if isinstance(atom, ClassValue | NativeClass):
            return isinstance(expected, type) and expected.__name__ == atom.name
        if isinstance(atom, tuple):
            return type(expected) is tuple and self.items(atom, expected, guard)
        if isinstance(atom, range):
            return bool(atom == expected)
        if isinstance(atom, ListValue):
            return type(expected) is list and self.content(atom.content, expected, guard)
        if isinstance(atom, DictValue):
            return isinstance(expected, dict) and self.mapping(atom, expected, guard)
        if isinstance(atom, SetValue):
            return isinstance(expected, set | frozenset) and self.members(atom, expected, guard)
        raise TypeError(f"no rule to compare {atom!r}")

    def content(self, value: Value, expected: Any, guard: Guard) -> bool:
        for g, items in self.alternatives(value, guard):
            if isinstance(items, Unknown):
                if not self.exact:
                    return True
            elif self.items(items, expected, g):
                return True
        return False

    def items(self, items: tuple[Value, ...], expected: Any, guard: Guard) -> bool:
        pairs = zip(items, expected, strict=False)
        return len(items) == len(expected) and all(self.value(a, b, guard) for a, b in pairs)

    def mapping(self, atom: DictValue, expected: dict[Any, Any], guard: Guard) -> bool:
        if atom.other is not MISSING:
            return not self.exact
        orders = self.keys(atom, guard)
        return any(
            len(keys) == len(expected)
            and all(self.value(k, e, g) for k, e in zip(keys, expected, strict=True))
            and all(self.entry(atom, k, expected[e], g) for k, e in zip(keys, expected, strict=True))
            for g, keys in orders
        )

    def keys(self, atom: DictValue | SetValue, guard: Guard) -> Iterator[tuple[Guard, tuple[Value, ...]]]:
        live, self.m.live = self.m.live, guard
        found = keys_of(self.m, atom)
        self.m.live = live
        yield from self.alternatives(found, guard)

    def entry(self, atom: DictValue, key: Value, expected: Any, guard: Guard) -> bool:
        live, self.m.live = self.m.live, guard
        found = look_up(self.m, atom, key, None)
        self.m.live = live
        return self.value(found, expected, guard)

    def members(self, atom: SetValue, expected: Any, guard: Guard) -> bool:
        if atom.other is not MISSING:
            return not self.exact
        for g, keys in self.keys(atom, guard):
            left = list(expected)
            for key in keys:
                found = next((e for e in left if self.value(key, e, g)), MISSING)
                if found is MISSING:
                    break
                left.remove(found)
            else:
                if not left:
                    return True
        return False

    def instance(self, atom: Instance, expected: Any, guard: Guard) -> bool:
        if atom.cls.name != type(expected).__name__:
            return False
        if isinstance(expected, enum.Enum):
            return bool(atom.attrs["name"] == expected.name)
        if isinstance(expected, tuple):
            return self.items(atom.payload, tuple(expected), guard)
        if isinstance(expected, BaseException):
            return self.exception(atom, expected, guard)
        if not hasattr(expected, "__dict__"):
            return True
        held = vars(expected)
        for name, value in atom.attrs.items():
            for g, one in self.alternatives(value, guard):
                if (one is MISSING) == (name in held) and g.is_true:
                    return False
        return all(self.value(atom.attrs.get(k, MISSING), v, guard) for k, v in held.items())


def constant(atom: Value, expected: Any) -> bool:
    if type(atom) is not type(expected):
        return False
    if isinstance(atom, float):
        return repr(atom) == repr(expected)
    return bool(atom == expected)
