"""What an expression may stand for: within its file, and in terms that outlive the reading of it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ...report.predicate import Site
from .facts import Idiom
from .scopes import Scope


class Local(Struct, frozen=True):
    """A definition of this file."""

    scope: Scope


class Elsewhere(Struct, frozen=True):
    """What another module binds a name to, or an attribute of that."""

    module: str
    path: tuple[str, ...]
    result: bool = False
    """Whether it is called, and what it gives is meant."""
    at: int | None = None
    """Which entry of what it gives."""


class Parameter(Struct, frozen=True):
    """What callers hand over."""

    scope: Scope
    name: str


class OnObject(Struct, frozen=True):
    """What the classes above or below this one keep under a name."""

    scope: Scope
    name: str


class Unknown(Struct, frozen=True):
    """What could not be told."""

    reason: str


Target = Local | Elsewhere | Parameter | OnObject | Unknown


class Found(Struct, frozen=True):
    """One thing that an expression may stand for, and how it is come by."""

    target: Target
    idioms: tuple[Idiom, ...] = ()
    tests: tuple[str, ...] = ()
    key: str | None = None

    def through(self, idiom: Idiom, test: str | None = None, key: str | None = None) -> Found:
        """The same, come by in one more way."""
        tests = self.tests if test is None else (test, *self.tests)
        return replace(self, idioms=(idiom, *self.idioms), tests=tests, key=key or self.key)


NOTHING = Unknown("it is None")


class Defined(Struct, frozen=True):
    """A definition, by its module and qualified name in it."""

    module: str
    qualname: str

    @property
    def symbol(self) -> str:
        return f"{self.module}.{self.qualname}"


class Argument(Struct, frozen=True):
    """What callers of a function hand over under a name."""

    function: Defined
    name: str


class Member(Struct, frozen=True):
    """What the classes above or below this one keep under a name."""

    owner: Defined
    name: str


Plain = Defined | Argument | Member | Elsewhere | Unknown


class Step(Struct, frozen=True):
    """One thing that a launched expression may stand for, in terms that outlive the reading of its file."""

    target: Plain
    found: Found
    """How it is come by; the target in it is void."""


def plain(found: Found, module: str) -> Step:
    """The same without the scopes of its file."""
    target: Plain
    match found.target:
        case Local(scope=scope):
            target = Defined(module, scope.qualname)
        case Parameter(scope=scope, name=name):
            target = Argument(Defined(module, scope.qualname), name)
        case OnObject(scope=scope, name=name):
            target = Member(Defined(module, scope.qualname), name)
        case Elsewhere() | Unknown() as same:
            target = same
    return Step(target, replace(found, target=Unknown("")))


class ClassFact(Struct, frozen=True):
    """A class of the engine."""

    defined: Defined
    site: Site
    bases: tuple[str, ...]
    """The last names of its bases."""


class Reached(Struct, frozen=True):
    """A definition that a launched expression stands for, or why there is none."""

    target: Defined | Unknown
    found: Found
    via: tuple[Site, ...] = ()
    caller: str | None = None

    def after(self, outer: Found) -> Reached:
        """The same, come by as `outer` says first."""
        return replace(
            self,
            found=replace(
                self.found,
                idioms=(*outer.idioms, *self.found.idioms),
                tests=(*outer.tests, *self.found.tests),
                key=outer.key or self.found.key,
            ),
        )
