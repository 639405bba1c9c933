"""Methods of texts, numbers and tuples: Python itself runs them when everything is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import containers
from ..evaluate.atoms import constant, describe, plain
from ..evaluate.operators import computed
from ..evaluate.texts import formatted_with
from ..evaluate.unions import each
from ..evaluate.values import MISSING, DictView, IteratorValue, ListValue, Native, SetValue, Unknown, Value
from .native import Args, Kwargs, atoms

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

ANSWERS_BOOL = ("is", "startswith", "endswith")


def python_method(kind: type, name: str) -> Native | None:
    """A method of an immutable constant, None where there is none of that name."""
    if not callable(getattr(kind, name, None)) or name.startswith("__"):
        return None
    if kind is str and name == "format":
        return Native("str.format", _format)

    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return _run(m, name, args, kwargs)

    return Native(f"{kind.__name__}.{name}", run)


def _format(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda text: formatted_with(m, plain(text), args[1:], kwargs))


def _run(m: Machine, name: str, args: Args, kwargs: Kwargs) -> Value:
    names = list(kwargs)

    def compute(found: Args) -> Value:
        return _known(m, found, (), lambda values: _call(m, name, found, values, names))

    return atoms(m, (*args, *kwargs.values()), compute)


def _call(m: Machine, name: str, found: Args, values: Args, names: list[str]) -> Value:
    if any(v is MISSING for v in values):
        kind = (
            "bool"
            if name.startswith(ANSWERS_BOOL)
            else None
            if name in ("split", "partition", "rsplit")
            else "str"
        )
        return m.unknown(f"{describe(found[0])}.{name}({', '.join(map(describe, found[1:]))})", kind=kind)
    positional = len(values) - len(names)
    named = dict(zip(names, values[positional:], strict=True))
    return boxed(m, computed(m, lambda: getattr(values[0], name)(*values[1:positional], **named)))


def _known(m: Machine, left: Args, done: Args, run: Any) -> Value:
    """`run` on the Python values of atoms, MISSING where one is not made of constants alone."""
    if not left:
        return run(done)
    value = plain(left[0])
    if isinstance(value, ListValue | SetValue | DictView | IteratorValue):
        items = containers.items_of(m, value, None)
        return each(m, items, lambda i: _elements(m, i, lambda v: _known(m, left[1:], (*done, v), run)))
    if isinstance(value, tuple) and not constant(value):
        return _elements(m, value, lambda v: _known(m, left[1:], (*done, v), run))
    return _known(m, left[1:], (*done, value if constant(value) else MISSING), run)


def _elements(m: Machine, items: Value, run: Any) -> Value:
    if isinstance(items, Unknown):
        return run(MISSING)

    def told(found: Args) -> Value:
        values = tuple(map(plain, found))
        return run(values if all(map(constant, values)) else MISSING)

    return atoms(m, items, told)


def boxed(m: Machine, value: Any) -> Value:
    """What a method of Python's own gives, as a Value."""
    return ListValue(tuple(value), m.live) if isinstance(value, list) else value
