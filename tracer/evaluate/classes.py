"""Classes and their instances: bases, enum members, dataclass fields, construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import tree
from . import attributes
from .unions import alternatives, join
from .values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    FieldDefault,
    Function,
    Instance,
    Native,
    NativeClass,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from .machine import Machine


class Field:
    """One dataclass field; `default` MISSING when required, `factory` a callable value or None."""

    __slots__ = ("alias", "annotation", "default", "factory", "init", "kw_only", "name")

    def __init__(self, name: str, annotation: tree.Node | None) -> None:
        self.name, self.annotation = name, annotation
        self.default: Value = MISSING
        self.factory: Value = None
        self.init, self.kw_only = True, False


def make_class(m: Machine, node: tree.ClassDef) -> Value:
    """The class object of a `class` statement, decorated."""
    from .expressions import evaluate
    from .statements import decorate

    bases = [_base(m, evaluate(m, a.value)) for a in node.bases if a.name is None and not a.star]
    frame = m.frame
    cls = ClassValue(node.name, f"{frame.symbol}.{node.name}", m.module(), tuple(b for b in bases if b), m.space.true)
    cls.node = node
    _inherit(m, cls)
    cls.scope = m.world.class_scope(m, node, cls)
    if cls.scope is None:
        _run_body(m, node, cls)
    value: Value = cls
    for decorator in reversed(node.decorators):
        made = decorate(m, decorator, value)
        value = cls if isinstance(made, Unknown) else made
    m.world.subclassed(m, cls)
    return value


def _base(m: Machine, value: Value) -> Any:
    """A base as a class; one that source cannot tell stands as an empty library class of that name."""
    from .operators import describe

    alts = alternatives(m, value)
    atom = alts[0][1]
    if len(alts) == 1 and isinstance(atom, ClassValue | NativeClass):
        return atom
    if len(alts) == 1 and isinstance(atom, Native):
        return m.world.class_of_native(atom)
    m.coverage.unsupported("base class outside the engine", m.site(None))
    return m.world.outside_class(describe(atom))


def _inherit(m: Machine, cls: ClassValue) -> None:
    for base in cls.mro[1:]:
        if isinstance(base, ClassValue):
            cls.flags |= base.flags & {"enum", "namedtuple", "exception", "typeddict", "hash by fields"}
        elif base.symbol in FLAG_OF:
            cls.flags.add(FLAG_OF[base.symbol])
    if "namedtuple" in cls.flags:
        cls.flags.add("hash by fields")


FLAG_OF = {"enum.Enum": "enum", "typing.NamedTuple": "namedtuple", "builtins.BaseException": "exception"}


def _run_body(m: Machine, node: tree.ClassDef, cls: ClassValue) -> None:
    from .frames import Frame
    from .statements import execute

    frame = Frame(m.module(), m.frame.function, m.frame, m.live, cls=cls)
    frame.names = cls.attrs
    m.frames.append(frame)
    try:
        execute(m, node.body)
    finally:
        m.frames.pop()


def enum_member(m: Machine, cls: ClassValue, name: str, value: Value) -> Value:
    """A class attribute of an enum as its member; methods, private names and descriptors stay as they are."""
    if name.startswith("_") or isinstance(value, Function | Descriptor | Native | Bound | ClassValue | Instance):
        return value
    order = list(cls.scope.statements) if cls.scope is not None else list(cls.attrs)
    if isinstance(value, AutoValue):
        text = any(b.symbol in ("enum.StrEnum",) for b in cls.mro)
        value = name.lower() if text else 1 + ([n for n in order if not n.startswith("_")] + [name]).index(name)
    mixed = any(b.symbol in VALUE_LIKE for b in cls.mro[1:])
    member = Instance(cls, m.space.true, value if mixed else MISSING)
    member.attrs |= {"name": name, "_name_": name, "value": value, "_value_": value}
    return member


VALUE_LIKE = {"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "enum.Flag", "builtins.str", "builtins.int"}


class AutoValue:
    """`enum.auto()` before its member is known."""


def members(m: Machine, cls: ClassValue) -> list[Instance]:
    """The members of an enum in the order of the text."""
    names = list(cls.scope.statements) if cls.scope is not None else list(cls.attrs)
    found = [attributes.own_attribute(m, cls, name) for name in names]
    out: list[Instance] = []
    for item in found:
        if isinstance(item, Instance) and item.cls is cls and not any(item is o for o in out):
            out.append(item)
    return out


def fields_of(m: Machine, cls: ClassValue) -> list[Field]:
    """The fields of a dataclass or NamedTuple, base classes first."""
    found: dict[str, Field] = {}
    for base in reversed(cls.mro):
        if isinstance(base, ClassValue):
            for name, annotation in m.world.annotations(base):
                if not _is_class_var(annotation):
                    found[name] = _field(m, base, name, annotation)
    return list(found.values())


def _is_class_var(annotation: tree.Node | None) -> bool:
    head = annotation.value if isinstance(annotation, tree.Index) else annotation
    if isinstance(head, tree.Const):
        return isinstance(head.value, str) and head.value.startswith(("ClassVar", "typing.ClassVar"))
    name = head.id if isinstance(head, tree.Name) else head.name if isinstance(head, tree.Attr) else ""
    return name == "ClassVar"


def _field(m: Machine, cls: ClassValue, name: str, annotation: tree.Node | None) -> Field:
    field = Field(name, annotation)
    default = attributes.own_attribute(m, cls, name)
    if isinstance(default, FieldDefault):
        field.default, field.factory, field.init = default.default, default.factory, default.init
        field.kw_only = default.kw_only
    else:
        field.default = default
    return field


def instantiate(m: Machine, cls: Value, args: tuple[Value, ...], kwargs: dict[str, Value], node: Any) -> Value:
    """`cls(*args, **kwargs)`."""
    if "enum" in getattr(cls, "flags", ()):
        return _enum_by_value(m, cls, args, node)
    new = attributes.class_attribute(m, cls, "__new__")
    if new is not MISSING:
        maker = new.func if isinstance(new, Descriptor) else new
        from .calls import call_value

        made = call_value(m, maker, (cls, *args), kwargs, node)
    else:
        made = m.world.allocate(m, cls, args, kwargs)
    parts = [(g, _initialised(m, a, cls, args, kwargs, node)) for g, a in alternatives(m, made)]
    return join(m, parts)


def _initialised(m: Machine, made: Value, cls: Value, args: tuple[Value, ...], kwargs: dict[str, Value], node: Any) -> Value:
    if isinstance(made, Instance) and cls in made.cls.mro:
        initialise(m, made, args, kwargs, node)
    return made


def initialise(m: Machine, made: Instance, args: tuple[Value, ...], kwargs: dict[str, Value], node: Any) -> None:
    """Run the first `__init__` of the class order, written or generated."""
    from .calls import call_value

    for base in made.cls.mro:
        own = attributes.own_attribute(m, base, "__init__")
        if own is not MISSING:
            call_value(m, own, (made, *args), kwargs, node)
            return
        if isinstance(base, ClassValue) and base.flags & {"dataclass", "namedtuple"} and base in _declaring(made.cls):
            fill_fields(m, made, base, args, kwargs, node)
            return


def _declaring(cls: Any) -> tuple[Any, ...]:
    return tuple(b for b in cls.mro if isinstance(b, ClassValue))


def fill_fields(
    m: Machine, made: Instance, cls: ClassValue, args: tuple[Value, ...], kwargs: dict[str, Value], node: Any
) -> None:
    """The generated `__init__` of a dataclass or NamedTuple, then `__post_init__`."""
    from .calls import Spread, call_value

    left, named = [a for a in args if not isinstance(a, Spread)], dict(kwargs)
    spread = len(left) < len(args) or isinstance(named.pop("**", None), Spread)
    for field in fields_of(m, cls):
        value = MISSING
        if field.init:
            value = left.pop(0) if left and not field.kw_only else named.pop(field.name, MISSING)
        if value is MISSING and spread:
            value = m.unknown(field.name, node)
        if value is MISSING:
            value = call_value(m, field.factory, (), {}, node) if field.factory is not None else field.default
        value = attributes.absent(m, value, "TypeError", f"{cls.name}() missing a required argument: '{field.name}'")
        made.attrs[field.name] = value
    if named or left:
        what = f"an unexpected keyword argument '{next(iter(named))}'" if named else "too many arguments"
        raise m.throw(m.world.exception(m, "TypeError", f"{cls.name}() got {what}"))
    if "namedtuple" in cls.flags:
        made.payload = tuple(made.attrs[f.name] for f in fields_of(m, cls))
    after = attributes.class_attribute(m, made.cls, "__post_init__")
    if after is not MISSING and "dataclass" in cls.flags and made.cls.symbol not in m.world.no_post_init:
        call_value(m, attributes.bind(m, after, made), (), {}, node)


def _enum_by_value(m: Machine, cls: ClassValue, args: tuple[Value, ...], node: Any) -> Value:
    from .hashing import equal
    from .operators import describe

    rest, parts = m.live, []
    for member in members(m, cls):
        hit = rest & equal(m, args[0], member.attrs["value"], node)
        for guard, atom in alternatives(m, args[0]):
            hit = hit | (guard & m.space.true) if atom is member else hit
        if not hit.is_false:
            parts.append((hit, member))
            rest = rest & ~hit
    if rest.is_false:
        return join(m, parts)

    def fail() -> Value:
        from .calls import describe_value

        missing = attributes.class_attribute(m, cls, "_missing_")
        if missing is not MISSING:
            from .calls import call_value

            found = call_value(m, attributes.bind(m, missing, cls), args, {}, node)
            if found is not None:
                return found
        raise m.throw(m.world.exception(m, "ValueError", f"{describe_value(m, args[0])} is not a valid {cls.name}"))

    _ = describe
    return m.branch(rest, fail, lambda: join(m, parts))
