"""Writing an attribute of an object: `__setattr__` and the descriptors of its class first, then its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .inheritance import bind, class_attribute, is_data_descriptor
from .unions import each, store
from .values import MISSING, Descriptor, Function, Instance, Value, Wrapper

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine


def put_in(m: Machine, atom: Instance, name: str, value: Value, node: Node | None) -> None:
    """`atom.name = value` of an object."""
    hook = class_attribute(m, atom.cls, "__setattr__")
    each(m, hook, lambda h: _put_hooked(m, h, atom, name, value, node))


def _put_hooked(m: Machine, hook: Value, atom: Instance, name: str, value: Value, node: Node | None) -> None:
    from .calls import call_value

    if isinstance(hook, Function | Wrapper):
        call_value(m, bind(m, hook, atom), (name, value), {}, node)
    elif "frozen" in getattr(atom.cls, "flags", ()):
        m.fail("dataclasses.FrozenInstanceError", f"cannot assign to field '{name}'")
    else:
        put_plainly(m, atom, name, value, node)


def put_plainly(m: Machine, atom: Instance, name: str, value: Value, node: Node | None) -> None:
    """What `object.__setattr__` does: descriptors of the class first, then the object's own attributes."""
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
        put_own(m, atom, name, value)


def put_own(m: Machine, atom: Instance, name: str, value: Value) -> None:
    m.touch(atom, ("attribute", name))
    atom.attrs[name] = store(m, atom.attrs.get(name, MISSING), value, atom.born)
