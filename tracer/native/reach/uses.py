"""What a body does with names, as facts: calls, launches, mentions, checks."""

from __future__ import annotations

from msgspec import Struct

from ....report.predicate import Predicate
from .conditions import Guards
from .spelled import Given


class Use(Struct, frozen=True):
    """One thing that a body does with a name."""

    kind: str
    """`call`, `launch`, `name`, `type` (handed to a call's template), `let` (a local stands for names),
    `return` (of names), `written` (in source that is compiled when it runs), or `check` (raises unless `test`
    holds).
    """
    name: str
    line: int
    guards: Guards
    args: tuple[Given, ...] = ()
    templates: tuple[Given, ...] = ()
    test: Predicate | None = None
    on: str = ""
    """The object whose method is called."""
    caught: bool = False
    """Whether the function goes on where what is called raises."""
    doubt: bool = False
    """Whether it may not be come to, for reasons that its conditions do not tell."""
    fixed: bool = False
    """Whether a local that is set is constant: then it is true or false for all of the function."""


class Body(Struct, frozen=True):
    """A body as read: what it uses in order, and what of it could not be parsed."""

    uses: tuple[Use, ...]
    odd: tuple[int, ...] = ()
    """Lines that the grammar has no meaning for."""
    changed: frozenset[str] = frozenset()
    """The locals and parameters that are set and are not constant."""
