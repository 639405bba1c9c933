"""Returns, breaks and exceptions on their way out: what `finally` and `with` may still take back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import Instance, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


class Endings:
    """The ends of paths that the current frame records from now on, until they are taken."""

    def __init__(self, m: Machine) -> None:
        self.frame, self.raised = m.frame, m.raised[-1]
        self.loop = self.frame.loops[-1] if self.frame.loops else None
        self._returns, self._raised = len(self.frame.returns), len(self.raised)
        if self.loop is not None:
            self._broken, self._continued = self.loop.broken, self.loop.continued
        self.returns: list[tuple[Guard, Value]] = []
        self.exceptions: list[tuple[Guard, Instance]] = []

    def take(self, m: Machine) -> Guard:
        """Take what was recorded since, exceptions too; gives where those paths are, but for the
        exceptions.
        """
        self.returns = self.frame.returns[self._returns :]
        del self.frame.returns[self._returns :]
        self.exceptions = self.raised[self._raised :]
        del self.raised[self._raised :]
        where = m.space.false
        for guard, _ in self.returns:
            where = where | guard
        if self.loop is not None:
            self.broken = self.loop.broken & ~self._broken
            self.continued = self.loop.continued & ~self._continued
            self.loop.broken, self.loop.continued = self._broken, self._continued
            where = where | self.broken | self.continued
        return where

    def put_back(self, where: Guard) -> None:
        """Let the returns, breaks and continues stand on these paths."""
        self.frame.returns += [(g & where, value) for g, value in self.returns if not (g & where).is_false]
        if self.loop is not None:
            self.loop.broken = self.loop.broken | (self.broken & where)
            self.loop.continued = self.loop.continued | (self.continued & where)

    def put_back_exceptions(self, where: Guard) -> None:
        """Let the exceptions stand on these paths."""
        self.raised += [(g & where, exc) for g, exc in self.exceptions if not (g & where).is_false]

    def raised_where(self, m: Machine) -> Guard:
        where = m.space.false
        for guard, _ in self.exceptions:
            where = where | guard
        return where
