"""Decorators and managers of functools and contextlib, and whatever else keeps what it decorates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import attributes, inheritance
from ..evaluate.calls import call_value
from ..evaluate.comparing import as_value
from ..evaluate.endings import Endings
from ..evaluate.hashing import equal
from ..evaluate.managers import of_generator
from ..evaluate.truth import truth
from ..evaluate.trying import catches
from ..evaluate.unions import each
from ..evaluate.values import (
    MISSING,
    ClassValue,
    Function,
    IteratorValue,
    Manager,
    Native,
    Opaque,
    Partial,
    Value,
    Wrapper,
)
from ..evaluate.walking import give
from .native import Args, Kwargs, Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()


@table(
    "typing.final", "typing.overload", "typing.runtime_checkable", "typing_extensions.runtime_checkable",
    "typing.override", "typing_extensions.override", "abc.abstractmethod", "contextlib.asynccontextmanager",
    "enum.unique", "functools.singledispatch", "atexit.register", "typing.no_type_check",
)  # fmt: skip
def _keep(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


@table(
    "typing.dataclass_transform", "typing_extensions.dataclass_transform",
    "pydantic.model_validator", "typing_extensions.deprecated", "pydantic.field_serializer",
)  # fmt: skip
def _decorator(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Native("a decorator that keeps what it decorates", _keep)


@table("functools.partial")
def _partial(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def made(func: Value) -> Value:
        if isinstance(func, Partial):  # Python flattens them
            return Partial(func.func, (*func.args, *args[1:]), {**func.kwargs, **kwargs})
        return Partial(func, args[1:], kwargs)

    return each(m, args[0], made)


@table("functools.wraps")
def _wraps(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """The wrapper takes over the name and the attributes of what it wraps."""

    def wrap(m: Machine, more: Args, _: Kwargs) -> Value:
        for inner in (more[0],):
            if isinstance(inner, Function) and isinstance(args[0], Function | Wrapper):
                inner.attrs |= args[0].attrs
                for name in ("__name__", "__qualname__", "__module__"):
                    inner.attrs[name] = attributes.find(m, args[0], name, None)
                inner.attrs["__wrapped__"] = args[0]
        return more[0]

    return Native("functools.wraps()", wrap)


# --- managers


@table("contextlib.contextmanager")
def _contextmanager(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if not isinstance(args[0], Function | Wrapper):
        return args[0]

    def call(m: Machine, given: Args, names: Kwargs) -> Value:
        made = call_value(m, args[0], given, names)
        return each(m, made, lambda g: of_generator(g) if isinstance(g, IteratorValue) else g)

    return Wrapper(args[0], call)


@table("contextlib.nullcontext")
def _nullcontext(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    value = args[0] if args else kwargs.get("enter_result")
    return Manager(lambda m, body: body(value))


@table("contextlib.suppress")
def _suppress(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def run(m: Machine, body: Any) -> None:
        endings = Endings(m)
        give(m, body, None)
        endings.take(m)
        endings.put_back(m.space.true)
        for guard, exc in endings.exceptions:
            entry, m.live = m.live, guard
            hit = catches(m, args, exc)
            m.live = entry | (guard & hit)
            if not (guard & ~hit).is_false:
                m.raised[-1].append((guard & ~hit, exc))

    return Manager(run)


# --- orders

DERIVED = {
    "__lt__": {"__gt__": (True, "and not"), "__le__": (False, "or"), "__ge__": (True, "")},
    "__gt__": {"__lt__": (True, "and not"), "__ge__": (False, "or"), "__le__": (True, "")},
    "__le__": {"__ge__": (True, "or"), "__lt__": (False, "and not"), "__gt__": (True, "")},
    "__ge__": {"__le__": (True, "or"), "__gt__": (False, "and not"), "__lt__": (True, "")},
}
"""For the comparison that a class has, what the others are: (whether it is negated, how equality comes
in).
"""


@table("functools.total_ordering")
def _total_ordering(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    cls = args[0]
    if isinstance(cls, ClassValue):
        root = next((n for n in DERIVED if inheritance.class_attribute(m, cls, n) is not MISSING), None)
        for name, (negated, same) in DERIVED[root].items() if root is not None else ():
            if inheritance.class_attribute(m, cls, name) is MISSING:
                cls.attrs[name] = Native(f"{cls.symbol}.{name}", _derived(root, negated, same))
    return cls


def _derived(root: str | None, negated: bool, same: str) -> Any:
    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        method = attributes.get(m, args[0], str(root), None)
        answer = call_value(m, method, args[1:], {})

        def turned(value: Value) -> Value:
            if isinstance(value, Opaque):
                return value
            holds = truth(m, value)
            holds = ~holds if negated else holds
            if not same:
                return as_value(m, holds)
            both = equal(m, args[0], args[1])
            return as_value(m, holds | both if same == "or" else holds & ~both)

        return each(m, answer, turned)

    return run
