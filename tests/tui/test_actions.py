"""Every action has a key, a place in the palette and in the help, and somebody who does it."""

from __future__ import annotations

from collections import Counter

import pytest
from exploring import FLAG, SIZE, explorer, until
from shell import saved as reports
from textual.command import CommandList, CommandPalette
from textual.screen import ModalScreen
from textual.widgets import Static

from qtrace.commands.exploring import Saved
from qtrace.commands.show import report_in
from qtrace.tui.actions import ACTIONS, Action, key_names
from qtrace.tui.app import Explorer
from qtrace.tui.chain import ChainScreen
from qtrace.tui.diff import DiffScreen
from qtrace.tui.findings import FindingsScreen
from qtrace.tui.help import Help, table
from qtrace.tui.what_if import WhatIf

PLACES = {"report": (ChainScreen, FindingsScreen, DiffScreen), "what_if": (WhatIf,)}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_somebody_does_it(action: Action) -> None:
    name = f"action_{action.name.partition('(')[0]}"
    for place in PLACES.get(action.place, (Explorer,)):
        assert callable(getattr(place, name))


def test_no_key_means_two_things_in_one_place() -> None:
    for place in ("app", "report", "what_if"):
        keys = Counter(key for a in ACTIONS if a.place == place for key in a.keys.split(","))
        assert not [key for key, count in keys.items() if count > 1]
    everywhere = {key for a in ACTIONS if a.place == "app" for key in a.keys.split(",")}
    assert not everywhere & {key for a in ACTIONS if a.place != "app" for key in a.keys.split(",")}


def test_the_help_has_every_action() -> None:
    cells = [list(column.cells) for column in table().columns]
    keys, told = ([str(cell) for cell in column] for column in cells)
    for action in ACTIONS:
        assert (key_names(action), action.help) in zip(keys, told, strict=True)


async def test_the_help_opens_and_leaves() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, Help) and app.screen.query_one(Static)
        await pilot.press("escape")
        assert isinstance(app.screen, ChainScreen)


async def test_the_palette_has_every_action_and_does_it() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        for wanted in ("findings", "what if", "hide untaken"):
            await pilot.press("ctrl+p")
            assert isinstance(app.screen, CommandPalette)
            await pilot.press(*wanted)
            await until(pilot, lambda: bool(app.screen.query_one(CommandList).option_count))
            await pilot.press("enter")
            await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
            await pilot.pause(0.1)
        assert isinstance(app.screen, ChainScreen)
        assert app.screen.query_one(WhatIf).has_class("-shown")
        assert app.screen.rows.hides_untaken


async def test_the_palette_offers_each_once() -> None:
    from qtrace.tui.palette import Everything

    app = explorer(*FLAG)
    async with app.run_test(size=SIZE):
        app.screen.query_one(WhatIf).add_class("-shown")
        offered = [str(hit.text) async for hit in Everything(app.screen).discover()]
        assert sorted(offered) == sorted(a.title for a in ACTIONS if a.name != "command_palette")


@pytest.mark.parametrize(("saved", "start"), [("refused", "1"), ("open", "2"), ("", "w")])
async def test_everything_that_is_offered_can_be_done(saved: str, start: str) -> None:
    """On each screen, of a saved report and of one that is asked for: nothing is raised."""
    from qtrace.tui.palette import Everything

    app = Explorer(Saved(), report_in(reports(saved))) if saved else explorer(*FLAG)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(start)
        await pilot.pause()
        offered = [hit async for hit in Everything(app.screen).discover()]
        for hit in offered:
            if str(hit.text) not in ("Quit", "Editor"):
                await hit.command()
                if isinstance(app.screen, ModalScreen):
                    await pilot.press("escape")
        await pilot.pause()
        assert app.fault is None and app.return_code in (None, 0)


async def test_light_and_dark() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        assert app.current_theme.dark
        await pilot.press("t")
        assert not app.current_theme.dark
