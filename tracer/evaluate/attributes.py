"""Attribute access: instance, class in its method resolution order, descriptors, modules, library objects."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from . import fallbacks
from .typenames import type_name
from .unions import alternatives, cover, each, join, settle, store
from .values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    DictValue,
    FieldDefault,
    Function,
    Guarded,
    Instance,
    ModuleValue,
    Native,
    NativeClass,
    Opaque,
    Partial,
    Super,
    Token,
    Unknown,
    Value,
    Wrapper,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine


def get(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    """`atom.name`; raises AttributeError on paths where it certainly has none."""
    value = find(m, atom, name, node)
    if isinstance(value, Guarded) or value is MISSING:
        return absent(m, value, "AttributeError", f"{_what(atom)} has no attribute '{name}'")
    return value


def _what(atom: Value) -> str:
    if isinstance(atom, ClassValue | NativeClass):
        return f"type object '{atom.name}'"
    if isinstance(atom, ModuleValue):
        return f"module '{atom.name}'"
    if isinstance(atom, Instance):
        return f"'{atom.cls.name}' object"
    return f"'{type_name(atom)}' object"


def absent(m: Machine, value: Value, error: str, message: str) -> Value:
    """`value` where it is there; raises `error` where it is missing."""
    if value is not MISSING and not isinstance(value, Guarded):
        return value
    alts = alternatives(m, value)
    gone = m.live & ~cover(m, value)
    if gone.is_false:
        return value
    there = [(g, a) for g, a in alts if a is not MISSING]
    return m.branch(gone, lambda: m.fail(error, message), lambda: join(m, there))


def find(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    """`atom.name`, MISSING on paths where there is none."""
    finder = FINDERS.get(type(atom))
    if finder is not None:
        return finder(m, atom, name, node)
    return fallbacks.native_attribute(m, atom, name, node)


def _instance(m: Machine, atom: Instance, name: str, node: Node | None) -> Value:
    if name == "__class__":
        return atom.cls
    if name == "__dict__":
        return instance_dict(m, atom)
    of_class = class_attribute(m, atom.cls, name)
    if of_class is MISSING:
        return _own_first(m, atom, name, MISSING, node)
    return each(m, of_class, lambda found: _of_instance(m, atom, name, found, node))


def _of_instance(m: Machine, atom: Instance, name: str, of_class: Value, node: Node | None) -> Value:
    if is_data_descriptor(m, of_class):
        return bind(m, of_class, atom)
    return _own_first(m, atom, name, of_class, node)


def is_data_descriptor(m: Machine, value: Value) -> bool:
    """Whether a class attribute comes before the object's own attributes: a property, or an object with
    `__set__`.
    """
    if isinstance(value, Descriptor):
        return value.kind == "property"
    return isinstance(value, Instance) and class_attribute(m, value.cls, "__set__") is not MISSING


def _own_first(m: Machine, atom: Instance, name: str, of_class: Value, node: Node | None) -> Value:
    own = settle(m, atom.attrs.get(name, MISSING))
    if own is MISSING:
        return _after_own(m, atom, name, of_class, node)
    if not isinstance(own, Guarded):
        return own
    return each(
        m, own, lambda value: _after_own(m, atom, name, of_class, node) if value is MISSING else value
    )


def _after_own(m: Machine, atom: Instance, name: str, of_class: Value, node: Node | None) -> Value:
    if of_class is not MISSING:
        return _read_default(m, of_class, atom, name)
    fallback = fallbacks.instance_attribute(m, atom, name, node)
    if fallback is not MISSING:
        return fallback
    hook = class_attribute(m, atom.cls, "__getattr__")
    if hook is not MISSING:
        from .calls import call_value

        return call_value(m, bind(m, hook, atom), (name,), {}, node)
    return MISSING


def _read_default(m: Machine, value: Value, atom: Instance, name: str) -> Value:
    """A class attribute read from an object; some become the object's own value when first read."""
    from .calls import call_value

    if isinstance(value, Descriptor) and value.kind == "cached property":
        made = call_value(m, value.func, (atom,), {}, None)
    elif isinstance(value, FieldDefault) and value.factory is not None:
        made = call_value(m, value.factory, (), {}, None)
    else:
        return value.default if isinstance(value, FieldDefault) else bind(m, value, atom)
    _store(m, atom, name, made)
    return made


