"""vLLM: parts of the configuration as the engine's start leaves them, told without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.fields import fields_of
from ..evaluate.values import MISSING, ClassValue, Instance, Unknown
from . import platform as facts
from .rewritten import ANY, fields_of as rewritten_of

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..kept.wholes import Rewritten


class Changes(NamedTuple):
    """Why a field of a configuration may differ from its default."""

    rewritten: Rewritten
    given: frozenset[str]
    """Engine arguments that the launch gives and that nobody reads: fields of that name are unknown."""

    def of(self, cls: str, name: str, declared: set[str]) -> set[str]:
        """The fields of a configuration of that class and name that are not known."""
        by_itself = self.rewritten.get(cls, frozenset()) - {ANY}  # its declared fields or others
        by_launch = declared if name in self.given else self.given
        return (declared & (rewritten_of(self.rewritten, name, declared) | by_launch)) | by_itself


def outline(m: Machine, cls: ClassValue, name: str, changed: Changes) -> Instance:
    """A configuration object whose constructor was not run."""
    out, declared = facts.new(m, cls), _declared(m, cls)
    unknown = changed.of(cls.name, name, declared)
    if ANY in changed.rewritten.get(cls.name, ()) and not _begun(m, out):
        unknown |= declared
    for field in sorted(unknown):
        out.attrs[field] = Unknown(f"{name}.{field}", f"{name}.{field}")
    return out


def _begun(m: Machine, out: Instance) -> bool:
    """Evaluate what an object does to itself when it is made; whether that could be read to its end.

    So where it goes through its own fields by name, as one does that takes them from the environment.
    """
    first = len(m.record.edges)
    run = attributes.find(m, out, "__post_init__", None)
    ended, raised = (
        (MISSING, False) if run is MISSING else facts.attempt(m, lambda: call_value(m, run, (), {}))
    )
    del m.record.edges[first:]  # a step of the start, none on the way to the layer
    return ended is not MISSING and not raised


def partial(m: Machine, cls: ClassValue, name: str, changed: Changes) -> Instance:
    """The same with the parts of it that others write to; any other is made when it is first read."""
    out = outline(m, cls, name, changed)
    for field in fields_of(m, cls):
        part, known = field.factory, not isinstance(out.attrs.get(field.name), Unknown)
        if known and field.name in changed.rewritten and isinstance(part, ClassValue):
            make = partial if _declared(m, part) & changed.rewritten.keys() else outline
            out.attrs[field.name] = make(m, part, field.name, changed)
    return out


def _declared(m: Machine, cls: ClassValue) -> set[str]:
    """The names of its fields."""
    bases = (base for base in cls.mro if isinstance(base, ClassValue))
    return {name for base in bases for name, _, of_class, _ in m.world.declared(base) if not of_class}
