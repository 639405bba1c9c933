"""What names stand for inside of one call of a function: what it was handed, its locals, what it sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....report.predicate import Opaque
from .asked import given_back, spelled_out
from .conditions import CAPABILITY, MAJOR
from .files import NativeFiles
from .made_of import DEEPEST, NAME
from .outline import Definition, Kind
from .resolve import Resolver
from .settle import Env, Target
from .spelled import Given
from .uses import Use

LITERALS = frozenset({"true", "false", "nullptr"})


def _shown(target: Target) -> str | None:
    if isinstance(target, str):
        return target if target in ("true", "false") else None
    return target.qualified if target.kind is Kind.FUNCTION else None


def _tells(targets: tuple[Target, ...]) -> bool:
    """Whether a name stands for a truth."""
    return any(target in ("true", "false") for target in targets)


RUN = (Kind.FUNCTION, Kind.KERNEL)


def _taken_apart(base: str) -> tuple[str, list[str]]:
    """A base class's name, and its template arguments."""
    name, _, given = base.partition("<")
    parts, depth = [""], 0
    for sign in given.strip().removesuffix(">"):
        depth += (sign in "<(") - (sign in ">)")
        parts = [*parts, ""] if sign == "," and not depth else [*parts[:-1], parts[-1] + sign]
    return name.strip(), [part.strip() for part in parts]


