"""dataclasses, attrs, pydantic fields and enum: what their decorators and functions do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.atoms import describe
from ..evaluate.dicts import new_dict, put
from ..evaluate.enums import AutoValue
from ..evaluate.fields import Field, fields_of, replaced
from ..evaluate.unions import each
from ..evaluate.values import (
    MISSING,
    ClassValue,
    DictValue,
    FieldDefault,
    Instance,
    ListValue,
    Native,
    Opaque,
    Unknown,
    Value,
)
from .copying import copied
from .native import Args, Kwargs, Table, argument

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()


@table("dataclasses.dataclass", "pydantic.dataclasses.dataclass", "attrs.define", "msgspec.Struct")
def _dataclass(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args:
        return _made_dataclass(args[0], kwargs)
    return Native("dataclass()", lambda m, more, _: _made_dataclass(more[0], kwargs))


def _made_dataclass(cls: Value, kwargs: Kwargs) -> Value:
    if isinstance(cls, ClassValue):
        cls.flags.add("dataclass")
        cls.flags |= {name for name in ("frozen", "order") if kwargs.get(name) is True}
        if kwargs.get("eq") is False:
            cls.flags.add("no eq")
        elif kwargs.get("frozen") is True or kwargs.get("unsafe_hash") is True:
            cls.flags.add("hash by fields")
    return cls


@table("dataclasses.field", "pydantic.Field", "pydantic.fields.Field")
def _field(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = argument(args, kwargs, 0, "default", MISSING)
    if isinstance(default, Opaque) or default is Ellipsis:
        default = MISSING
    out = FieldDefault(default, kwargs.get("default_factory"), kwargs.get("init", True) is not False)
    out.kw_only = kwargs.get("kw_only") is True
    out.repr, out.compare = kwargs.get("repr", True) is not False, kwargs.get("compare", True) is not False
    return out


@table("dataclasses.fields")
def _fields(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _fields_of(m, atom))


def _fields_of(m: Machine, atom: Value) -> Value:
    cls = atom.cls if isinstance(atom, Instance) else atom
    if not isinstance(cls, ClassValue):
        return m.unknown(f"fields({describe(atom)})")
    return tuple(_field_object(m, f) for f in fields_of(m, cls) if not f.passed)


def _field_object(m: Machine, field: Field) -> Instance:
    out = Instance(m.world.models.classes["builtins.object"], m.space.true)
    nothing = m.world.models.table["dataclasses.MISSING"]
    out.attrs |= {"name": field.name, "init": field.init, "type": m.unknown(f"the type of {field.name}")}
    out.attrs["default"] = nothing if field.default is MISSING else field.default
    out.attrs["default_factory"] = nothing if field.factory is None else field.factory
    return out


@table("dataclasses.is_dataclass")
def _is_dataclass(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], _has_fields)


def _has_fields(atom: Value) -> Value:
    cls = atom.cls if isinstance(atom, Instance) else atom
    return isinstance(cls, ClassValue) and any("dataclass" in getattr(b, "flags", ()) for b in cls.mro)


@table("dataclasses.replace", "copy.replace")
def _replace(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def change(atom: Value) -> Value:
        if not isinstance(atom, Instance) or not isinstance(atom.cls, ClassValue):
            return m.unknown(f"replace({describe(atom)})")
        return replaced(m, atom, kwargs, None)

    return each(m, args[0], change)


@table("dataclasses.asdict")
def _asdict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: as_dict(m, a) if isinstance(a, Instance) else m.unknown("asdict()"))


def as_dict(m: Machine, atom: Instance) -> Value:
    """The fields of a dataclass as a dict, those of dataclasses inside too; everything else copied."""
    out = new_dict(m)
    for field in (f for f in fields_of(m, atom.cls) if not f.passed):
        value = attributes.get(m, atom, field.name, None)
        put(m, out, field.name, each(m, value, lambda v: _inner(m, v)))
    return out


def _inner(m: Machine, atom: Value) -> Value:
    if isinstance(atom, Instance) and _has_fields(atom):
        return as_dict(m, atom)
    if isinstance(atom, tuple):
        return tuple(each(m, item, lambda i: _inner(m, i)) for item in atom)
    if isinstance(atom, ListValue):
        items = each(m, atom.content, lambda found: found if isinstance(found, Unknown) else _inner(m, found))
        return ListValue(items, m.live)
    return copied(m, atom, {}, deep=True) if isinstance(atom, Instance | DictValue) else atom


@table("enum.auto")
def _auto(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return AutoValue()


# --- named tuples


def named_tuple_attribute(m: Machine, atom: Instance, name: str) -> Value:
    """The methods that a NamedTuple has beside those of tuples."""
    if name == "_replace":
        return Native("namedtuple._replace", lambda m, args, kwargs: replaced(m, atom, kwargs, None))
    if name == "_asdict":
        return Native("namedtuple._asdict", lambda m, args, kwargs: _as_mapping(m, atom))
    return MISSING


def _as_mapping(m: Machine, atom: Instance) -> Value:
    out = new_dict(m)
    for field in (f for f in fields_of(m, atom.cls) if not f.passed):
        put(m, out, field.name, atom.attrs[field.name])
    return out
