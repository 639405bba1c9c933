"""Evaluate the text of a module in memory, and hold what comes out against what CPython computes."""

from __future__ import annotations

import enum
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import ModuleType
from typing import Any, cast

from qtrace.report.predicate import Scalar
from qtrace.tracer.evaluate import attributes
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.frames import Frame
from qtrace.tracer.evaluate.machine import Dead, Machine, OutOfBudget
from qtrace.tracer.evaluate.unions import join
from qtrace.tracer.evaluate.values import (
    CONSTANTS,
    LIBRARY_ERROR,
    MISSING,
    ClassValue,
    DictValue,
    Guarded,
    Instance,
    ListValue,
    NativeClass,
    SetValue,
    Unknown,
    Value,
)
from qtrace.tracer.evaluate.world import World
from qtrace.tracer.guards import Guard, Space
from qtrace.tracer.library import Library
from qtrace.tracer.models.catalog import STDLIB, Catalog
from qtrace.tracer.sources import Held, Source

Files = Mapping[str, str]
Concrete = dict[str, Any]


class Installed:
    """The standard library and torch are there, `absent*` is not, of anything else nobody knows."""

    def present(self, name: str) -> bool | None:
        top = name.partition(".")[0]
        if top in STDLIB or top in ("torch", "triton", "pydantic"):
            return True
        return False if top.startswith("absent") else None


@dataclass(frozen=True)
class OneOf:
    """A parameter that has one of these values, nobody knows which."""

    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Opaque:
    """A parameter of which only the type is known; `samples` are what CPython is given for it."""

    kind: str
    samples: tuple[Any, ...] = ()


Parameter = OneOf | Opaque | Any


@dataclass(frozen=True)
class Raised:
    """An outcome: this exception left the function."""

    error: Any


@dataclass(frozen=True)
class Answer:
    """All that a call may do: a value or an exception, each under its guard; `open` is where anything may
    happen.
    """

    machine: Machine
    ends: list[tuple[Guard, Value]]
    open: Guard

    @property
    def value(self) -> Value:
        """The value, of a call that returns the same on every path."""
        ((guard, value),) = self.ends
        assert guard.is_true and not isinstance(value, Raised), self.ends
        return value

    @property
    def widened(self) -> dict[str, int]:
        """What the evaluator says it did not do exactly."""
        coverage = self.machine.coverage
        gaps = {f"{kind} at {site}": count for (kind, site), count in coverage.gaps.items()}
        return gaps | dict.fromkeys(coverage.budgets, 1)

    def at(self, chosen: Mapping[str, Scalar]) -> list[tuple[Guard, Value]]:
        """The ends that these values of the unknowns leave possible."""
        left = [(self.machine.space.assign(guard, chosen), value) for guard, value in self.ends]
        return [(guard, value) for guard, value in left if not guard.is_false]

    def holds(self, expected: Any, chosen: Mapping[str, Scalar]) -> bool:
        """Whether what CPython did is among the outcomes."""
        space = self.machine.space
        if not space.assign(self.open, chosen).is_false:
            return True
        return any(Match(self.machine, chosen).outcome(v, expected, g) for g, v in self.at(chosen))

    def is_exactly(self, expected: Any, chosen: Mapping[str, Scalar]) -> bool:
        """Whether what CPython did is the one outcome that the evaluator leaves, known in every part."""
        ends = self.at(chosen)
        if len(ends) != 1 or not self.machine.space.assign(self.open, chosen).is_false:
            return False
        guard, value = ends[0]
        return guard.is_true and Match(self.machine, chosen, exact=True).outcome(value, expected, guard)


