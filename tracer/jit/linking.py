"""Follow what is launched through imports, callers and classes of other files, to the kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import takewhile

from msgspec.structs import replace

from ...report.predicate import Site
from .facts import Idiom
from .marks import dotted
from .reading import Called, Module
from .resolving import Resolver
from .scopes import Brought, Function, Made, Scope, parameters
from .targets import (
    Argument,
    ClassFact,
    Defined,
    Elsewhere,
    Found,
    Local,
    Member,
    Plain,
    Reached,
    Step,
    Unknown,
    plain,
)

_DEPTH = 8
_KEPT = 64
"""How many files are held read: callers of one function stand together."""


Open = Callable[[str, str | None], Module | None]
"""Reads a module; with a name, for the calls of what is named so."""


class Linker:
    """Follows targets across files. `mentioning` lists the modules whose text calls a name."""

    def __init__(self, read: Open, mentioning: Callable[[str], list[str]], classes: list[ClassFact]) -> None:
        self._read = lru_cache(_KEPT)(read)
        self._mentioning = mentioning
        self._known: dict[Plain, list[Reached]] = {}
        self._classes = {fact.defined.symbol: fact for fact in classes}
        self._below: dict[str, list[ClassFact]] = {}
        for fact in classes:
            for base in fact.bases:
                self._below.setdefault(base, []).append(fact)

    def reached(self, step: Step, depth: int = 0) -> Iterator[Reached]:
        """The definitions that a step leads to."""
        known = self._known.get(step.target)
        if known is None:
            known = list(self._target(step.target, depth + 1))
            if depth == 0 or isinstance(step.target, Argument):
                self._known[step.target] = known
        for each in known:
            yield each.after(step.found)

    def _target(self, target: Plain, depth: int) -> Iterator[Reached]:
        if depth > _DEPTH:
            yield _unknown("it leads on and on")
            return
        match target:
            case Defined() | Unknown():
                yield Reached(target, Found(Unknown("")))
            case Elsewhere():
                yield from self._elsewhere(target, depth)
            case Argument():
                yield from self._argument(target, depth)
            case Member():
                yield from self._member(target, depth)

    # --- other modules

    def _elsewhere(self, target: Elsewhere, depth: int) -> Iterator[Reached]:
        module, path = self._split(target.module, target.path)
        if module is None:
            yield _unknown(f"{'.'.join((target.module, *target.path))} is not in the engine's source")
            return
        node: ast.expr = ast.Name(path[0], ast.Load()) if path else ast.Constant(0)
        for name in path[1:]:
            node = ast.Attribute(node, name, ast.Load())
        found = list(self._read_at(module, node, target))
        for step in found:
            if step.target == target:
                yield _unknown(f"{module.name} brings {'.'.join(path)} from itself")
            else:
                yield from self.reached(step, depth)

    def _read_at(self, module: Module, node: ast.expr, target: Elsewhere) -> Iterator[Step]:
        resolver = Resolver(module)
        for found in resolver.resolve(node, module.scope):
            match found.target:
                case Local(scope=scope) if target.result and not scope.is_class:
                    yield from (plain(each, module.name) for each in resolver.results(scope, target.at, 0))
                case Elsewhere(result=False) as there if target.result:
                    moved = replace(there, result=True, at=target.at)
                    yield plain(replace(found, target=moved), module.name)
                case _:
                    yield plain(found, module.name)

    def _split(self, module: str, path: tuple[str, ...]) -> tuple[Module | None, tuple[str, ...]]:
        """The innermost module that the path leads into, and the names behind it."""
        for names in range(len(path), -1, -1):
            read = self._read(".".join((module, *path[:names])), None)
            if read is not None and names < len(path):
                return read, path[names:]
        return None, ()

    # --- callers

    def _argument(self, target: Argument, depth: int) -> Iterator[Reached]:
        *_, owner, function = ("", *target.function.qualname.split("."))
        name = owner if function == "__init__" else function
        seen = False
        for module, call in self._calls(name):
            value = self._given(target, module, call)
            for found in Resolver(module).resolve(value, call.scope) if value is not None else ():
                seen = True
                passed = replace(found, idioms=(Idiom.PARAMETER, *found.idioms))
                caller = module.function(call.decorates or call.scope)
                site = Site(module.path, call.node.lineno)
                for each in self.reached(plain(passed, module.name), depth):
                    yield replace(each, via=(site, *each.via), caller=each.caller or caller)
        if not seen:
            yield _unknown(f"no call of {name} was found that hands {target.name} over")

    def _calls(self, name: str) -> Iterator[tuple[Module, Called]]:
        for path in self._mentioning(name):
            module = self._read(path, name)
            if module is not None:
                yield from ((module, call) for call in module.calls)

    def _given(self, target: Argument, module: Module, call: Called) -> ast.expr | None:
        """What a call hands over under the parameter's name, if it is a call of this function."""
        scope = self._scope(target.function)
        function = scope.node if scope else None
        if not isinstance(function, Function) or not self._is_call_of(target.function, module, call):
            return None
        names = parameters(function)
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        given = {key.arg: key.value for key in call.node.keywords if key.arg}
        plainly = takewhile(lambda each: not isinstance(each, ast.Starred), call.node.args)
        given.update(zip(names, plainly, strict=False))
        return given.get(target.name)

    def _is_call_of(self, function: Defined, module: Module, call: Called) -> bool:
        """Whether what is called may be this function: by import, definition, or as any object's method."""
        func = call.node.func
        if not isinstance(func, ast.Name):
            dotted_by = call.scope.lookup(dotted(func).partition(".")[0])
            return "." in function.qualname or any(isinstance(bound, Brought) for bound in dotted_by)
        name = [part for part in function.qualname.split(".") if part != "__init__"][-1]
        return any(
            (isinstance(bound, Made) and module.name == function.module)
            or (isinstance(bound, Brought) and bound.name == name and _is_from(function.module, bound.module))
            for bound in call.scope.lookup(func.id)
        )

    def _scope(self, defined: Defined) -> Scope | None:
        module = self._read(defined.module, None)
        at = module.scope if module else None
        for name in defined.qualname.replace("<locals>.", "").split("."):
            made = [bound for bound in at.bound.get(name, ()) if isinstance(bound, Made)] if at else []
            at = made[-1].scope if made else None
        return at

    # --- classes

    def _member(self, target: Member, depth: int) -> Iterator[Reached]:
        fact = self._classes.get(target.owner.symbol)
        for base in fact.bases if fact else ():
            for above in self._named(base):
                found = list(self._kept(above, target.name, depth))
                if found:
                    yield from found
                    return
        below = [
            each for fact in self._all_below(target.owner) for each in self._below_one(fact, target, depth)
        ]
        yield from below
        if not below:
            yield _unknown(f"no class of its family keeps {target.name}")

    def _below_one(self, fact: ClassFact, target: Member, depth: int) -> Iterator[Reached]:
        for each in self._kept(fact, target.name, depth):
            inherited = replace(each.found, idioms=(Idiom.INHERITED, *each.found.idioms))
            yield replace(
                each, found=inherited, via=(fact.site, *each.via), caller=each.caller or fact.defined.symbol
            )

    def _kept(self, fact: ClassFact, name: str, depth: int) -> Iterator[Reached]:
        module, scope = self._read(fact.defined.module, None), self._scope(fact.defined)
        if module is None or scope is None or depth > _DEPTH:
            return
        for found in Resolver(module).member(scope, name, depth):
            step = plain(found, module.name)
            if not isinstance(step.target, Member):
                yield from self.reached(step, depth)

    def _named(self, name: str) -> Iterator[ClassFact]:
        for fact in self._classes.values():
            if fact.defined.qualname.rpartition(".")[2] == name:
                yield fact

    def _all_below(self, owner: Defined) -> Iterator[ClassFact]:
        pending, seen = [owner.qualname.rpartition(".")[2]], set[str]()
        while pending:
            name = pending.pop()
            for fact in self._below.get(name, ()) if name not in seen else ():
                yield fact
                pending.append(fact.defined.qualname.rpartition(".")[2])
            seen.add(name)

    def above(self, owner: Defined) -> Iterator[Defined]:
        """The classes that this one inherits from, as far as the engine has them."""
        pending, seen = [owner.symbol], set[str]()
        while pending:
            fact = self._classes.get(pending.pop())
            for base in fact.bases if fact else ():
                for each in self._named(base) if base not in seen else ():
                    yield each.defined
                    pending.append(each.defined.symbol)
                seen.add(base)

    def below(self, owner: Defined) -> tuple[Defined, ...]:
        """The classes that inherit from this one."""
        return tuple(fact.defined for fact in self._all_below(owner))


def _is_from(module: str, brought: str) -> bool:
    """Whether what is imported from `brought` may be the module's: packages hand on what is below them."""
    return module == brought or module.startswith(f"{brought}.")


def _unknown(reason: str) -> Reached:
    return Reached(Unknown(reason), Found(Unknown("")))
