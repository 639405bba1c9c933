"""Attribute access: instance, class in its method resolution order, descriptors, modules, library objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .unions import alternatives, each, join, settle, store
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
    ListValue,
    ModuleValue,
    Native,
    NativeClass,
    Opaque,
    Partial,
    SetValue,
    Super,
    Token,
    Unknown,
    Value,
)

if TYPE_CHECKING:
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
    return f"'{type(atom).__name__}' object"


def absent(m: Machine, value: Value, error: str, message: str) -> Value:
    """`value` where it is there; raises `error` where it is missing."""
    alts = alternatives(m, value)
    gone = m.space.false
    for guard, atom in alts:
        if atom is MISSING:
            gone = gone | guard
    if gone.is_false:
        return value

    def fail() -> Value:
        raise m.throw(m.world.exception(m, error, message))

    return m.branch(gone, fail, lambda: join(m, [(g, a) for g, a in alts if a is not MISSING]))


def find(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    """`atom.name`, MISSING on paths where there is none."""
    finder = FINDERS.get(type(atom))
    if finder is not None:
        return finder(m, atom, name, node)
    return m.world.native_attribute(m, atom, name, node)


def _instance(m: Machine, atom: Instance, name: str, node: Node | None) -> Value:
    if name == "__class__":
        return atom.cls
    if name == "__dict__":
        return instance_dict(m, atom)
    of_class = class_attribute(m, atom.cls, name)
    if isinstance(of_class, Descriptor) and of_class.kind == "property":
        return bind(m, of_class, atom)
    own = settle(m, atom.attrs.get(name, MISSING))
    if own is MISSING:
        return _after_own(m, atom, name, of_class, node)
    if not isinstance(own, Guarded):
        return own
    parts = []
    for guard, value in alternatives(m, own):
        if value is MISSING:
            m_live, m.live = m.live, guard
            value = _after_own(m, atom, name, of_class, node)
            m.live = m_live
        parts.append((guard, value))
    return join(m, parts)


def _after_own(m: Machine, atom: Instance, name: str, of_class: Value, node: Node | None) -> Value:
    if of_class is not MISSING:
        return each(m, of_class, lambda v: MISSING if v is MISSING else _read_default(m, v, atom, name))
    fallback = m.world.instance_fallback(m, atom, name, node)
    if fallback is not MISSING:
        return fallback
    hook = class_attribute(m, atom.cls, "__getattr__")
    if hook is not MISSING:
        from .calls import call

        return call(m, bind(m, hook, atom), (name,), {}, node)
    return MISSING


def _read_default(m: Machine, value: Value, atom: Instance, name: str) -> Value:
    """A class attribute read from an object; a dataclass field's default becomes the object's own value."""
    if not isinstance(value, FieldDefault):
        return bind(m, value, atom)
    if value.factory is None:
        return value.default
    from .calls import call_value

    made = call_value(m, value.factory, (), {}, None)
    atom.attrs[name] = store(m, atom.attrs.get(name, MISSING), made, atom.born)
    return made


def instance_dict(m: Machine, atom: Instance) -> DictValue:
    """A view of the attributes as a dict: reads see them, writes to it are not written back."""
    out = DictValue(m.live)
    for name, value in atom.attrs.items():
        if name in m.world.models.slots(atom):
            continue
        out.entries["constant", name] = (name, value)
    return out


def class_attribute(m: Machine, cls: Value, name: str, after: Value = None) -> Value:
    """`name` in the classes of `cls.__mro__` (those behind `after`), unbound; MISSING where none has it."""
    order = cls.mro
    if after is not None:
        order = order[order.index(after) + 1 :] if after in order else ()
    for base in order:
        value = own_attribute(m, base, name)
        if value is not MISSING:
            return value
    return MISSING


def own_attribute(m: Machine, cls: Value, name: str) -> Value:
    """`name` in the body of one class, or set on it."""
    if isinstance(cls, ClassValue) and cls.scope is not None and name not in cls.attrs:
        if not cls.scope.defines(name):
            return MISSING
        with m.aside():
            value = cls.scope.read(m, name)
        return value
    return settle(m, cls.attrs.get(name, MISSING))


def bind(m: Machine, value: Value, self_: Value) -> Value:
    """What an attribute found on a class is when it is read from an instance of it."""
    from .calls import call

    if isinstance(value, Function | Native):
        return Bound(value, self_)
    if isinstance(value, Descriptor):
        if value.kind == "property":
            return call(m, value.func, (self_,), {}, None)
        if value.kind == "classmethod":
            return Bound(value.func, self_.cls if isinstance(self_, Instance) else self_)
        return value.func
    return value


def _class(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    special = _class_special(m, atom, name)
    if special is not MISSING:
        return special
    value = class_attribute(m, atom, name)
    if value is not MISSING:
        return each(m, value, lambda v: _unbind(m, v, atom, name))
    return m.world.class_fallback(m, atom, name, node)


def _class_special(m: Machine, atom: Value, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return atom.name if name == "__name__" else atom.symbol.removeprefix(f"{_module_of(atom)}.")
    if name == "__module__":
        return _module_of(atom)
    if name == "__mro__":
        return tuple(atom.mro)
    if name == "__bases__":
        return tuple(atom.bases)
    return MISSING


def _module_of(atom: Value) -> str:
    return str(atom.module.name) if isinstance(atom, ClassValue) else str(atom.symbol.rpartition(".")[0])


def _unbind(m: Machine, value: Value, cls: Value, name: str) -> Value:
    if isinstance(value, Descriptor) and value.kind in ("classmethod", "staticmethod"):
        return Bound(value.func, cls) if value.kind == "classmethod" else value.func
    if isinstance(value, Native) and name in ("__init_subclass__", "__class_getitem__"):
        return Bound(value, cls)
    return value


def _super(m: Machine, atom: Super, name: str, node: Node | None) -> Value:
    cls = atom.self_.cls if isinstance(atom.self_, Instance) else atom.self_
    value = class_attribute(m, cls, name, after=atom.owner)
    if value is MISSING:
        return m.world.super_fallback(m, atom, name)
    if name == "__new__":
        return value.func if isinstance(value, Descriptor) else value
    return bind(m, value, atom.self_)


def _module(m: Machine, atom: ModuleValue, name: str, node: Node | None) -> Value:
    if name == "__name__":
        return atom.name
    if name == "__dict__":
        return m.unknown(f"{atom.name}.__dict__", node)
    return m.world.module_attribute(m, atom, name)


def _opaque(m: Machine, atom: Opaque, name: str, node: Node | None) -> Value:
    return m.world.library(m, f"{atom.symbol}.{name}", node)


def _unknown(m: Machine, atom: Unknown, name: str, node: Node | None) -> Value:
    if atom.kind == "tensor":
        found = m.world.models.tensor_attribute(m, atom, name)
        if found is not MISSING:
            return found
    kind = "tensor" if atom.kind == "tensor" and name == "data" else None
    return Unknown(f"{atom.key}.{name}", f"{atom.label}.{name}", atom.site or m.site(node), kind)


def _function(m: Machine, atom: Function, name: str, node: Node | None) -> Value:
    if name in ("__name__", "__qualname__"):
        return atom.symbol.rpartition(".")[2]
    if name == "__module__":
        return atom.module.name
    return MISSING if name in ("__wrapped__", "cache_clear", "__self__") else m.unknown(f"{atom.symbol}.{name}", node)


def _bound(m: Machine, atom: Bound, name: str, node: Node | None) -> Value:
    if name == "__self__":
        return atom.self_
    return atom.func if name == "__func__" else find(m, atom.func, name, node)


def _partial(m: Machine, atom: Partial, name: str, node: Node | None) -> Value:
    return atom.func if name == "func" else MISSING


def _descriptor(m: Machine, atom: Descriptor, name: str, node: Node | None) -> Value:
    if atom.kind == "property" and name in ("setter", "getter", "deleter"):
        return Native(f"property.{name}", lambda m, args, kwargs: _with_setter(atom, name, args[0]))
    return MISSING


def _with_setter(atom: Descriptor, name: str, func: Value) -> Descriptor:
    return Descriptor("property", atom.func if name != "getter" else func, func if name == "setter" else atom.setter)


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
    Partial: _partial,
    Descriptor: _descriptor,
}


def put(m: Machine, atom: Value, name: str, value: Value, node: Node | None) -> None:
    """`atom.name = value` on the current path."""
    if isinstance(atom, Instance):
        _put_instance(m, atom, name, value, node)
    elif isinstance(atom, ClassValue | NativeClass):
        atom.attrs[name] = store(m, own_attribute(m, atom, name), value, m.space.true)
    elif isinstance(atom, ModuleValue):
        old = atom.scope.values.get(name, MISSING)
        atom.scope.values[name] = store(m, old, value, m.space.true)
    elif not isinstance(atom, Unknown | Opaque | Token | Function | ListValue | DictValue | SetValue | Bound):
        raise m.throw(m.world.exception(m, "AttributeError", f"{_what(atom)} has no attribute '{name}'"))


def _put_instance(m: Machine, atom: Instance, name: str, value: Value, node: Node | None) -> None:
    of_class = class_attribute(m, atom.cls, name)
    if isinstance(of_class, Descriptor) and of_class.kind == "property":
        from .calls import call

        if of_class.setter is None:
            raise m.throw(m.world.exception(m, "AttributeError", f"can't set attribute '{name}'"))
        call(m, of_class.setter, (atom, value), {}, node)
        return
    if not m.world.models.put(m, atom, name, value):
        atom.attrs[name] = store(m, atom.attrs.get(name, MISSING), value, atom.born)