class Scope:
    """One function, and what its parameters and locals are bound to so far."""

    def __init__(self, files: NativeFiles, names: Resolver, function: Definition, env: Env) -> None:
        self.files, self.names, self.function = files, names, function
        self.handed_on = frozenset(env)
        changed = files.body(function).changed
        self.env: Env = {name: held for name, held in env.items() if name not in changed or not _tells(held)}
        self.terms: dict[str, str] = {}
        self.locals = {param.name for param in function.params} | self.env.keys()

    def let(self, use: Use) -> None:
        """A local is declared or set."""
        self.locals.add(use.name)
        term = self._set_to(use)
        if term is not None:
            self.terms[use.name] = term
        elif use.name in self.terms and (use.test is not None or use.args[0].names):
            del self.terms[use.name]
        targets = tuple(target for name in use.args[0].names for target in self.targets(name))
        if not use.fixed and _tells(targets):
            return  # a truth that may be another one when it is asked for
        if targets:
            self.env[use.name] = tuple(dict.fromkeys((*self.env.get(use.name, ()), *targets)))

    def term(self, text: str) -> str:
        """A term of a condition as the scenario calls it; itself where it says nothing of that."""
        if text in self.terms:
            return self.terms[text]
        if text == CAPABILITY:
            return f"the given {text}"  # a name of the engine's own, which may be of another device
        asked = given_back(text, self.function, self.files, self.names) if text.endswith("()") else None
        return asked or spelled_out(text)

    def _set_to(self, use: Use) -> str | None:
        """The term that a local is set to, where it is the capability or a part of it."""
        names = (use.test.symbol,) if isinstance(use.test, Opaque) else use.args[0].names
        found = [self.term(name) for name in names]
        return found[0] if len(found) == 1 and found[0] in (CAPABILITY, MAJOR) else None

    def targets(self, name: str, given: int | None = None) -> tuple[Target, ...]:
        """What a name stands for: what is bound to it, what it is defined as, or itself as a literal."""
        if name in self.env:
            return self.env[name]
        if name in LITERALS:
            return (name,)
        if name.endswith("()"):
            return tuple(self._returned(name[:-2]))
        owner, _, member = name.rpartition("::")
        if owner in self.env:
            return tuple(self._members(self.env[owner], member, given))
        found = self.names.named(name, self.function, given)
        if found or not owner:
            return found
        return tuple(self._members(self.names.named(owner, self.function), member, given))

    def given(self, given: Given) -> tuple[Target, ...]:
        """What an argument hands on."""
        return tuple(t for name in given.names if not name.endswith("()") for t in self.targets(name))

    def shown(self, given: tuple[Given, ...]) -> tuple[str, ...]:
        """The template arguments that a profiler is sure to print so, where a function of the tree is one: it
        and truths.
        """
        only = (targets[0] for each in given if len(targets := self.given(each)) == 1)
        named = tuple(name for target in only if (name := _shown(target)) is not None)
        return named if any(name not in LITERALS for name in named) else ()

    def handed(self, use: Use, function: Definition) -> Env:
        """What a call binds the parameters of its callee to: functions, kernels, classes, truths."""
        env = self._inherited(use, function)
        for param, given in zip(function.params, use.args, strict=False):
            targets = self.given(given)
            if targets and param.name:
                env[param.name] = targets
                if param.type in function.templates:
                    env[param.type] = targets
        for name, given in zip(function.templates, use.templates, strict=False):
            targets = self.given(given)
            if targets and name:
                env[name] = targets
        return env

    def _inherited(self, use: Use, function: Definition) -> Env:
        """What a base class's template parameters are where its method is called by a class made from it."""
        owner = use.name.rpartition("::")[0]
        env: Env = {}
        for made in self._classes(self.targets(owner)) if owner else ():
            for base, given in map(_taken_apart, made.bases):
                classes = (
                    self.names.named(base, made) if base.rpartition("::")[2] == function.scope[-1] else ()
                )
                for name, word in zip((n for c in classes for n in c.templates), given, strict=False):
                    if word.isidentifier() and (targets := self.names.named(word, made)):
                        env[name] = targets
        return env

    def own(self, use: Use, function: Definition) -> frozenset[str]:
        """The names that a callee has for itself: its locals, and parameters that were not handed that."""
        pairs = zip(function.params, use.args, strict=False)
        same = {param.name for param, given in pairs if given.names == (param.name,)}
        held = zip(function.templates, use.templates, strict=False)
        same |= {name for name, given in held if given.names == (name,)}
        names = {param.name for param in function.params} | set(function.templates)
        return frozenset(names - same) | self.files.body(function).changed

    def meant(self, use: Use) -> tuple[Definition, ...]:
        """The definitions that a use may be of."""
        given = len(use.args) if use.kind == "call" else None
        if use.on:
            return self._methods(use, given)
        found = self.targets(use.name, given)
        if use.kind == "call" and use.name in self.env:
            called = (m for c in self._classes(found) for m in self.names.methods(c, "operator()", given))
            found = (*found, *called)
        return tuple(target for target in found if isinstance(target, Definition))

    def is_local(self, name: str) -> bool:
        """Whether a name is a local of the function: what it stands for was named where it was set."""
        return name in self.locals and name not in self.handed_on

    def _methods(self, use: Use, given: int | None) -> tuple[Definition, ...]:
        bound = list(self._classes(self.env.get(use.on, ())))
        if bound:
            return tuple(m for c in bound for m in self.names.methods(c, use.name, given))
        return self.names.owners(use.name, self.function, given or 0) if use.on == "this" else ()

    def _members(self, targets: Iterable[Target], name: str, given: int | None) -> Iterator[Definition]:
        for owner in self._classes(targets):
            yield from self.names.methods(owner, name, given)
            yield from self.names.aliases(owner, name)

    def _returned(self, name: str) -> Iterator[Definition]:
        """The functions and kernels that a function of the tree gives back by pointer."""
        for function in self.names.named(name, self.function):
            if function.kind is not Kind.FUNCTION or function.body is None:
                continue
            for use in self.files.body(function).uses:
                for given in use.args if use.kind == "return" else ():
                    for back in given.names:
                        yield from (d for d in self.names.named(back, function) if d.kind in RUN)

    def _classes(self, targets: Iterable[Target], depth: int = 0) -> Iterator[Definition]:
        """The classes among these, or that these are other names of."""
        for target in targets:
            if isinstance(target, Definition) and target.kind is Kind.CLASS:
                yield target
            elif isinstance(target, Definition) and target.kind is Kind.ALIAS and depth < DEEPEST:
                yield from self._classes(self._renamed(target), depth + 1)

    def _renamed(self, alias: Definition) -> tuple[Definition, ...]:
        """What an alias stands for; where it chooses between types, each of them."""
        names = [name for name in NAME.findall(self.files.inside(alias)) if name not in ("typename", "const")]
        first = names[:1] if names and "conditional" not in names[0] else names[1:]
        return tuple(d for name in first for d in self.names.named(name, alias) if d != alias)
