"""Classes and their instances: bases, the body, what making a class does, construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import tree
from . import inheritance
from .atoms import describe
from .enums import by_value, make_members
from .fields import fill_fields
from .unions import alternatives, each
from .values import MISSING, ClassValue, Descriptor, Function, Instance, Native, NativeClass, Opaque, Value

if TYPE_CHECKING:
    from .machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]

FLAG_OF = {"enum.Enum": "enum", "typing.NamedTuple": "namedtuple", "builtins.BaseException": "exception"}
INHERITED = {"enum", "namedtuple", "exception", "frozen"}


def make_class(m: Machine, node: tree.ClassDef) -> ClassValue:
    """The class object of a `class` statement, before its decorators."""
    from .expressions import evaluate

    bases = [_base(m, evaluate(m, a.value)) for a in node.bases if a.name is None and not a.star]
    keywords = {a.name: evaluate(m, a.value) for a in node.bases if a.name not in (None, "metaclass")}
    frame = m.frame
    symbol = f"{frame.symbol}.{node.name}"
    cls = ClassValue(node.name, symbol, m.module(), tuple(b for b in bases if b), m.space.true)
    cls.node = node
    _inherit(cls)
    cls.scope = m.world.class_scope(m, node, cls)
    if cls.scope is None:
        _run_body(m, node, cls)
    _subclassed(m, cls, keywords)
    return cls


def _base(m: Machine, value: Value) -> Any:
    """A base as a class; one that source cannot tell stands as an empty library class of that name."""
    alts = alternatives(m, value)
    atom = alts[0][1]
    if len(alts) == 1 and isinstance(atom, ClassValue | NativeClass):
        return atom
    if len(alts) == 1 and isinstance(atom, Native | Opaque):
        return m.world.outside_class(atom.symbol)
    m.coverage.unsupported("base class outside the engine", m.site(None))
    return m.world.outside_class(describe(atom))


def _inherit(cls: ClassValue) -> None:
    for base in cls.mro[1:]:
        if isinstance(base, ClassValue):
            cls.flags |= base.flags & INHERITED
        elif base.symbol in FLAG_OF:
            cls.flags.add(FLAG_OF[base.symbol])


def _run_body(m: Machine, node: tree.ClassDef, cls: ClassValue) -> None:
    """Run a body that is not evaluated on demand, that of a class inside a function or another class."""
    from .frames import Frame
    from .statements import execute

    frame = Frame(m.module(), None, _function_around(m), m.live, cls=cls)
    frame.names = cls.attrs
    m.frames.append(frame)
    try:
        execute(m, node.body)
    finally:
        m.frames.pop()
    complete(m, cls, node.body)


def _function_around(m: Machine) -> Any:
    frame = m.frame
    return frame if frame.local is not None else frame.outer


def complete(m: Machine, cls: ClassValue, block: tree.Block) -> None:
    """After statements of a class body: enum members, and descriptors learn their names."""
    if "enum" in cls.flags:
        make_members(m, cls, block)
    for node in block:
        for target in node.targets if isinstance(node, tree.Assign) else ():
            if isinstance(target, tree.Name):
                _name_descriptor(m, cls, target.id)


def _name_descriptor(m: Machine, cls: ClassValue, name: str) -> None:
    from .calls import call_value

    for _, value in alternatives(m, cls.attrs.get(name, MISSING)):
        if isinstance(value, Instance) and isinstance(value.cls, ClassValue) and value.cls is not cls:
            hook = inheritance.class_attribute(m, value.cls, "__set_name__")
            if hook is not MISSING:
                call_value(m, inheritance.bind(m, hook, value), (cls, name), {}, None)


def _subclassed(m: Machine, cls: ClassValue, keywords: Kwargs) -> None:
    """`__init_subclass__` of its bases."""
    from .calls import call_value

    hook = inheritance.class_attribute(m, cls, "__init_subclass__", after=cls)
    func = hook.func if isinstance(hook, Descriptor) else hook
    if isinstance(func, Function):
        call_value(m, func, (cls,), keywords, None)


def instantiate(m: Machine, cls: Value, args: Args, kwargs: Kwargs, node: Any) -> Value:
    """`cls(*args, **kwargs)`."""
    from .calls import call_value

    if "enum" in getattr(cls, "flags", ()) and args:
        return by_value(m, cls, args, node)
    new = inheritance.class_attribute(m, cls, "__new__")
    if new is not MISSING:
        maker = new.func if isinstance(new, Descriptor) else new
        made = call_value(m, maker, (cls, *args), kwargs, node)
    else:
        made = m.world.models.allocate(m, cls, args, kwargs)
    return each(m, made, lambda atom: _initialised(m, atom, cls, args, kwargs, node))


def _initialised(m: Machine, made: Value, cls: Value, args: Args, kwargs: Kwargs, node: Any) -> Value:
    if isinstance(made, Instance) and cls in made.cls.mro:
        m.record.instantiated(made, args, kwargs)
        initialise(m, made, args, kwargs, node)
    return made


def initialise(
    m: Machine, made: Instance, args: Args, kwargs: Kwargs, node: Any, after: Value = None
) -> None:
    """Run the first `__init__` of the class order (behind `after`), written or generated."""
    from .calls import call_value

    order = made.cls.mro
    for base in order[order.index(after) + 1 :] if after is not None else order:
        own = inheritance.own_attribute(m, base, "__init__")
        if own is not MISSING:
            call_value(m, own, (made, *args), kwargs, node)
            return
        if isinstance(base, ClassValue) and base.flags & {"dataclass", "namedtuple"}:
            fill_fields(m, made, base, args, kwargs, node)
            return
    _plain_object(m, made, args, kwargs)


def _plain_object(m: Machine, made: Instance, args: Args, kwargs: Kwargs) -> None:
    """`object.__init__` takes no arguments, but a class of which not everything is known may."""
    if not (args or kwargs) or not isinstance(made.cls, ClassValue) or m.world.is_open(made.cls):
        return
    if made.payload is MISSING and inheritance.class_attribute(m, made.cls, "__new__") is MISSING:
        m.fail("TypeError", f"{made.cls.name}() takes no arguments")
