"""The table of actions as the command palette shows it."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from .actions import ACTIONS, Action
from .report_screen import ReportScreen
from .what_if import WhatIf


class Everything(Provider):
    """Every action that can be done where one is."""

    def _here(self) -> Iterable[Action]:
        places = {"app"}
        if isinstance(self.screen, ReportScreen):
            places |= {"report"} | ({"what_if"} if self.screen.query("WhatIf.-shown") else set())
        return (a for a in ACTIONS if a.place in places and a.name != "command_palette")

    def _run(self, action: Action) -> partial[Coroutine[Any, Any, bool]]:
        where = {"app": self.app, "report": self.screen}
        target = where.get(action.place) or self.screen.query_one(WhatIf)
        return partial(self.app.run_action, action.name, target)

    async def discover(self) -> Hits:
        for action in self._here():
            yield DiscoveryHit(action.title, self._run(action), help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._here():
            score = matcher.match(f"{action.title} {action.help}")
            if score > 0:
                yield Hit(score, matcher.highlight(action.title), self._run(action), help=action.help)
