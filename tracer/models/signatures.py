"""inspect.signature of the engine's own functions: which parameters there are, of which kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from ..evaluate import inheritance
from ..evaluate.atoms import describe
from ..evaluate.dicts import new_dict, put
from ..evaluate.frames import Frame
from ..evaluate.machine import Dead
from ..evaluate.unions import each
from ..evaluate.values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    Function,
    Instance,
    Opaque,
    Value,
    Wrapper,
)
from .native import Args, Kwargs, Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()

KINDS = {
    "pos": "POSITIONAL_ONLY",
    "any": "POSITIONAL_OR_KEYWORD",
    "star": "VAR_POSITIONAL",
    "kw": "KEYWORD_ONLY",
    "kwargs": "VAR_KEYWORD",
}
EMPTY = Opaque("inspect.Parameter.empty")
for _name in KINDS.values():
    table.rows[f"inspect.Parameter.{_name}"] = Opaque(f"inspect.Parameter.{_name}")
table.rows["inspect.Parameter.empty"] = EMPTY


@table("inspect.signature")
def _signature(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _of(m, atom))


def _of(m: Machine, atom: Value) -> Value:
    """The signature of one callable; of what is no function of the engine, an unknown."""
    func, skipped = _function(m, atom)
    if func is None:
        return m.world.call_library(m, Opaque("inspect.signature"), (atom,), {}, None)
    listed = new_dict(m)
    for param in func.node.params.items[skipped:]:
        row = Instance(m.world.outside_class("inspect.Parameter"), m.live)
        default = func.defaults.get(param.name, EMPTY)
        row.attrs |= {"name": param.name, "kind": Opaque(f"inspect.Parameter.{KINDS[param.kind]}")}
        row.attrs |= {"default": default, "annotation": _annotation(m, func, param)}
        put(m, listed, param.name, row)
    out = Instance(m.world.outside_class("inspect.Signature"), m.live)
    out.attrs |= {"parameters": listed, "return_annotation": m.unknown(f"what {describe(atom)} returns")}
    return out


def _annotation(m: Machine, func: Function, param: tree.Param) -> Value:
    """What stands after the colon, evaluated in the module of the function; unknown where it is a text."""
    from ..evaluate.expressions import evaluate

    if param.annotation is None:
        return EMPTY
    if func.module.scope.defines("annotations"):  # from __future__
        return m.unknown(f"annotation of {param.name}", kind="str")
    m.frames.append(Frame(func.module, None, None, m.space.true, func.module.scope))
    try:
        with m.aside():
            return evaluate(m, param.annotation)
    except Dead:
        return m.unknown(f"annotation of {param.name}")
    finally:
        m.frames.pop()


def _function(m: Machine, atom: Value) -> tuple[Function | None, int]:
    """The function behind a callable, and how many of its parameters are bound already."""
    bound = 0
    while not isinstance(atom, Function):
        if isinstance(atom, Bound):
            atom, bound = atom.func, bound + 1
        elif isinstance(atom, Wrapper | Descriptor):
            atom = atom.func
        elif isinstance(atom, ClassValue):
            atom, bound = inheritance.class_attribute(m, atom, "__init__"), bound + 1
        else:
            return None, 0
        if atom is MISSING:
            return None, 0
    return atom, bound
