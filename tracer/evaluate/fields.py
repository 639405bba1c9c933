"""Fields of dataclasses and named tuples: which there are, and filling them when an object is made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .. import tree
from . import attributes, complaints, inheritance
from .arguments import OPEN, Spread
from .unions import alternatives, cover, each, join
from .validating import validated
from .values import MISSING, ClassValue, FieldDefault, Guarded, Instance, NativeClass, Value

if TYPE_CHECKING:
    from .machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]


class Field:
    """One field; `default` is MISSING when required, `factory` a callable value or None."""

    __slots__ = ("annotation", "compare", "default", "factory", "init", "kw_only", "name", "passed", "repr")

    def __init__(self, name: str, annotation: tree.Node | None, default: Value, passed: bool = False) -> None:
        self.name, self.annotation = name, annotation
        self.default, self.factory = default, None
        self.init = self.repr = self.compare = True
        self.kw_only = False
        self.passed = passed
        """Whether it is only passed on to `__post_init__`."""
        if isinstance(default, FieldDefault):
            self.default, self.factory = default.default, default.factory
            self.init, self.kw_only = default.init, default.kw_only
            self.repr, self.compare = default.repr, default.compare
        if self.passed:
            self.repr = self.compare = False


def fields_of(m: Machine, cls: ClassValue | NativeClass) -> list[Field]:
    """The fields of a dataclass or NamedTuple, those of base classes first."""
    found: dict[str, Field] = {}
    for base in reversed(cls.mro):
        if isinstance(base, ClassValue) and base.flags & {"dataclass", "namedtuple"}:
            for name, annotation, of_class, passed in m.world.declared(base):
                if not of_class:
                    default = inheritance.own_attribute(m, base, name)
                    found[name] = Field(name, annotation, default, passed)
    return list(found.values())


def fill_fields(m: Machine, made: Instance, cls: ClassValue, args: Args, kwargs: Kwargs, node: Any) -> None:
    """The generated `__init__` of a dataclass or NamedTuple, then `__post_init__`."""
    left, named = [a for a in args if not isinstance(a, Spread)], dict(kwargs)
    spread = len(left) < len(args) or isinstance(named.pop(OPEN, None), Spread)
    fields = fields_of(m, cls)
    _refuse(m, cls, fields, len(left), named)
    passed: list[Value] = []
    for field in fields:
        given: Value = MISSING
        if field.init:
            given = left.pop(0) if left and not field.kw_only else named.pop(field.name, MISSING)
        if given is MISSING and spread:
            given = m.unknown(field.name, node)
        value = _value(m, cls, field, validated(m, cls, field.name, given), named, node)
        if field.passed:
            passed.append(value)
        elif value is not MISSING:
            made.attrs[field.name] = value
    if "namedtuple" in cls.flags:
        made.payload = tuple(made.attrs[f.name] for f in fields)
    _after(m, made, cls, tuple(passed), node)


def _value(m: Machine, cls: ClassValue, field: Field, given: Value, named: Kwargs, node: Any) -> Value:
    """What a field gets: what was given, else its default, else an error; not even that when it is not to
    be given.
    """
    from .calls import call_value

    gone = m.live & ~cover(m, given)
    if gone.is_false:
        return given
    if field.factory is not None:
        made = m.branch(gone, lambda: call_value(m, field.factory, (), {}, node), lambda: None)
    else:
        made = field.default
    value = join(m, [(g, made if a is MISSING else a) for g, a in alternatives(m, given)])
    if not field.init:
        return value
    if value is not MISSING and not isinstance(value, Guarded):
        return value
    return attributes.absent(m, value, "TypeError", _missing(m, cls, field, named))


def _missing(m: Machine, cls: ClassValue, field: Field, named: Kwargs) -> str:
    """`field` and those of its kind behind it that were not given either."""
    fields = fields_of(m, cls)
    names = [f.name for f in fields]
    wanted = [
        f.name
        for f in fields[names.index(field.name) :]
        if f.init and f.kw_only == field.kw_only
        if f.name == field.name or (f.default is MISSING and f.factory is None and f.name not in named)
    ]
    return complaints.missing(_maker(cls), wanted, field.kw_only)


def _maker(cls: ClassValue) -> str:
    return f"{cls.name}.{'__new__' if 'namedtuple' in cls.flags else '__init__'}"


def _refuse(m: Machine, cls: ClassValue, fields: list[Field], given: int, named: Kwargs) -> None:
    """Raise TypeError where there are keywords or places that no field takes, as Python does first."""
    taken = {f.name for f in fields if f.init}
    places = [f for f in fields if f.init and not f.kw_only]
    filled = {f.name for f in places[:given]}
    for name, value in named.items():
        if name not in taken or name in filled:
            complain = complaints.twice if name in filled else complaints.unexpected
            message = complain(_maker(cls), name)
            m.branch(cover(m, value), partial(m.fail, "TypeError", message), lambda: None)
    if given > len(places):
        least = sum(1 for f in places if f.default is MISSING and f.factory is None)
        message = complaints.too_many(_maker(cls), least + 1, len(places) + 1, given + 1)
        m.fail("TypeError", message)


def _after(m: Machine, made: Instance, cls: ClassValue, passed: Args, node: Any) -> None:
    from .calls import call_value

    after = inheritance.class_attribute(m, made.cls, "__post_init__")
    if after is not MISSING and "dataclass" in cls.flags and made.cls.symbol not in m.world.no_post_init:
        call_value(m, inheritance.bind(m, after, made), passed, {}, node)


def replaced(m: Machine, atom: Instance, changes: Kwargs, node: Any) -> Value:
    """A new object of the class with some fields changed."""
    from .calls import call_value

    given = {f.name: atom.attrs.get(f.name, MISSING) for f in fields_of(m, atom.cls) if f.init}
    return each(m, atom.cls, lambda cls: call_value(m, cls, (), {**given, **changes}, node))