class AttributeEntries(MutableMapping[Any, tuple[Value, Value]]):
    """The attributes of an object as the entries of a dict: `vars(x)` reads and writes the object itself."""

    __slots__ = ("attrs", "hidden")

    def __init__(self, attrs: dict[str, Value], hidden: tuple[str, ...]) -> None:
        self.attrs, self.hidden = attrs, hidden

    def __getitem__(self, key: Any) -> tuple[Value, Value]:
        if key[0] != "constant" or key[1] in self.hidden:
            raise KeyError(key)
        return key[1], self.attrs[key[1]]

    def __setitem__(self, key: Any, entry: tuple[Value, Value]) -> None:
        self.attrs[key[1]] = entry[1]

    def __delitem__(self, key: Any) -> None:
        del self.attrs[key[1]]

    def __iter__(self) -> Iterator[Any]:
        return iter([("constant", name) for name in self.attrs if name not in self.hidden])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def instance_dict(m: Machine, atom: Instance) -> DictValue:
    """The attributes of an object as a dict: what is written there is written to the object."""
    out = DictValue(atom.born)
    out.entries = AttributeEntries(atom.attrs, ("__site__", *m.world.models.slots(atom)))
    return out


def class_attribute(m: Machine, cls: Value, name: str, after: Value = None) -> Value:
    """`name` in the classes of `cls.__mro__` (those behind `after`), unbound; MISSING where none has it."""
    order = cls.mro
    if after is not None:
        order = order[order.index(after) + 1 :] if after in order else ()
    parts: list[tuple[Guard, Value]] = []
    rest = m.live
    for base in order:
        value = own_attribute(m, base, name)
        if value is MISSING:
            continue
        if not parts and not isinstance(value, Guarded):
            return value
        found = [(g & rest, a) for g, a in alternatives(m, value) if a is not MISSING]
        parts += [p for p in found if not p[0].is_false]
        rest = rest & ~cover(m, value)
        if rest.is_false:
            break
    return join(m, [*parts, (rest, MISSING)]) if parts else MISSING


def own_attribute(m: Machine, cls: Value, name: str) -> Value:
    """`name` in the body of one class, or set on it, as the current path sees it."""
    return settle(m, held_attribute(m, cls, name))


def held_attribute(m: Machine, cls: Value, name: str) -> Value:
    """`name` in the body of one class, or set on it, on every path."""
    if isinstance(cls, ClassValue) and cls.scope is not None and name not in cls.attrs:
        if not cls.scope.defines(name):
            return MISSING
        with m.aside():
            return cls.scope.read(m, name)
    return cls.attrs.get(name, MISSING)


def bind(m: Machine, value: Value, self_: Value) -> Value:
    """What an attribute found on a class is when it is read from an instance of it."""
    if isinstance(value, Guarded):
        return each(m, value, lambda atom: bind(m, atom, self_))
    if isinstance(value, Function | Native | Wrapper):
        return Bound(value, self_)
    if isinstance(value, Descriptor):
        return _bind_descriptor(m, value, self_)
    if isinstance(value, Instance) and isinstance(value.cls, ClassValue):
        return _ask_descriptor(m, value, self_, self_.cls if isinstance(self_, Instance) else self_)
    return value


def _bind_descriptor(m: Machine, value: Descriptor, self_: Value) -> Value:
    from .calls import call_value

    if value.kind in ("property", "cached property"):
        return call_value(m, value.func, (self_,), {}, None)
    if value.kind == "classmethod":
        return Bound(value.func, self_.cls if isinstance(self_, Instance) else self_)
    return value.func


def _ask_descriptor(m: Machine, value: Instance, self_: Value, cls: Value) -> Value:
    """An object of the engine as a class attribute: its `__get__`, if it has one, tells the value."""
    getter = class_attribute(m, value.cls, "__get__")
    if getter is MISSING:
        return value
    from .calls import call_value

    return call_value(m, bind(m, getter, value), (self_, cls), {}, None)


