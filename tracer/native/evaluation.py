"""A function of the subset evaluated in three values: every return that may be taken, and what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...report.predicate import Site
from .cpp import (
    Apply,
    Ask,
    Call,
    Check,
    Defined,
    Expr,
    Function,
    If,
    Let,
    Name,
    Number,
    Odd,
    Return,
    Statement,
    Stop,
    Text,
    parts,
)
from .values import (
    Facts,
    Macro,
    Macros,
    Open,
    Tensor,
    Value,
    arithmetic,
    cast,
    conj,
    disj,
    joined,
    left_open,
    neg,
)

_MAX_STEPS = 20_000
_MAX_DEPTH = 16

Helper = Callable[[str], tuple[Function, Macros] | None]
"""Finds a function of the same file, with what is defined above it."""


READS = frozenset({
    "size", "dim", "itemsize", "element_size", "numel", "stride", "strides", "sizes", "scalar_type", "dtype",
    "device", "get_device", "get_device_index", "is_cuda", "is_cpu", "is_contiguous", "defined", "layout",
    "storage_offset", "has_value", "empty", "length", "data_ptr", "const_data_ptr",
})  # fmt: skip
"""Methods that leave what they are asked of as it is."""


class Failed(NamedTuple):
    """A check that every call with these arguments comes to, unless it raises before, and that is false."""

    macro: str
    message: str
    test: str
    site: Site


class Reading:
    """One evaluation: what is known, and on the way every name that was asked for and is not."""

    def __init__(self, helper: Helper, facts: Facts, macros: Macros) -> None:
        self.helper = helper
        self.facts = facts
        self.macros = macros
        self.asked: set[str] = set()
        self.failed: list[Failed] = []
        self._certain = True
        """Whether every call comes to the statement at hand or raises."""
        self._loose: set[str] = set()
        """Names of the function at hand that what was not read may write, now or later."""
        self._steps = 0
        self._depth = 0

    def macro(self, name: str) -> Macro:
        """Say what is known of a macro: the file's own definition, else the caller's."""
        if name in self.macros:
            return self.macros[name]
        if name not in self.facts:
            return Macro(left_open(name), left_open(name))
        value = self.facts[name]
        return Macro(0, 0) if value is None else Macro(1, value)

    def call(self, function: Function, args: tuple[Value, ...]) -> list[tuple[Value, Site]]:
        """Give every value that a call may return, and the returns that give them."""
        here = Site(function.path, function.line)
        if len(args) != len(function.params) or self._depth >= _MAX_DEPTH:
            return [(left_open(f"a call of {here}"), here)]
        named = zip(function.params, args, strict=True)
        env = {name: (kind, cast(kind, value)) for (name, kind), value in named}
        self._depth += 1
        outer, self._loose = self._loose, set()
        results, falls = self._block(function.body, env, function.path)
        self._loose = outer
        self._depth -= 1
        if falls:
            results.append((left_open(f"a return at the end of {here}"), here))
        return [(cast(function.kind, value), site) for value, site in results]

    def _block(
        self, body: tuple[Statement, ...], env: dict[str, tuple[str, Value]], path: str
    ) -> tuple[list[tuple[Value, Site]], bool]:
        results: list[tuple[Value, Site]] = []
        for step in body:
            self._steps += 1
            if isinstance(step, Return):
                return [*results, (self.value(step.value, env), Site(path, step.line))], False
            if isinstance(step, Let):
                self._let(step, env)
            elif isinstance(step, Check):
                holds = self._ask(self.value(step.test, env))
                if holds == 0:
                    self._fail(step, env, path)
                    return results, False
                if isinstance(holds, Open):
                    results.append((holds, Site(path, step.line)))
            elif isinstance(step, If) and self._steps < _MAX_STEPS:
                more, falls = self._branches(step, env, path)
                results += more
                if not falls:
                    return results, False
            else:
                what = step.what if isinstance(step, Stop) else "more time"
                return [*results, (self._ask(left_open(what)), Site(path, 0))], False
        return results, True

    def _fail(self, step: Check, env: Mapping[str, tuple[str, Value]], path: str) -> None:
        if self._certain:
            words = (self.value(word, env) for word in step.words)
            known = [str(word) if isinstance(word, int | str) else None for word in words]
            message = "".join(word or "?" for word in known) if any(known) else ""
            self.failed.append(Failed(step.macro, message, step.text, Site(path, step.line)))

    def _let(self, step: Let, env: dict[str, tuple[str, Value]]) -> None:
        value = self.value(step.value, env)
        kind = step.kind or (env[step.name][0] if step.name in env else "other")
        # A second declaration shadows the first: which one is meant later is not followed.
        twice = bool(step.kind) and step.name in env
        env[step.name] = (kind, left_open(f"{step.name}, declared twice") if twice else cast(kind, value))

    def _branches(
        self, step: If, env: dict[str, tuple[str, Value]], path: str
    ) -> tuple[list[tuple[Value, Site]], bool]:
        test = self._ask(self.value(step.test, env, directive=step.directive))
        results: list[tuple[Value, Site]] = []
        ends: list[dict[str, tuple[str, Value]]] = []
        for body, taken in ((step.then, test), (step.other, neg(test))):
            if taken == 0:
                continue
            inner = env if step.directive and taken == 1 else dict(env)
            more, falls = self._arm(body, inner, path, maybe=isinstance(test, Open))
            results += more
            if falls:
                ends.append(inner)
        for name, (kind, _) in tuple(env.items()):
            after = [end[name][1] for end in ends]
            same = len(set(after)) == 1
            if after:
                env[name] = (kind, after[0] if same else joined(left_open(name), *after, test))
        return results, bool(ends)

    def _arm(
        self, body: tuple[Statement, ...], env: dict[str, tuple[str, Value]], path: str, maybe: bool
    ) -> tuple[list[tuple[Value, Site]], bool]:
        """One side of a branch; what comes after one that may be taken is certain only if it cannot end."""
        if not maybe:
            return self._block(body, env, path)
        outer, self._certain = self._certain, False
        results, falls = self._block(body, env, path)
        self._certain = outer and falls and not results
        return results, falls

    def value(self, node: Expr, env: Mapping[str, tuple[str, Value]], directive: bool = False) -> Value:
        """Evaluate an expression; in a directive, names that are not defined count 0."""
        self._steps += 1
        if isinstance(node, Number | Text):
            return node.value
        if isinstance(node, Ask):
            return self._answered(node, env)
        if isinstance(node, Defined):
            return self.macro(node.id).defined
        if isinstance(node, Name):
            return self._name(node.id, env, directive)
        if isinstance(node, Apply):
            return self._apply(node, env, directive)
        if isinstance(node, Call) and not directive:
            return self._called(node, env)
        if isinstance(node, Odd):
            self._loose.update(node.names)
        return left_open(node.what if isinstance(node, Odd) else "a call in a directive")

    def _answered(self, node: Ask, env: Mapping[str, tuple[str, Value]]) -> Value:
        target = self.value(node.target, env)
        if node.name not in READS:
            self._loose.update(part.id for part in parts((node.target, node.args)) if isinstance(part, Name))
        args = tuple(self.value(arg, env) for arg in node.args)
        told = target.answer(node.name, args) if isinstance(target, Tensor) else None
        return joined(left_open(f"a tensor's {node.name}"), target) if told is None else told

    def _name(self, name: str, env: Mapping[str, tuple[str, Value]], directive: bool) -> Value:
        if not directive and name in env:
            return left_open(name) if name in self._loose else env[name][1]
        macro = self.macro(name)
        if macro.defined == 0 and not directive:
            return left_open(name)
        return macro.value

    def _apply(self, node: Apply, env: Mapping[str, tuple[str, Value]], directive: bool) -> Value:
        first = self.value(node.args[0], env, directive)
        if len(node.args) == 1:
            return neg(first) if node.op == "!" else arithmetic(node.op, 0, first)
        first = first if isinstance(first, int | Open) or node.op in ("==", "!=") else left_open("a truth")
        if node.op in ("&&", "||") and isinstance(first, int) and bool(first) == (node.op == "||"):
            return int(bool(first))
        if node.op == "?":
            a, b = (self.value(arg, env, directive) for arg in node.args[1:])
            if isinstance(first, Open):
                return a if a == b else joined(first, a, b)
            return a if first else b
        second = self.value(node.args[1], env, directive)
        if node.op == "&&":
            return conj(first, second)
        return disj(first, second) if node.op == "||" else arithmetic(node.op, first, second)

    def _called(self, node: Call, env: Mapping[str, tuple[str, Value]]) -> Value:
        args = tuple(self.value(arg, env) for arg in node.args)
        helper = None if node.name in env else self.helper(node.name)
        self._lend(node, helper)
        if helper is not None and self._steps < _MAX_STEPS:
            function, macros = helper
            outer, self.macros, self._certain = (self.macros, self._certain), macros, False
            values = [self._ask(value) for value, _ in self.call(function, args)]
            self.macros, self._certain = outer
            return values[0] if len(set(values)) == 1 else joined(left_open(*self.asked), *values)
        fact = None if args else self.facts.get(node.name.rpartition("::")[2])
        return joined(left_open(node.name), *args) if fact is None else fact

    def _lend(self, node: Call, helper: tuple[Function, Macros] | None) -> None:
        """What is handed to a function may be written there, unless it takes a number or a text for itself; a
        macro may do anything, return among it.
        """
        kinds = [kind for _, kind in helper[0].params] if helper is not None else []
        for at, arg in enumerate(node.args):
            own = isinstance(arg, Name) and at < len(kinds) and kinds[at] not in ("other", "tensor")
            self._loose.update(part.id for part in parts(arg) if isinstance(part, Name) and not own)
        if helper is None and node.name.isupper():
            self._certain = False

    def _ask(self, value: Value) -> Value:
        if isinstance(value, Open):
            self.asked |= value.needs
        return value
