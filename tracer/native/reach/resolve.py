"""What a name of C++ means where it stands: scopes, what is included, overloads by their arguments."""

from __future__ import annotations

from collections.abc import Iterable

from ..registrations import Implementation
from .files import NativeFiles
from .outline import Definition, Kind


class Resolver:
    """Finds definitions by name, as the compiler and the linker would."""

    def __init__(self, files: NativeFiles) -> None:
        self.files = files

    def named(self, name: str, at: Definition, given: int | None = None) -> tuple[Definition, ...]:
        """The definitions that a name may mean inside of another definition; `given` counts arguments."""
        *scope, short = self.whole(name, at).split("::")
        opened = self.files.opened(at.path)
        known = [
            d
            for d in self.files.definitions.get(short, ())
            if _fits(d, scope, at, opened) and _takes(d, given)
        ]
        if not known:
            return ()
        seen = self.files.closure(at.path)
        visible = [d for d in known if d.path in seen]
        bodies = [d for d in visible if d.body is not None]
        if bodies:
            return _best(_nearest(bodies, at), given)
        # Declared here, defined elsewhere: the linker finds it by its qualified name.
        declared = {(d.qualified, len(d.params)) for d in _nearest(visible, at)}
        if not visible and short in self.files.declared_within(at.path):
            declared = {(d.qualified, len(d.params)) for d in known}
        return tuple(
            d
            for d in known
            if d.body is not None and not d.hidden and (d.qualified, len(d.params)) in declared
        )

    def host(self, implementation: Implementation) -> tuple[Definition, ...]:
        """The functions that a registration may mean, by what its own place sees."""
        site = implementation.site
        text = self.files.text(site.path)
        around = [
            d
            for items in self.files.definitions.values()
            for d in items
            if d.path == site.path and d.body is not None and _holds(text, d.body, site.line)
        ]
        scope = around[0].scope if around else ()
        at = Definition(Kind.FUNCTION, "", scope, site.path, site.line)
        return tuple(
            d
            for d in self.named(f"{implementation.scope}{implementation.function}", at)
            if d.kind is Kind.FUNCTION
        )

    def whole(self, name: str, at: Definition) -> str:
        """A name with the namespace that its first word is short for."""
        first, mark, rest = name.partition("::")
        return f"{self.files.renamed(at.path).get(first, first)}{mark}{rest}" if mark else name

    def declared(self, name: str, at: Definition) -> tuple[Definition, ...]:
        """The declarations of a name that are seen there."""
        *scope, short = self.whole(name, at).split("::")
        opened = self.files.opened(at.path)
        seen = self.files.closure(at.path)
        found = [
            d for d in self.files.definitions.get(short, ()) if d.path in seen and _fits(d, scope, at, opened)
        ]
        return tuple(found)

    def methods(
        self,
        owner: Definition,
        name: str,
        given: int | None = None,
        above: tuple[Definition, ...] = (),
    ) -> tuple[Definition, ...]:
        """A class's methods of a name, its own or of a class that it is made from."""
        scope = (*owner.scope, owner.name)
        found = [
            d
            for d in self.files.definitions.get(name, ())
            if d.body is not None and _plain(d.scope) == _plain(scope) and _takes(d, given)
        ]
        if found:
            return tuple(found)
        bases = (base for text in owner.bases for base in self.named(text.split("<")[0].strip(), owner))
        return tuple(
            m
            for base in bases
            if base.kind is Kind.CLASS and base not in (owner, *above)
            for m in self.methods(base, name, given, (*above, owner))
        )

    def aliases(self, owner: Definition, name: str) -> tuple[Definition, ...]:
        """The types that a class calls by a name."""
        scope = _plain((*owner.scope, owner.name))
        found = self.files.definitions.get(name, ())
        return tuple(d for d in found if d.kind in (Kind.ALIAS, Kind.CLASS) and _plain(d.scope) == scope)

    def owners(self, name: str, at: Definition, given: int) -> tuple[Definition, ...]:
        """The methods of a name where one class alone that is seen there has it."""
        seen = self.files.closure(at.path)
        classes = {
            _plain((*d.scope, d.name))
            for items in self.files.definitions.values()
            for d in items
            if d.kind is Kind.CLASS
        }
        found = [
            d
            for d in self.files.definitions.get(name, ())
            if d.body is not None and d.path in seen and _plain(d.scope) in classes and _takes(d, given)
        ]
        return tuple(found) if len({d.scope for d in found}) == 1 else ()


def _holds(text: str, body: tuple[int, int], line: int) -> bool:
    first = text.count("\n", 0, body[0]) + 1
    return first <= line <= first + text.count("\n", *body)


def _plain(scope: Iterable[str]) -> tuple[str, ...]:
    return tuple(part for part in scope if part)


def _fits(definition: Definition, scope: list[str], at: Definition, opened: frozenset[str]) -> bool:
    """Whether a name with these words before it may mean a definition there."""
    own = _plain(definition.scope)
    if scope:
        return own[-len(scope) :] == tuple(scope)
    here = _plain((*at.scope, at.name) if at.kind is Kind.CLASS else at.scope)
    if own == here[: len(own)] or "::".join(own[-1:]) in opened:
        return True
    return any(f"::{definition.qualified}".endswith(f"::{name}") for name in opened if "::" in name)


def _takes(definition: Definition, given: int | None) -> bool:
    if given is None or definition.kind in (Kind.CLASS, Kind.ALIAS):
        return True
    return definition.least <= given and (definition.most is None or given <= definition.most)


def _best(found: tuple[Definition, ...], given: int | None) -> tuple[Definition, ...]:
    """Overloads that take as many arguments as are given, before those that take any number."""
    exact = tuple(d for d in found if d.most is not None)
    return exact if given is not None and exact else found


def _nearest(found: list[Definition], at: Definition) -> tuple[Definition, ...]:
    """Those whose scope has most in common with where they are named; of the same file before others."""
    here = _plain(at.scope)

    def common(d: Definition) -> tuple[int, int]:
        own = _plain(d.scope)
        shared = next((n for n in range(min(len(own), len(here)), -1, -1) if own[:n] == here[:n]), 0)
        return (shared - (len(own) - shared), 1 if d.path == at.path else 0)

    best = max(map(common, found), default=None)
    return tuple(d for d in found if common(d) == best)