def _class(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    special = _class_special(m, atom, name)
    if special is not MISSING:
        return special
    value = class_attribute(m, atom, name)
    if value is not MISSING:
        return each(m, value, lambda v: MISSING if v is MISSING else _unbind(m, v, atom, name))
    return fallbacks.class_attribute(m, atom, name, node)


def _class_special(m: Machine, atom: Value, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return atom.name if name == "__name__" else atom.symbol.removeprefix(f"{_module_of(atom)}.")
    if name == "__module__":
        return _module_of(atom)
    if name in ("__mro__", "__bases__"):
        found, top = (
            (atom.mro, m.world.models.classes["builtins.object"]) if name == "__mro__" else (atom.bases, None)
        )
        return _with_object(m, atom, found, top)
    return MISSING


def _with_object(m: Machine, cls: Value, found: tuple[Value, ...], top: Value) -> tuple[Value, ...]:
    """`object` ends every order, and is the base of what names none."""
    root = m.world.models.classes["builtins.object"]
    if top is None:
        return found or (() if cls is root else (root,))
    return found if found[-1] is root else (*found, root)


def _module_of(atom: Value) -> str:
    return str(atom.module.name) if isinstance(atom, ClassValue) else str(atom.symbol.rpartition(".")[0])


def _unbind(m: Machine, value: Value, cls: Value, name: str) -> Value:
    if isinstance(value, Descriptor) and value.kind in ("classmethod", "staticmethod"):
        return Bound(value.func, cls) if value.kind == "classmethod" else value.func
    if isinstance(value, Instance) and isinstance(value.cls, ClassValue) and isinstance(cls, ClassValue):
        return _ask_descriptor(m, value, None, cls)
    if isinstance(value, Native) and name in ("__init_subclass__", "__class_getitem__"):
        return Bound(value, cls)
    return value


def _super(m: Machine, atom: Super, name: str, node: Node | None) -> Value:
    cls = atom.self_.cls if isinstance(atom.self_, Instance) else atom.self_
    value = class_attribute(m, cls, name, after=atom.owner)
    if value is MISSING:
        return m.world.models.super_attribute(m, atom, name)
    if name == "__new__":
        return value.func if isinstance(value, Descriptor) else value
    return each(
        m,
        value,
        lambda v: m.world.models.super_attribute(m, atom, name) if v is MISSING else bind(m, v, atom.self_),
    )


def _module(m: Machine, atom: ModuleValue, name: str, node: Node | None) -> Value:
    if name == "__name__":
        return atom.name
    if name == "__dict__":
        return m.unknown(f"{atom.name}.__dict__", node)
    return m.world.module_attribute(m, atom, name)


def _opaque(m: Machine, atom: Opaque, name: str, node: Node | None) -> Value:
    written = m.outside.get((atom.symbol, name), MISSING)
    if written is not MISSING:
        return each(
            m, written, lambda v: m.world.library(m, f"{atom.symbol}.{name}", node) if v is MISSING else v
        )
    return m.world.library(m, f"{atom.symbol}.{name}", node)


def _unknown(m: Machine, atom: Unknown, name: str, node: Node | None) -> Value:
    written = m.outside.get((atom.key, name), MISSING)
    if written is MISSING:
        return _read_unknown(m, atom, name, node)
    return each(m, written, lambda v: _read_unknown(m, atom, name, node) if v is MISSING else v)


def _read_unknown(m: Machine, atom: Unknown, name: str, node: Node | None) -> Value:
    if atom.kind == "tensor":
        found = m.world.models.tensor_attribute(m, atom, name)
        if found is not MISSING:
            return found
    kind = "tensor" if atom.kind == "tensor" and name == "data" else None
    return Unknown(f"{atom.key}.{name}", f"{atom.label}.{name}", atom.site or m.site(node), kind)


def _function(m: Machine, atom: Function, name: str, node: Node | None) -> Value:
    own = settle(m, atom.attrs.get(name, MISSING))
    return each(m, own, lambda v: _of_function(m, atom, name, node) if v is MISSING else v)


def _of_function(m: Machine, atom: Function, name: str, node: Node | None) -> Value:
    if name in ("__name__", "__qualname__"):
        return atom.symbol.rpartition(".")[2]
    if name == "__module__":
        return atom.module.name
    if name in FUNCTION_ATTRIBUTES or (atom.marked and not name.startswith("__")):
        return m.unknown(f"{atom.symbol}.{name}", node)
    return MISSING


FUNCTION_ATTRIBUTES = frozenset(dir(_what))


def _wrapper(m: Machine, atom: Wrapper, name: str, node: Node | None) -> Value:
    if name == "__wrapped__":
        return atom.func
    own = atom.attrs.get(name, MISSING)
    return find(m, atom.func, name, node) if own is MISSING else settle(m, own)


def _bound(m: Machine, atom: Bound, name: str, node: Node | None) -> Value:
    if name == "__self__":
        return atom.self_
    return atom.func if name == "__func__" else find(m, atom.func, name, node)


def _partial(m: Machine, atom: Partial, name: str, node: Node | None) -> Value:
    parts = {"func": atom.func, "args": atom.args}
    if name == "keywords":
        out = DictValue(m.live)
        for keyword, value in atom.kwargs.items():
            out.entries["constant", keyword] = (keyword, value)
        return out
    return parts.get(name, MISSING)


def _descriptor(m: Machine, atom: Descriptor, name: str, node: Node | None) -> Value:
    if atom.kind == "property" and name in ("setter", "getter", "deleter"):
        return Native(f"property.{name}", lambda m, args, kwargs: _with_setter(atom, name, args[0]))
    return MISSING


def _with_setter(atom: Descriptor, name: str, func: Value) -> Descriptor:
    return Descriptor(
        "property", atom.func if name != "getter" else func, func if name == "setter" else atom.setter
    )


FINDERS = {
    Instance: _instance,
    ClassValue: _class,
    NativeClass: _class,
    Super: _super,
    ModuleValue: _module,
    Opaque: _opaque,
    Unknown: _unknown,
    Function: _function,
    Bound: _bound,
    Wrapper: _wrapper,
    Partial: _partial,
    Descriptor: _descriptor,
}


def put(m: Machine, atom: Value, name: str, value: Value, node: Node | None) -> None:
    """`atom.name = value` on the current path."""
    if isinstance(atom, Instance):
        hook = class_attribute(m, atom.cls, "__setattr__")
        each(m, hook, lambda h: _put_hooked(m, h, atom, name, value, node))
    elif isinstance(atom, ClassValue | NativeClass):
        m.touch(atom, ("attribute", name))
        atom.attrs[name] = store(m, held_attribute(m, atom, name), value, m.space.true)
    elif isinstance(atom, ModuleValue):
        atom.scope.write(m, name, value)
    elif isinstance(atom, Function | Wrapper):
        m.touch(atom, ("attribute", name))
        atom.attrs[name] = store(m, atom.attrs.get(name, MISSING), value, m.space.true)
    elif isinstance(atom, Unknown | Opaque):
        key = (atom.key if isinstance(atom, Unknown) else atom.symbol, name)
        m.touch(m, ("outside", key))
        m.outside[key] = store(m, m.outside.get(key, MISSING), value, m.space.true)
    elif not isinstance(atom, Token | Native | Super | Descriptor):
        m.fail("AttributeError", f"{_what(atom)} has no attribute '{name}'")


def _put_hooked(m: Machine, hook: Value, atom: Instance, name: str, value: Value, node: Node | None) -> None:
    from .calls import call_value

    if isinstance(hook, Function | Wrapper):
        call_value(m, bind(m, hook, atom), (name, value), {}, node)
    elif "frozen" in getattr(atom.cls, "flags", ()):
        m.fail("dataclasses.FrozenInstanceError", f"cannot assign to field '{name}'")
    else:
        put_plainly(m, atom, name, value, node)


def put_plainly(m: Machine, atom: Value, name: str, value: Value, node: Node | None) -> None:
    """What `object.__setattr__` does: descriptors of the class first, then the object's own attributes."""
    if not isinstance(atom, Instance):
        put(m, atom, name, value, node)
        return
    each(m, class_attribute(m, atom.cls, name), lambda found: _put_past(m, found, atom, name, value, node))


def _put_past(
    m: Machine, of_class: Value, atom: Instance, name: str, value: Value, node: Node | None
) -> None:
    from .calls import call_value

    if isinstance(of_class, Descriptor) and of_class.kind == "property":
        if of_class.setter is None:
            m.fail("AttributeError", f"property '{name}' of '{atom.cls.name}' object has no setter")
        call_value(m, of_class.setter, (atom, value), {}, node)
    elif is_data_descriptor(m, of_class):
        call_value(m, bind(m, class_attribute(m, of_class.cls, "__set__"), of_class), (atom, value), {}, node)
    elif "namedtuple" in getattr(atom.cls, "flags", ()):
        m.fail("AttributeError", "can't set attribute")
    elif not m.world.models.put(m, atom, name, value):
        _store(m, atom, name, value)


def _store(m: Machine, atom: Instance, name: str, value: Value) -> None:
    m.touch(atom, ("attribute", name))
    atom.attrs[name] = store(m, atom.attrs.get(name, MISSING), value, atom.born)


def delete(m: Machine, atom: Value, name: str, node: Node | None) -> None:
    """`del atom.name` on the current path."""
    attrs = _own_attrs(m, atom, name)
    if attrs is None:
        return
    there = cover(m, attrs.get(name, MISSING))
    gone = m.live & ~there
    m.branch(gone, lambda: m.fail("AttributeError", f"{_what(atom)} has no attribute '{name}'"), lambda: None)
    m.touch(atom, ("attribute", name))
    attrs[name] = store(m, attrs.get(name, MISSING), MISSING, getattr(atom, "born", m.space.true))


def _own_attrs(m: Machine, atom: Value, name: str) -> dict[str, Value] | None:
    if isinstance(atom, ClassValue):
        held_attribute(m, atom, name)
    return atom.attrs if isinstance(atom, Instance | ClassValue | Function) else None
