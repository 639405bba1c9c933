"""Python's builtin functions that ask objects for attributes, and the few that stand for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.atoms import describe, plain
from ..evaluate.comparing import as_value, condition
from ..evaluate.hashing import hash_key
from ..evaluate.machine import Dead
from ..evaluate.texts import text_of
from ..evaluate.unions import alternatives, cover, each, join
from ..evaluate.values import MISSING, ClassValue, Descriptor, Instance, Super, Unknown, Value
from ..evaluate.vars import instance_dict
from .native import Args, Kwargs, Table, argument, by_python

if TYPE_CHECKING:
    from ..evaluate.frames import Frame
    from ..evaluate.machine import Machine
    from ..guards import Guard

table = Table()


@table("builtins.print", "warnings.warn")
def _nothing(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return None


# --- attributes by name


@table("builtins.hasattr", "inspect.hasattr")
def _hasattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda n: as_value(m, _has(m, a, plain(n)))))


def _has(m: Machine, atom: Value, name: Value) -> Guard:
    if not isinstance(name, str) or isinstance(atom, Unknown):
        return condition(m, "has attribute", atom, name)
    known = m.world.models.has(m, atom, name)
    return known if known is not None else cover(m, _find_quietly(m, atom, name))


def _find_quietly(m: Machine, atom: Value, name: str) -> Value:
    """The attribute, MISSING too on the paths on which asking for it raises AttributeError."""
    caught: list[tuple[Guard, Instance]] = []
    m.raised.append(caught)
    try:
        value = attributes.find(m, atom, name, None)
    except Dead:
        value = MISSING
    finally:
        m.raised.pop()
    parts = [(m.live, value)] if not m.live.is_false else []
    for guard, exc in caught:
        if any(base.symbol == "builtins.AttributeError" for base in exc.cls.mro):
            parts.append((guard, MISSING))
            m.live = m.live | guard
        else:
            m.raised[-1].append((guard, exc))
    if m.live.is_false:
        raise Dead
    return join(m, parts)


@table("builtins.getattr", "inspect.getattr_static")
def _getattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = args[2] if len(args) > 2 else MISSING
    return each(m, args[0], lambda a: each(m, args[1], lambda n: _get(m, a, plain(n), default)))


def _get(m: Machine, atom: Value, name: Value, default: Value) -> Value:
    if not isinstance(name, str):
        return m.unknown(f"getattr({describe(atom)}, {describe(name)})")
    if default is MISSING:
        return attributes.get(m, atom, name, None)
    known = m.world.models.has(m, atom, name)
    if known is not None and not known.is_true:
        return m.branch(
            known, lambda: attributes.get(m, atom, name, None), lambda: join(m, alternatives(m, default))
        )
    found = _find_quietly(m, atom, name)
    return join(m, [(g, default if v is MISSING else v) for g, v in alternatives(m, found)])


@table("builtins.setattr")
def _setattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(
        m, args[0], lambda a: each(m, args[1], lambda n: _put(m, a, plain(n), args[2], plainly=False))
    )


@table("object.__setattr__")
def _set_plainly(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda n: _put(m, a, plain(n), args[2], plainly=True)))


def _put(m: Machine, atom: Value, name: Value, value: Value, plainly: bool) -> None:
    if not isinstance(name, str):
        m.coverage.unsupported("setattr with an unknown name", m.site(None))
    elif plainly:
        attributes.put_plainly(m, atom, name, value, None)
    else:
        attributes.put(m, atom, name, value, None)


@table("builtins.delattr", "object.__delattr__")
def _delattr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda n: attributes.delete(m, a, plain(n), None)))


@table("builtins.vars")
def _vars(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return m.unknown("vars()")
    return each(
        m,
        args[0],
        lambda a: instance_dict(m, a) if isinstance(a, Instance) else m.unknown("vars()"),
    )


@table("builtins.globals", "builtins.locals")
def _globals(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return m.unknown("globals()")


# --- what makes methods


@table("builtins.super")
def _super(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args:
        return each(m, args[1], lambda s: Super(args[0], s))
    frame = m.frame.host()
    owner = _owner(frame)
    if owner is None or frame.function is None:
        return m.fail("RuntimeError", "super(): no arguments")
    first = frame.function.node.params.items[0].name
    return each(m, frame.read(m, first), lambda s: Super(owner, s))


def _owner(frame: Frame) -> ClassValue | None:
    return frame.function.owner if frame.function is not None and frame.function.node.params.items else None


@table("builtins.property", "abc.abstractproperty")
def _property(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("property", argument(args, kwargs, 0, "fget"), argument(args, kwargs, 1, "fset"))


@table("functools.cached_property")
def _cached_property(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("cached property", args[0])


@table("builtins.classmethod")
def _classmethod(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("classmethod", args[0])


@table("builtins.staticmethod")
def _staticmethod(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Descriptor("staticmethod", args[0])


# --- texts and numbers


@table("builtins.repr", "builtins.ascii")
def _repr(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: text_of(m, a, "r"))


@table("builtins.hash")
def _hash(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """A number that nobody knows; TypeError for what has none."""

    def of(atom: Value) -> Value:
        hash_key(m, atom)
        return m.unknown("hash()", kind="int")

    return each(m, args[0], of)


@table("builtins.id")
def _id(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: Unknown(f"id:{m.tag(a)}", f"id({describe(a)})", None, "int"))


def _declare(name: str, run: object, kind: str | None) -> None:
    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return by_python(m, name, run, args, kind)  # type: ignore[arg-type]

    table(f"builtins.{name}")(native)


for _name, _run, _kind in (
    ("abs", abs, None),
    ("round", round, None),
    ("divmod", divmod, None),
    ("pow", pow, None),
    ("ord", ord, "int"),
    ("chr", chr, "str"),
    ("hex", hex, "str"),
    ("bin", bin, "str"),
    ("oct", oct, "str"),
):
    _declare(_name, _run, _kind)