class Match:
    """Structural equality of an evaluated value and a Python object, for one choice of the unknowns."""

    def __init__(self, m: Machine, chosen: Mapping[str, Scalar], exact: bool = False) -> None:
        self.m, self.chosen, self.exact = m, chosen, exact

    def outcome(self, value: Value, expected: Any, guard: Guard) -> bool:
        if isinstance(value, Raised) != isinstance(expected, Raised):
            return False
        if isinstance(value, Raised):
            return self.exception(value.error, expected.error, guard)
        return self.value(value, expected, guard)

    def exception(self, error: Instance, expected: BaseException, guard: Guard) -> bool:
        if error.cls.symbol == LIBRARY_ERROR:
            return not self.exact
        if error.cls.name != type(expected).__name__:
            return False
        own = type(expected).__module__ != "builtins"
        return not own or self.value(error.attrs.get("args", ()), expected.args, guard)

    def value(self, value: Value, expected: Any, guard: Guard) -> bool:
        return any(self.atom(atom, expected, g) for g, atom in self.alternatives(value, guard))

    def alternatives(self, value: Value, guard: Guard) -> Iterator[tuple[Guard, Value]]:
        for g, atom in value.alts if isinstance(value, Guarded) else [(guard, value)]:
            here = self.m.space.assign(g, self.chosen) & guard
            if not here.is_false:
                yield here, atom

    def atom(self, atom: Value, expected: Any, guard: Guard) -> bool:
        if isinstance(atom, Unknown):
            return not self.exact
        if isinstance(atom, CONSTANTS):
            return constant(atom, expected)
        if isinstance(atom, Instance):
            return self.instance(atom, expected, guard)
        if isinstance(atom, ClassValue | NativeClass):
            return isinstance(expected, type) and expected.__name__ == atom.name
        if isinstance(atom, tuple):
            return type(expected) is tuple and self.items(atom, expected, guard)
        if isinstance(atom, range):
            return bool(atom == expected)
        if isinstance(atom, ListValue):
            return type(expected) is list and self.content(atom.content, expected, guard)
        if isinstance(atom, DictValue):
            return isinstance(expected, dict) and self.mapping(atom, expected, guard)
        if isinstance(atom, SetValue):
            return isinstance(expected, set | frozenset) and self.members(atom, expected, guard)
        raise TypeError(f"no rule to compare {atom!r}")

    def content(self, value: Value, expected: Any, guard: Guard) -> bool:
        for g, items in self.alternatives(value, guard):
            if isinstance(items, Unknown):
                if not self.exact:
                    return True
            elif self.items(items, expected, g):
                return True
        return False

    def items(self, items: tuple[Value, ...], expected: Any, guard: Guard) -> bool:
        pairs = zip(items, expected, strict=False)
        return len(items) == len(expected) and all(self.value(a, b, guard) for a, b in pairs)

    def mapping(self, atom: DictValue, expected: dict[Any, Any], guard: Guard) -> bool:
        if atom.other is not MISSING:
            return not self.exact
        orders = self.keys(atom, guard)
        return any(
            len(keys) == len(expected)
            and all(self.value(k, e, g) for k, e in zip(keys, expected, strict=True))
            and all(self.entry(atom, k, expected[e], g) for k, e in zip(keys, expected, strict=True))
            for g, keys in orders
        )

    def keys(self, atom: DictValue | SetValue, guard: Guard) -> Iterator[tuple[Guard, tuple[Value, ...]]]:
        from qtrace.tracer.evaluate.containers import keys_of

        live, self.m.live = self.m.live, guard
        found = keys_of(self.m, atom)
        self.m.live = live
        yield from self.alternatives(found, guard)

    def entry(self, atom: DictValue, key: Value, expected: Any, guard: Guard) -> bool:
        from qtrace.tracer.evaluate.hashing import hash_key

        return self.value(atom.entries[hash_key(self.m, key)][1], expected, guard)

    def members(self, atom: SetValue, expected: Any, guard: Guard) -> bool:
        if atom.other is not MISSING:
            return not self.exact
        for g, keys in self.keys(atom, guard):
            left = list(expected)
            for key in keys:
                found = next((e for e in left if self.atom(key, e, g)), MISSING)
                if found is MISSING:
                    break
                left.remove(found)
            else:
                if not left:
                    return True
        return False

    def instance(self, atom: Instance, expected: Any, guard: Guard) -> bool:
        if atom.cls.name != type(expected).__name__:
            return False
        if isinstance(expected, enum.Enum):
            return bool(atom.attrs["name"] == expected.name)
        if isinstance(expected, tuple):
            return self.items(atom.payload, tuple(expected), guard)
        if isinstance(expected, BaseException):
            return self.exception(atom, expected, guard)
        if not hasattr(expected, "__dict__"):
            return True
        held = vars(expected)
        for name, value in atom.attrs.items():
            for g, one in self.alternatives(value, guard):
                if (one is MISSING) == (name in held) and g.is_true:
                    return False
        return all(self.value(atom.attrs.get(k, MISSING), v, guard) for k, v in held.items())


