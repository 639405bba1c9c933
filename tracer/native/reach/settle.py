"""Conditions settled by what a function was handed."""

from __future__ import annotations

import re
from collections.abc import Callable

from ....report.predicate import AllOf, AnyOf, Compare, Not, Opaque, Predicate
from .conditions import Checked, Ended, Guards, decidable
from .outline import Definition

Target = Definition | str
"""What a name stands for: something defined in the tree, or a literal (`nullptr`, `true`)."""
Env = dict[str, tuple[Target, ...]]
Term = Callable[[str], str]
"""What a term of a condition is called in the scenario."""


def bound_key(env: Env) -> object:
    """What tells two bindings apart."""
    return tuple(sorted((name, tuple(map(_key, targets))) for name, targets in env.items()))


def _key(target: Target) -> tuple[str, str, int]:
    return (target, "", 0) if isinstance(target, str) else (target.qualified, target.path, target.line)


def settled(guards: Guards, env: Env, term: Term) -> tuple[Predicate, ...] | None:
    """The conditions that are left open; None where one cannot hold."""
    left: list[Predicate] = []
    for guard in guards:
        test = guard.item if isinstance(guard, Checked | Ended) else guard
        known = decided(test, env, term)
        if known is False:
            return None
        if known is True or (isinstance(guard, Checked) and not decidable(known)):
            continue
        if known not in left:
            left.append(known)
    return tuple(left)


def decided(test: Predicate, env: Env, term: Term) -> Predicate | bool:
    """True or false where the bindings tell, else the condition in the scenario's terms."""
    if isinstance(test, Not):
        inner = decided(test.item, env, term)
        return (not inner) if isinstance(inner, bool) else Not(inner)
    if isinstance(test, AllOf | AnyOf):
        return _joined(test, env, term)
    if isinstance(test, Compare):
        return Compare(term(test.left), test.op, test.right)
    if isinstance(test, Opaque):
        return _opaque(test, env)
    return test


def facts_of(test: Predicate) -> tuple[Predicate, ...]:
    """What must hold together for a condition to hold."""
    return test.items if isinstance(test, AllOf) else (test,)


def _joined(test: AllOf | AnyOf, env: Env, term: Term) -> Predicate | bool:
    absorbing = isinstance(test, AnyOf)
    parts = [decided(item, env, term) for item in test.items]
    if absorbing in [part for part in parts if isinstance(part, bool)]:
        return absorbing
    left = tuple(part for part in parts if not isinstance(part, bool))
    if not left:
        return not absorbing
    if len(left) == 1:
        return left[0]
    return AnyOf(left) if absorbing else AllOf(left)


_SAME = re.compile(r"std::is_same(?:_v)?<\s*([\w:]+)\s*,\s*([\w:]+)\s*>(?:::value|\(\)|\{\})?")


def _opaque(test: Opaque, env: Env) -> Predicate | bool:
    values = env.get(test.symbol, (test.symbol,))
    if len(values) == 1 and values[0] in ("true", "false"):
        return values[0] == "true"
    same = _SAME.fullmatch(test.symbol)
    if same is not None and same[2].endswith("nullptr_t"):
        held = env.get(same[1], ())
        nulls = [target == "nullptr" for target in held]
        if held and all(nulls):
            return True
        if held and not any(nulls):
            return False
    return test
