"""vLLM: what the platform's backends answer when it asks them in turn, each fit or with its reasons."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..evaluate import attributes, inheritance
from ..evaluate.atoms import describe
from ..evaluate.calls import call_value
from ..evaluate.unions import alternatives
from ..evaluate.values import MISSING, Descriptor, DictValue, Instance, ListValue, Native, Value
from ..links import function_behind
from . import platform as facts

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

ASKED = "get_valid_backends"
"""The platform's method that asks every backend in turn."""


class Answer(NamedTuple):
    """What one backend is on some paths: whether it fits, and the reasons if not."""

    guard: Guard
    backend: str
    priority: int
    reasons: tuple[str, ...]
    """Empty where it fits."""


class Asked:
    """What the platform was told, each time that it asked its backends."""

    def __init__(self) -> None:
        self.rounds: list[list[Answer]] = []
        self.by = ASKED
        """The symbol of the method that asks them."""
        self.turned: dict[str, Instance] = {}
        """The backends that did not fit, by name."""


def listen(m: Machine) -> Asked:
    """Keep from now on what the platform answers when it asks the backends."""
    out = Asked()
    cls = facts.engine_value(m, "vllm.platforms.current_platform").cls
    method = inheritance.class_attribute(m, cls, ASKED)
    if method is MISSING:
        return out

    def ask(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        answer = call_value(m, inheritance.bind(m, method, args[0]), args[1:], kwargs)
        out.by = function_behind(method).symbol
        out.rounds.append([found for _, atom in alternatives(m, answer) for found in _answers(m, atom)])
        for _, atom in alternatives(m, answer):
            out.turned |= {str(shown.attrs["name"]): shown for shown, _ in _invalid(atom)}
        return answer

    cls.attrs[ASKED] = Descriptor("classmethod", Native(ASKED, ask))
    return out


def _answers(m: Machine, answer: Value) -> Iterator[Answer]:
    """What the platform's answer says of each backend: a list of those that fit, a dict of the others."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        return
    valid, _ = answer
    for guard, items in alternatives(m, valid.content) if isinstance(valid, ListValue) else ():
        for candidate in items if isinstance(items, tuple) else ():
            yield from _fitting(guard, candidate)
    for shown, held in _invalid(answer):
        for guard, told in alternatives(m, held):
            if isinstance(told, tuple):
                yield from _refused(m, guard, str(shown.attrs["name"]), told)


def _invalid(answer: Value) -> list[tuple[Instance, Value]]:
    """The backends that do not fit, with what the platform was told of each."""
    invalid = answer[1] if isinstance(answer, tuple) and len(answer) == 2 else None
    return list(invalid.entries.values()) if isinstance(invalid, DictValue) else []


def head_sizes(m: Machine, asked: Asked) -> tuple[int, ...]:
    """The sizes of a head that backends which did not fit are written for, in order."""
    found: set[int] = set()
    for backend in asked.turned.values():
        with m.aside():
            told, _ = facts.attempt(m, partial(_head_sizes, m, backend))
        for _, sizes in alternatives(m, told.content) if isinstance(told, ListValue) else ():
            found.update(size for size in sizes if isinstance(size, int))
    return tuple(sorted(found))


def _head_sizes(m: Machine, backend: Instance) -> Value:
    cls = call_value(m, attributes.get(m, backend, "get_class", None), (), {})
    return call_value(m, attributes.get(m, cls, "get_supported_head_sizes", None), (), {})


def _fitting(guard: Guard, candidate: Value) -> Iterator[Answer]:
    """A candidate: a tuple, named or not, that holds the backend and its priority."""
    parts = candidate.payload if isinstance(candidate, Instance) else candidate
    for backend in parts if isinstance(parts, tuple) else ():
        if isinstance(backend, Instance) and "name" in backend.attrs:
            priority = next(p for p in parts if isinstance(p, int))
            yield Answer(guard, str(backend.attrs["name"]), priority, ())


def _refused(m: Machine, guard: Guard, backend: str, told: tuple[Value, ...]) -> Iterator[Answer]:
    priority, reasons = told
    for under, items in alternatives(m, reasons.content) if isinstance(reasons, ListValue) else ():
        found = tuple(_words(m, item) for item in items) if isinstance(items, tuple) else (describe(items),)
        yield Answer(guard & under, backend, priority, found)


def _words(m: Machine, reason: Value) -> str:
    texts = (text if isinstance(text, str) else describe(text) for _, text in alternatives(m, reason))
    return " or ".join(dict.fromkeys(texts))
