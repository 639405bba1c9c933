"""Python's builtin functions over evaluated values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import attributes, containers
from ..evaluate.calls import call, call_value
from ..evaluate.operators import _as_value, compare, condition, describe, identical, plain
from ..evaluate.texts import text_of
from ..evaluate.truth import truth
from ..evaluate.unions import alternatives, each, join, settle
from ..evaluate.values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    DictValue,
    Function,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    Partial,
    SetValue,
    Super,
    Unknown,
    Value,
)
from .native import Table, argument

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
table = Table()


@table("builtins.print", "warnings.warn")
def _nothing(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return None


@table("builtins.len")
def _len(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _len_atom(m, atom))


def _len_atom(m: Machine, atom: Value) -> Value:
    if isinstance(atom, Instance):
        method = attributes.class_attribute(m, atom.cls, "__len__")
        if method is not MISSING:
            return call(m, attributes.bind(m, method, atom), (), {}, None)
    value = plain(atom)
    if isinstance(value, tuple | str | bytes | range):
        return len(value)
    if isinstance(value, ListValue | DictValue | SetValue):
        items = containers.items_of(m, value, None)
        return each(m, items, lambda i: m.unknown(f"len({describe(value)})", kind="int") if isinstance(i, Unknown) else len(i))
    if isinstance(value, CONSTANTS):
        raise m.throw(m.world.exception(m, "TypeError", f"object of type '{type(value).__name__}' has no len()"))
    if isinstance(atom, Unknown):
        return Unknown(f"len({atom.key})", f"len({atom.label})", m.site(None), "int")
    return m.unknown(f"len({describe(atom)})", kind="int")


@table("builtins.isinstance")
def _isinstance(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda c: _as_value(m, is_instance(m, a, c))))


def is_instance(m: Machine, atom: Value, cls: Value) -> Any:
    """The guard that `isinstance(atom, cls)`."""
    if isinstance(cls, tuple):
        out = m.space.false
        for part in cls:
            for guard, one in alternatives(m, part):
                out = out | (guard & is_instance(m, atom, one))
        return out
    if isinstance(atom, Unknown):
        return _unknown_is(m, atom, cls)
    kind = m.world.models.type_of(m, atom)
    if isinstance(kind, Unknown) or isinstance(cls, Unknown | Opaque):
        return _outside_is(m, atom, cls)
    if isinstance(cls, ClassValue | NativeClass):
        return m.space.true if cls in kind.mro or _virtual(kind, cls) else m.space.false
    return m.space.true if isinstance(cls, Native) and _native_is(atom, cls) else m.space.false


def _outside_is(m: Machine, atom: Value, cls: Value) -> Any:
    if isinstance(cls, Opaque) and not isinstance(atom, Opaque):
        return m.space.false if not isinstance(atom, Unknown) else condition(m, "isinstance", atom, cls)
    return condition(m, "isinstance", atom, cls)


def _unknown_is(m: Machine, atom: Unknown, cls: Value) -> Any:
    if atom.kind is not None and isinstance(cls, NativeClass):
        known = m.world.models.classes.get(KIND_CLASSES.get(atom.kind, ""))
        if known is not None:
            return m.space.true if cls in known.mro else m.space.false
    return condition(m, "isinstance", atom, cls)


KIND_CLASSES = {"int": "builtins.int", "bool": "builtins.bool", "str": "builtins.str", "tensor": "torch.Tensor"}
VIRTUAL = {
    "collections.abc.Sequence": {"builtins.list", "builtins.tuple", "builtins.str"},
    "collections.abc.Mapping": {"builtins.dict"},
    "collections.abc.Iterable": {"builtins.list", "builtins.tuple", "builtins.dict", "builtins.set", "builtins.str"},
    "collections.abc.Callable": {"builtins.function", "builtins.type"},
}


def _virtual(kind: Any, cls: Any) -> bool:
    return any(base.symbol in VIRTUAL.get(cls.symbol, ()) for base in kind.mro)


def _native_is(atom: Value, cls: Native) -> bool:
    return cls.symbol == "typing.Callable" and isinstance(atom, Function | Native | Bound | Partial)


@table("builtins.issubclass")
def _issubclass(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda c: _as_value(m, _is_subclass(m, a, c))))


def _is_subclass(m: Machine, atom: Value, cls: Value) -> Any:
    if isinstance(cls, tuple):
        out = m.space.false
        for part in cls:
            out = out | _is_subclass(m, atom, part)
        return out
    if isinstance(atom, ClassValue | NativeClass) and isinstance(cls, ClassValue | NativeClass):
        return m.space.true if cls in atom.mro or _virtual(atom, cls) else m.space.false
    return condition(m, "issubclass", atom, cls)


@table("builtins.hasattr", "inspect.hasattr")
def _hasattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda n: _as_value(m, _has(m, a, n))))


def _has(m: Machine, atom: Value, name: Value) -> Any:
    if not isinstance(name, str) or isinstance(atom, Unknown):
        return condition(m, "has attribute", atom, name)
    known = m.world.models.has(m, atom, name)
    if known is not None:
        return known
    entry = m.live
    value, raised = _find_quietly(m, atom, name)
    out = m.space.false
    for guard, found in alternatives(m, value) if value is not MISSING else ():
        if found is not MISSING:
            out = out | guard
    m.live = entry
    return out & ~raised


def _find_quietly(m: Machine, atom: Value, name: str) -> tuple[Value, Any]:
    """The attribute, and the paths on which asking for it raises AttributeError."""
    from ..evaluate.machine import Dead

    caught: list[tuple[Any, Instance]] = []
    m.raised.append(caught)
    try:
        value = attributes.find(m, atom, name, None)
    except Dead:
        value = MISSING
    finally:
        m.raised.pop()
    raised = m.space.false
    for guard, exc in caught:
        if any(base.symbol == "builtins.AttributeError" for base in exc.cls.mro):
            raised = raised | guard
        else:
            m.raised[-1].append((guard, exc))
    return value, raised


@table("builtins.getattr", "inspect.getattr_static")
def _getattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = args[2] if len(args) > 2 else MISSING
    return each(m, args[0], lambda a: each(m, args[1], lambda n: _get(m, a, n, default)))


def _get(m: Machine, atom: Value, name: Value, default: Value) -> Value:
    name = plain(name)
    if not isinstance(name, str):
        return m.unknown(f"getattr({describe(atom)}, {describe(name)})")
    if default is MISSING:
        return attributes.get(m, atom, name, None)
    known = m.world.models.has(m, atom, name)
    if known is not None and not known.is_true:
        return m.branch(known, lambda: attributes.get(m, atom, name, None), lambda: settle(m, default))
    entry = m.live
    value, raised = _find_quietly(m, atom, name)
    m.live = entry
    if value is MISSING:
        return settle(m, default)
    parts: list[tuple[Any, Value]] = [(raised & m.live, default)]
    parts += [(g & ~raised, default if v is MISSING else v) for g, v in alternatives(m, value)]
    return join(m, [p for p in parts if not p[0].is_false])


@table("builtins.setattr", "object.__setattr__")
def _setattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    each(m, args[0], lambda a: each(m, args[1], lambda n: _put(m, a, n, args[2])))
    return None


def _put(m: Machine, atom: Value, name: Value, value: Value) -> None:
    if isinstance(plain(name), str):
        attributes.put(m, atom, plain(name), value, None)
    else:
        m.coverage.unsupported("setattr with an unknown name", m.site(None))


@table("builtins.delattr")
def _delattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    each(m, args[0], lambda a: m.world.delete_attribute(m, a, args[1]) if isinstance(a, Instance) else None)
    return None


@table("builtins.callable")
def _callable(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: _as_value(m, _is_callable(m, a)))


def _is_callable(m: Machine, atom: Value) -> Any:
    if isinstance(atom, Unknown):
        return condition(m, "is", m.unknown(f"callable({atom.label})"), True)
    if isinstance(atom, Instance):
        there = attributes.class_attribute(m, atom.cls, "__call__") is not MISSING
        return m.space.true if there else m.space.false
    kinds = Function | Native | Bound | Partial | ClassValue | NativeClass | Opaque | Descriptor
    return m.space.true if isinstance(atom, kinds) else m.space.false


@table("builtins.super")
def _super(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args:
        return each(m, args[1], lambda s: Super(args[0], s))
    frame: Any = m.frame
    while frame is not None and (frame.function is None or frame.function.owner is None or not frame.function.node.params.items):
        frame = frame.outer
    while frame.outer is not None and frame.function.closure is frame.outer and frame.outer.function is not None and (
        frame.outer.function.owner is frame.function.owner
    ):
        frame = frame.outer
    first = frame.function.node.params.items[0].name
    return each(m, frame.read(m, first), lambda s: Super(frame.function.owner, s))


@table("builtins.property", "functools.cached_property", "abc.abstractproperty")
def _property(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("property", argument(args, kwargs, 0, "fget"), argument(args, kwargs, 1, "fset"))


@table("builtins.classmethod")
def _classmethod(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("classmethod", args[0])


@table("builtins.staticmethod")
def _staticmethod(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("staticmethod", args[0])


@table("builtins.repr", "builtins.ascii")
def _repr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: text_of(m, a, "r"))


@table("builtins.any")
def _any(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, containers.items_of(m, args[0], None), lambda items: _some(m, items, "any"))


@table("builtins.all")
def _all(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, containers.items_of(m, args[0], None), lambda items: _some(m, items, "all"))


def _some(m: Machine, items: Value, which: str) -> Value:
    if isinstance(items, Unknown):
        return m.unknown(f"{which}({items.label})", kind="bool")
    out = m.space.false if which == "any" else m.space.true
    for item in items:
        holds = truth(m, item)
        out = out | holds if which == "any" else out & holds
    return _as_value(m, out)


@table("builtins.sum")
def _sum(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from ..evaluate.operators import binary
    from ..evaluate.unions import each2

    start = argument(args, kwargs, 1, "start", 0)

    def total(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"sum({items.label})")
        out = start
        for item in items:
            out = each2(m, out, item, lambda a, b: binary(m, "+", a, b, None))
        return out

    return each(m, containers.items_of(m, args[0], None), total)


def _extreme(m: Machine, args: Args, kwargs: Kwargs, op: str) -> Value:
    items = containers.items_of(m, args[0], None) if len(args) == 1 else args

    def pick(items: Value) -> Value:
        name = "min" if op == "<" else "max"
        if isinstance(items, Unknown):
            return m.unknown(f"{name}({items.label})", kind=None)
        if not items:
            if "default" in kwargs:
                return kwargs["default"]
            raise m.throw(m.world.exception(m, "ValueError", f"{name}() iterable argument is empty"))
        key = kwargs.get("key")
        best, measure = items[0], items[0] if key is None else call_value(m, key, (items[0],), {})
        for item in items[1:]:
            mine = item if key is None else call_value(m, key, (item,), {})
            best, measure = _better(m, op, (item, mine), (best, measure))
        return best

    return each(m, items, pick)


def _better(m: Machine, op: str, new: tuple[Value, Value], old: tuple[Value, Value]) -> tuple[Value, Value]:
    from ..evaluate.unions import each2

    wins = truth(m, each2(m, new[1], old[1], lambda a, b: compare(m, op, a, b, None)))
    yes, no = m.live & wins, m.live & ~wins
    return tuple(join(m, [p for p in ((yes, n), (no, o)) if not p[0].is_false]) for n, o in zip(new, old, strict=True))  # type: ignore[return-value]


@table("builtins.min")
def _min(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _extreme(m, args, kwargs, "<")


@table("builtins.max")
def _max(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _extreme(m, args, kwargs, ">")


def _python(name: str, run: Any, kind: str | None = None) -> None:
    """A builtin that Python itself computes when its arguments are constants."""

    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return _apply(m, name, run, kind, args, ())

    table(f"builtins.{name}")(native)


def _apply(m: Machine, name: str, run: Any, kind: str | None, args: Args, done: Args) -> Value:
    if args:
        return each(m, args[0], lambda a: _apply(m, name, run, kind, args[1:], (*done, a)))
    values = tuple(plain(a) for a in done)
    if not all(isinstance(v, CONSTANTS) for v in values):
        return m.unknown(f"{name}({', '.join(map(describe, done))})", kind=kind)
    try:
        return run(*values)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise m.throw(m.world.exception(m, type(error).__name__, str(error))) from None


for _name, _run, _kind in (
    ("abs", abs, None),
    ("round", round, None),
    ("divmod", divmod, None),
    ("ord", ord, "int"),
    ("chr", chr, "str"),
    ("hex", hex, "str"),
    ("bin", bin, "str"),
):
    _python(_name, _run, _kind)


@table("builtins.hash")
def _hash(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return m.unknown("hash()", kind="int")


@table("builtins.id")
def _id(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: Unknown(f"id:{id(a)}", f"id({describe(a)})", None, "int"))


@table("builtins.vars")
def _vars(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: attributes.instance_dict(m, a) if isinstance(a, Instance) else m.unknown("vars()"))


@table("builtins.globals", "builtins.locals")
def _globals(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return m.unknown("globals()")


__all__ = ["identical", "is_instance", "table"]
