"""A few screens as pictures: `pytest tests/tui --accept` draws them anew, to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import textual
from exploring import FLAG, explorer, explorer_of, until
from textual.pilot import Pilot

from qtrace.tui.app import Explorer
from qtrace.tui.diff import DiffScreen

PICTURES = Path(__file__).parent.parent.parent / "snapshots" / "screens"
DRAWN_WITH = "8.2.8"
"""The version of textual that the pictures were drawn with; the test extra pins it."""

Check = Callable[[Explorer, str], None]


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Check:
    """Hold the screen against its picture; draw it where `--accept` says so."""
    assert textual.__version__ == DRAWN_WITH, f"pictures are drawn with textual {DRAWN_WITH}"

    def check(app: Explorer, name: str) -> None:
        path, drawn = PICTURES / f"{name}.svg", app.export_screenshot(title=f"qtrace tui: {name}")
        if request.config.getoption("--accept"):
            path.write_text(drawn, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == drawn, f"{path} differs: look at it, then --accept"

    return check


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause(0.3)


async def test_the_chain_with_its_source(vllm_sdist: Path, picture: Check) -> None:
    app = explorer_of(vllm_sdist)
    async with app.run_test(size=(160, 44)) as pilot:
        app.sought = "init_fp8_linear_kernel"
        await pilot.press("n")
        await settled(pilot)
        picture(app, "chain")


async def test_the_overview(picture: Check) -> None:
    app = explorer()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("down", "down", "right", "down", "down")
        await settled(pilot)
        picture(app, "overview")


async def test_what_if_on_a_small_light_screen(picture: Check) -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t", "w", "right")
        await until(pilot, lambda: app.asked["device"] == "sm_100")
        await settled(pilot)
        picture(app, "what-if")


async def test_findings(picture: Check) -> None:
    app = explorer("-q", "fp_quant", "--device", "sm_90")
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        picture(app, "findings")


async def test_two_pins(picture: Check) -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=(160, 44), notifications=False) as pilot:
        await pilot.press("d", *"0.20.0", "enter")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen))
        app.clear_notifications()
        await settled(pilot)
        picture(app, "diff")


async def test_in_ascii(picture: Check) -> None:
    app = explorer(*FLAG, unicode=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "down", "down")
        await settled(pilot)
        picture(app, "ascii")