def constant(atom: Value, expected: Any) -> bool:
    if type(atom) is not type(expected):
        return False
    if isinstance(atom, float):
        return repr(atom) == repr(expected)
    return bool(atom == expected)


def machine(files: Files, seconds: float = 60.0) -> Machine:
    """A machine for a package `pkg` of these modules, by path below it."""
    held = {f"pkg/{path}": text.encode() for path, text in {"__init__.py": "", **files}.items()}
    m = Machine(World(Library(Source("pkg", Held(held))), "pkg", Catalog(), Installed()), Space(), seconds)
    m.world.settings |= {"os.environ": DictValue(m.space.true), "default dtype": m.unknown("dtype")}
    return m


def unknown(m: Machine, name: str, parameter: Parameter) -> Value:
    if isinstance(parameter, OneOf):
        return join(m, [(m.space.choice(name, parameter.values, (v,)), v) for v in parameter.values])
    if isinstance(parameter, Opaque):
        return Unknown(name, name, None, parameter.kind)
    return parameter


def evaluate(
    text: str | Files, function: str = "main", m: Machine | None = None, **given: Parameter
) -> Answer:
    """Everything that `function(**given)` of the module `pkg.mod` may do."""
    files = {"mod.py": text} if isinstance(text, str) else text
    m = machine(files) if m is None else m
    module = m.world.module(m, "pkg.mod")
    assert module is not None
    m.frames.append(Frame(module, None, None, m.space.true, module.scope))
    ends: list[tuple[Guard, Value]] = []
    arguments = {name: unknown(m, name, value) for name, value in given.items()}
    opened = m.space.false
    try:
        value = call_value(m, attributes.get(m, module, function, None), (), arguments)
        ends = list(value.alts) if isinstance(value, Guarded) else [(m.live, value)]
        ends = [(g & m.live, v) for g, v in ends if not (g & m.live).is_false]
    except Dead:
        pass
    except OutOfBudget:
        opened = m.space.true
    m.frames.pop()
    ends += [(guard, Raised(error)) for guard, error in m.raised[-1]]
    return Answer(m, ends, opened | m.abandoned)


def concretisations(given: Mapping[str, Parameter]) -> Iterator[Concrete]:
    """Every combination of values that the unknown parameters may have."""
    ranges = []
    for parameter in given.values():
        if isinstance(parameter, OneOf):
            ranges.append(parameter.values)
        else:
            ranges.append(parameter.samples if isinstance(parameter, Opaque) else (parameter,))
    for values in product(*ranges):
        yield dict(zip(given, values, strict=True))


def python(text: str, function: str = "main") -> Callable[[Concrete], Any]:
    """What CPython does for the same text: our own, compiled and run here, once for every choice afresh."""
    code = compile(text, "<program>", "exec")

    def run(values: Concrete) -> Any:
        module = ModuleType("pkg.mod")
        sys.modules["pkg.mod"] = module
        try:
            exec(code, module.__dict__)
            return module.__dict__[function](**values)
        except Exception as error:
            return Raised(error)
        finally:
            del sys.modules["pkg.mod"]

    return run


def chosen_of(given: Mapping[str, Parameter], values: Concrete) -> dict[str, Scalar]:
    return {name: values[name] for name, parameter in given.items() if isinstance(parameter, OneOf)}


def check(text: str, exact: bool | None = None, **given: Parameter) -> Answer:
    """Hold the evaluator's answer against CPython's for every choice of the unknowns.

    `exact` asks for exactly that answer and no other; None asks for it where the evaluator does not say that
    it widened.
    """
    answer, run = evaluate(text, **cast(dict[str, Any], given)), python(text)
    if exact is None:
        exact = not answer.widened and not any(isinstance(p, Opaque) for p in given.values())
    for values in concretisations(given):
        expected, chosen = run(values), chosen_of(given, values)
        told = [(str(g), v) for g, v in answer.at(chosen)]
        problem = f"{values}: Python {shown(expected)}, evaluator {told}\n{text}"
        assert answer.holds(expected, chosen), f"unsound at {problem}"
        if exact:
            assert answer.is_exactly(expected, chosen), f"not exact at {problem}\n{answer.widened}"
    return answer


def shown(expected: Any) -> str:
    return repr(expected.error if isinstance(expected, Raised) else expected)


def nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
