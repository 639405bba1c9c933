"""Attributes of any atom: read, written and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import definitions, fallbacks, writing
from .inheritance import bind, class_attribute, held_attribute, is_data_descriptor
from .typenames import owner_name
from .unions import alternatives, cover, each, join, settle, store
from .values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
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
from .vars import instance_dict

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine

# --- reading


def get(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    """`atom.name`; raises AttributeError on paths where it certainly has none."""
    value = find(m, atom, name, node)
    if value is MISSING and isinstance(atom, Instance) and atom.cls.symbol in m.world.defaulted:
        return Unknown(f"{atom.cls.name}@{m.tag(atom)}.{name}", f"{atom.cls.name}.{name}", m.site(node))
    if isinstance(value, Guarded) or value is MISSING:
        return absent(m, value, "AttributeError", f"{owner_name(atom)} has no attribute '{name}'")
    return value


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
    if name in m.world.models.slots(atom):  # what the object has of it, it has through a class further up
        return _computed(m, of_class, atom)
    return _own_first(m, atom, name, of_class, node)


def _computed(m: Machine, of_class: Value, atom: Instance) -> Value:
    from .calls import call_value

    if isinstance(of_class, Descriptor) and of_class.kind == "cached property":
        return call_value(m, of_class.func, (atom,), {}, None)
    return bind(m, of_class, atom)


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
    fallback = _payload_or_model(m, atom, name, node)
    if fallback is not MISSING:
        return fallback
    hook = class_attribute(m, atom.cls, "__getattr__")
    if hook is not MISSING:
        from .calls import call_value

        return call_value(m, bind(m, hook, atom), (name,), {}, node)
    return MISSING


def _payload_or_model(m: Machine, atom: Instance, name: str, node: Node | None) -> Value:
    """An attribute that neither the object nor its classes have: payload methods, tensor attributes."""
    if atom.payload is not MISSING:
        found = find(m, atom.payload, name, node)
        if found is not MISSING:
            return found
    return m.world.models.instance_attribute(m, atom, name, node)


def _read_default(m: Machine, value: Value, atom: Instance, name: str) -> Value:
    """A class attribute read from an object; some become the object's own value when first read."""
    from .calls import call_value

    if isinstance(value, Descriptor) and value.kind == "cached property":
        made = call_value(m, value.func, (atom,), {}, None)
    elif isinstance(value, FieldDefault) and value.factory is not None:
        made = call_value(m, value.factory, (), {}, None)
    else:
        return value.default if isinstance(value, FieldDefault) else bind(m, value, atom)
    writing.put_own(m, atom, name, made)
    return made


def _bound(m: Machine, atom: Bound, name: str, node: Node | None) -> Value:
    if name == "__self__":
        return atom.self_
    return atom.func if name == "__func__" else find(m, atom.func, name, node)


def _wrapper(m: Machine, atom: Wrapper, name: str, node: Node | None) -> Value:
    if name == "__wrapped__":
        return atom.func
    own = atom.attrs.get(name, MISSING)
    return find(m, atom.func, name, node) if own is MISSING else settle(m, own)


FINDERS = {
    Instance: _instance,
    ClassValue: definitions.of_class,
    NativeClass: definitions.of_class,
    Super: definitions.of_super,
    ModuleValue: definitions.of_module,
    Opaque: fallbacks.library_attribute,
    Unknown: fallbacks.unknown_attribute,
    Function: definitions.of_function,
    Bound: _bound,
    Wrapper: _wrapper,
    Partial: fallbacks.partial_attribute,
    Descriptor: fallbacks.property_attribute,
}


# --- writing


def put(m: Machine, atom: Value, name: str, value: Value, node: Node | None) -> None:
    """`atom.name = value` on the current path."""
    if isinstance(atom, Instance):
        writing.put_in(m, atom, name, value, node)
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
        m.fail("AttributeError", f"{owner_name(atom)} has no attribute '{name}'")


def put_plainly(m: Machine, atom: Value, name: str, value: Value, node: Node | None) -> None:
    """`atom.name = value` as `object.__setattr__` does it."""
    run = writing.put_plainly if isinstance(atom, Instance) else put
    run(m, atom, name, value, node)


def delete(m: Machine, atom: Value, name: str, node: Node | None) -> None:
    """`del atom.name` on the current path."""
    attrs = _own_attrs(m, atom, name)
    if attrs is None:
        return
    there = cover(m, attrs.get(name, MISSING))
    gone = m.live & ~there
    m.branch(
        gone, lambda: m.fail("AttributeError", f"{owner_name(atom)} has no attribute '{name}'"), lambda: None
    )
    m.touch(atom, ("attribute", name))
    attrs[name] = store(m, attrs.get(name, MISSING), MISSING, getattr(atom, "born", m.space.true))


def _own_attrs(m: Machine, atom: Value, name: str) -> dict[str, Value] | None:
    if isinstance(atom, ClassValue):
        held_attribute(m, atom, name)
    return atom.attrs if isinstance(atom, Instance | ClassValue | Function) else None
