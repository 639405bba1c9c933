"""Enum classes: their members, by name and by value."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from .. import tree
from . import inheritance
from .atoms import describe, plain
from .hashing import equal
from .unions import each, join
from .values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    DictValue,
    Function,
    Instance,
    Native,
    NativeClass,
    Value,
    Wrapper,
)

if TYPE_CHECKING:
    from .machine import Machine

VALUE_LIKE = {
    "enum.IntEnum",
    "enum.StrEnum",
    "enum.IntFlag",
    "enum.Flag",
    "builtins.str",
    "builtins.int",
    "builtins.float",
}
"""Bases that make a member a value of its own kind: it compares and hashes as that."""


class AutoValue:
    """`enum.auto()` before its member is known."""


def make_members(m: Machine, cls: ClassValue, block: tree.Block) -> None:
    """Turn what the statements of an enum's body bind into members."""
    for node in block:
        for target in node.targets if isinstance(node, tree.Assign) else ():
            if isinstance(target, tree.Name) and target.id in cls.attrs:
                cls.attrs[target.id] = _member(m, cls, target.id, cls.attrs[target.id])


def _member(m: Machine, cls: ClassValue, name: str, value: Value) -> Value:
    """A class attribute of an enum as its member; methods, private names and descriptors stay as they are."""
    kept = Function | Descriptor | Native | Bound | ClassValue | NativeClass | Wrapper
    if name.startswith("_") or isinstance(value, kept) or (isinstance(value, Instance) and value.cls is cls):
        return value
    before = _before(m, cls, name)
    if isinstance(value, AutoValue):
        value = _automatic(cls, name, before)
    for other in before:
        if isinstance(value, (*CONSTANTS, tuple)) and same_value(value, other.attrs["value"]):
            return other  # an alias
    return _new_member(m, cls, name, value)


def same_value(a: Value, b: Value) -> bool:
    return isinstance(b, (*CONSTANTS, tuple)) and bool(a == b)


def _before(m: Machine, cls: ClassValue, name: str) -> list[Instance]:
    """The members that the text makes before this one."""
    names = cls.scope.named() if cls.scope is not None else list(cls.attrs)
    earlier = names[: names.index(name)] if name in names else names
    found = [inheritance.held_attribute(m, cls, other) for other in earlier]
    return _distinct(item for item in found if isinstance(item, Instance) and item.cls is cls)


def _distinct(items: Any) -> list[Instance]:
    out: list[Instance] = []
    for item in items:
        if not any(item is other for other in out):
            out.append(item)
    return out


def _automatic(cls: ClassValue, name: str, before: list[Instance]) -> Value:
    """What `auto()` means: the lower-case name of a text, one more than the last number, the next bit of a
    flag.
    """
    kinds = {base.symbol for base in cls.mro}
    if "enum.StrEnum" in kinds:
        return name.lower()
    numbers = [n for n in (plain(o.attrs["value"]) for o in before) if isinstance(n, int)]
    if "enum.Flag" in kinds:
        return 1 << max(numbers).bit_length() if numbers else 1
    return max(numbers) + 1 if numbers else 1


def _new_member(m: Machine, cls: ClassValue, name: str, value: Value) -> Instance:
    from .calls import call_value

    mixed = any(b.symbol in VALUE_LIKE for b in cls.mro[1:])
    member = Instance(cls, m.space.true, value if mixed else MISSING)
    member.attrs |= {"name": name, "_name_": name, "value": value, "_value_": value}
    with cls.scope.completed() if cls.scope is not None else nullcontext():
        init = inheritance.class_attribute(m, cls, "__init__")
    if isinstance(init, Function | Wrapper):
        args = value if isinstance(value, tuple) else (value,)
        call_value(m, inheritance.bind(m, init, member), args, {}, None)
    return member


def members(m: Machine, cls: ClassValue) -> list[Instance]:
    """The members of an enum in the order of the text."""
    return _distinct(member for _, member in named_members(m, cls))


def named_members(m: Machine, cls: ClassValue) -> list[tuple[str, Instance]]:
    """(name, member), aliases too."""
    names = cls.scope.named() if cls.scope is not None else list(cls.attrs)
    found = [(name, inheritance.own_attribute(m, cls, name)) for name in names]
    return [(name, item) for name, item in found if isinstance(item, Instance) and item.cls is cls]


def by_name(m: Machine, cls: ClassValue, name: Value) -> Value:
    """`cls[name]`."""
    rest, parts = m.live, []
    for known, member in named_members(m, cls):
        hit = rest & equal(m, name, known)
        parts.append((hit, member))
        rest = rest & ~hit
    found = [p for p in parts if not p[0].is_false]
    return m.branch(rest, lambda: m.fail("KeyError", name), lambda: join(m, found))


def by_value(m: Machine, cls: ClassValue, args: tuple[Value, ...], node: Any) -> Value:
    """`cls(value)`; a member is its own value."""
    rest, parts = m.live, []
    for member in members(m, cls):
        hit = rest & (equal(m, args[0], member.attrs["value"], node) | _is(m, args[0], member))
        if not hit.is_false:
            parts.append((hit, member))
            rest = rest & ~hit
    if rest.is_false:
        return join(m, parts)
    return m.branch(rest, lambda: _no_member(m, cls, args, node), lambda: join(m, parts))


def _is(m: Machine, value: Value, member: Instance) -> Any:
    return m.decide(value, lambda atom: m.space.true if atom is member else m.space.false)


def _no_member(m: Machine, cls: ClassValue, args: tuple[Value, ...], node: Any) -> Value:
    from .calls import call_value
    from .texts import repr_of

    missing = inheritance.class_attribute(m, cls, "_missing_")
    if missing is not MISSING:
        found = call_value(m, inheritance.bind(m, missing, cls), args, {}, node)
        if found is not None:
            return found
    text = each(m, args[0], lambda atom: repr_of(m, atom))
    return each(
        m,
        text,
        lambda t: m.fail(
            "ValueError", f"{t if isinstance(t, str) else describe(t)} is not a valid {cls.name}"
        ),
    )


def names_of(m: Machine, cls: ClassValue) -> DictValue:
    """`cls.__members__`."""
    out = DictValue(m.space.true)
    for name, member in named_members(m, cls):
        out.entries["constant", name] = (name, member)
    return out
