"""Evaluate the text of a module in memory, and hold what comes out against what CPython computes."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import ModuleType
from typing import Any

from qtrace.report.predicate import Scalar
from qtrace.tracer.evaluate import attributes
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.frames import Frame
from qtrace.tracer.evaluate.machine import Dead, Machine, OutOfBudget
from qtrace.tracer.evaluate.unions import join
from qtrace.tracer.evaluate.values import (
    DictValue,
    Guarded,
    Unknown,
    Value,
)
from qtrace.tracer.evaluate.world import World
from qtrace.tracer.guards import Guard, GuardBudget, Space
from qtrace.tracer.library import Library
from qtrace.tracer.models.catalog import Catalog
from qtrace.tracer.packages import STDLIB
from qtrace.tracer.sources import Held, Source

from .matching import Match, Raised

ADDRESS = re.compile(r"len\(<\w+>\)")
"""A condition on the length of an object's default text."""

Files = Mapping[str, str]
Concrete = dict[str, Any]


WORK, NODES, DEEP = 1_350_000, 50_000, 10_000
"""Bounds of one question here; what is over is open."""


class Installed:
    """The standard library and torch are there, `absent*` is not, of anything else nobody knows."""

    def version(self, name: str) -> str | None:
        return {"torch": "2.13.0"}.get(name)

    def imported(self, name: str) -> bool | None:
        return self.present(name)

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
        if isinstance(expected, Raised) and any(
            not space.assign(guard, chosen).is_false for guard in self.machine.assumed
        ):
            return True  # what is done with an unknown outside a `try` is taken to succeed
        return any(Match(self.machine, chosen).outcome(v, expected, g) for g, v in self.at(chosen))

    def is_exactly(self, expected: Any, chosen: Mapping[str, Scalar]) -> bool:
        """Whether what CPython did is the one outcome that the evaluator leaves, known in every part."""
        ends = self.at(chosen)
        if len(ends) != 1 or not self.machine.space.assign(self.open, chosen).is_false:
            return False
        guard, value = ends[0]
        return guard.is_true and Match(self.machine, chosen, exact=True).outcome(value, expected, guard)


def machine(files: Files, work: float = WORK) -> Machine:
    """A machine for a package `pkg` of these modules, by path below it."""
    held = {f"pkg/{path}": text.encode() for path, text in {"__init__.py": "", **files}.items()}
    m = Machine(World(Library(Source("pkg", Held(held))), "pkg", Catalog(), Installed()), Space(NODES), work)
    m.world.settings |= {"os.environ": DictValue(m.space.true), "default dtype": m.unknown("dtype")}
    return m


def unknown(m: Machine, name: str, parameter: Parameter) -> Value:
    if isinstance(parameter, OneOf):
        return join(m, [(m.space.choice(name, parameter.values, (v,)), v) for v in parameter.values])
    if isinstance(parameter, Opaque):
        return Unknown(name, name, None, parameter.kind)
    return parameter


def evaluate(
    text: str | Files, given: Mapping[str, Parameter], m: Machine | None = None, function: str = "main"
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
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEP))
    try:
        with m.record.phase_of(function):
            value = call_value(m, attributes.get(m, module, function, None), (), arguments)
        ends = list(value.alts) if isinstance(value, Guarded) else [(m.live, value)]
        ends = [(g & m.live, v) for g, v in ends if not (g & m.live).is_false]
    except Dead:
        pass
    except (OutOfBudget, GuardBudget):
        opened = m.space.true
    finally:
        sys.setrecursionlimit(limit)
        m.frames.pop()
    m.space.max_nodes *= 10  # room and time to compare what came out
    m.space.limit = math.inf
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


def check(text: str, given: Mapping[str, Parameter], exact: bool | None = None) -> Answer:
    """Hold the evaluator's answer against CPython's for every choice of the unknowns.

    `exact` asks for exactly that answer and no other; None asks for it where the evaluator does not say that
    it widened, and no condition is on the text of an object that holds its address.
    """
    answer, run = evaluate(text, given), python(text)
    strict = exact is not None
    if exact is None:
        exact = not answer.widened and not any(isinstance(p, Opaque) for p in given.values())
    for values in concretisations(given):
        expected, chosen = run(values), chosen_of(given, values)
        told = [(str(g), v) for g, v in answer.at(chosen)]
        problem = f"{values}: Python {shown(expected)}, evaluator {told}\n{text}"
        assert answer.holds(expected, chosen), f"unsound at {problem}"
        if exact and (strict or not any(ADDRESS.search(guard) for guard, _ in told)):
            assert answer.is_exactly(expected, chosen), f"not exact at {problem}\n{answer.widened}"
    return answer


def shown(expected: Any) -> str:
    return repr(expected.error if isinstance(expected, Raised) else expected)
