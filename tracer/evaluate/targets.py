"""Targets: what `=`, `+=` and `del` write to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from . import attributes, containers, operators
from .lookup import lookup
from .unions import each, each2
from .values import MISSING, DictValue, Instance, ListValue, SetValue, Unknown, Value

if TYPE_CHECKING:
    from .machine import Machine


def assign(m: Machine, target: tree.Node, value: Value) -> None:
    """Bind `value` to a name, an attribute, an item or a pattern of those."""
    if isinstance(target, tree.Name):
        m.frame.write(m, target.id, value)
    else:
        _assign(m, target, value)


def _assign(m: Machine, target: tree.Node, value: Value) -> None:
    from .expressions import evaluate

    if isinstance(target, tree.Attr):
        _put_attribute(m, evaluate(m, target.value), target, value)
    elif isinstance(target, tree.Index):
        owner, key = evaluate(m, target.value), evaluate(m, target.key)
        _put_item(m, owner, key, value, target)
    elif isinstance(target, tree.Display):
        items = containers.items_of(m, value, target)
        each(m, items, lambda atom: _unpack(m, target, atom))
    else:
        m.unsupported(f"assignment to {type(target).__name__}", target)


def _put_attribute(m: Machine, owner: Value, target: tree.Attr, value: Value) -> None:
    each(m, owner, lambda atom: attributes.put(m, atom, target.name, value, target))


def _put_item(m: Machine, owner: Value, key: Value, value: Value, target: tree.Node) -> None:
    each(m, owner, lambda atom: containers.set_item(m, atom, key, value, target))


def _unpack(m: Machine, target: tree.Display, items: Value) -> None:
    if isinstance(items, Unknown):
        m.may_raise(f"{items.label} has another length", "ValueError")
        for at, item in enumerate(target.items):
            inner = item.value if isinstance(item, tree.Star) else item
            assign(m, inner, Unknown(f"{items.key}[{at}]", f"{items.label}[{at}]", m.site(target)))
        return
    star = next((at for at, item in enumerate(target.items) if isinstance(item, tree.Star)), None)
    wanted = len(target.items)
    least = wanted if star is None else wanted - 1
    if len(items) < least:
        expected = wanted if star is None else f"at least {least}"
        m.fail("ValueError", f"not enough values to unpack (expected {expected}, got {len(items)})")
    if star is None and len(items) > wanted:
        m.fail("ValueError", f"too many values to unpack (expected {wanted})")
    for at, item in enumerate(target.items):
        if isinstance(item, tree.Star):
            assign(m, item.value, ListValue(items[at : len(items) - (wanted - at - 1)], m.live))
        else:
            assign(m, item, items[at] if star is None or at < star else items[at - wanted])


def augment(m: Machine, node: tree.AugAssign) -> None:
    """`target op= value`: the target's own parts are evaluated once."""
    from .expressions import evaluate

    target = node.target
    if isinstance(target, tree.Attr):
        owner = evaluate(m, target.value)
        old = each(m, owner, lambda atom: attributes.get(m, atom, target.name, target))
        _put_attribute(m, owner, target, _changed(m, node, old))
    elif isinstance(target, tree.Index):
        owner, key = evaluate(m, target.value), evaluate(m, target.key)
        old = each2(m, owner, key, lambda a, k: containers.get_item(m, a, k, target))
        _put_item(m, owner, key, _changed(m, node, old), target)
    elif isinstance(target, tree.Name):
        m.frame.write(m, target.id, _changed(m, node, lookup(m, target.id)))


def _changed(m: Machine, node: tree.AugAssign, old: Value) -> Value:
    from .expressions import evaluate

    value = evaluate(m, node.value)
    return each2(m, old, value, lambda atom, other: _change(m, node, atom, other))


def _change(m: Machine, node: tree.AugAssign, atom: Value, other: Value) -> Value:
    """What `atom op= other` leaves in the target: lists, dicts and sets change in place."""
    if isinstance(atom, Instance):
        return operators.in_place(m, node.op, atom, other, node)
    if isinstance(atom, ListValue) and node.op == "+":
        containers.extend(m, atom, other, node)
        return atom
    if isinstance(atom, DictValue) and node.op == "|":
        containers.update(m, atom, other, node)
        return atom
    result = operators.binary(m, node.op, atom, other, node)
    if isinstance(atom, ListValue | SetValue) and type(result) is type(atom):
        containers.become(m, atom, result)
        return atom
    return result


def delete(m: Machine, target: tree.Node) -> None:
    """`del target`."""
    from .expressions import evaluate

    if isinstance(target, tree.Name):
        lookup(m, target.id)
        m.frame.write(m, target.id, MISSING)
    elif isinstance(target, tree.Attr):
        each(m, evaluate(m, target.value), lambda a: attributes.delete(m, a, target.name, target))
    elif isinstance(target, tree.Index):
        owner, key = evaluate(m, target.value), evaluate(m, target.key)
        each2(m, owner, key, lambda a, k: containers.delete_item(m, a, k, target))
    elif isinstance(target, tree.Display):
        for item in target.items:
            delete(m, item)
