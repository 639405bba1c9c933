"""Another question, another pin: what is asked, what is shown, and what becomes of answers that come late."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest
from exploring import FLAG, SIZE, chosen, explorer, shown, until

from qtrace.report.errors import UsageError
from qtrace.report.model import Report
from qtrace.tui.diff import DiffScreen
from qtrace.tui.what_if import WhatIf


async def test_the_chain_follows_the_device() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("w", "left", "left", "left", "left")
        await until(pilot, lambda: app.asked.get("device") == "sm_75")
        assert "Marlin" in " ".join(shown(app))
        await pilot.press("backspace")
        await until(pilot, lambda: "device" not in app.asked)
        assert "device" not in app.report.question.asked


async def test_a_value_may_be_typed() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("w", "down", "enter", *["backspace"] * 3, *"awq", "enter")
        await until(pilot, lambda: app.asked.get("quantization") == "awq")
        assert "MacheteLinearKernel" in " ".join(shown(app))
        assert app.screen.query_one(WhatIf).has_focus
        await pilot.press("escape", "down")
        assert not app.screen.query_one(WhatIf).has_class("-shown")


async def test_the_cursor_stays_on_the_line_where_it_is_in_the_next_answer() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        app.sought = "QKVParallelLinear.__init__"
        await pilot.press("n", "w", "right")
        await until(pilot, lambda: app.asked["device"] != "sm_90")
        assert chosen(app) == "QKVParallelLinear.__init__"


async def test_what_the_release_does_not_know_is_said_and_the_answer_stays() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        before = app.report
        await pilot.press("w", "down", "enter", *"x", "enter")
        await until(pilot, lambda: bool(app._notifications))
        (notice,) = app._notifications
        assert "--quantization x: vllm 0.33.0 knows awq, " in notice.message
        assert app.report is before and not app.busy
        assert app.screen.query_one(WhatIf).asked["quantization"] == "fp8"


async def test_an_answer_that_comes_late_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = explorer(*FLAG)
    slow, ask = threading.Event(), app.session.ask

    def asked(question: Mapping[str, str]) -> Report:
        if question["quantization"] == "awq":
            slow.wait(10)
        return ask(question)

    monkeypatch.setattr(app.session, "ask", asked)
    async with app.run_test(size=SIZE) as pilot:
        app.ask({"quantization": "awq", "device": "sm_90"})
        await pilot.pause()
        assert app.busy
        app.ask({"quantization": "gptq", "device": "sm_90"})
        await until(pilot, lambda: app.asked["quantization"] == "gptq")
        slow.set()
        await pilot.pause(0.2)
        assert app.asked["quantization"] == "gptq" and not app.busy


async def test_another_pin_is_compared_hop_by_hop() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d", *"0.20.0", "enter")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen))
        await pilot.pause()
        names = shown(app)
        assert names[1].startswith("gone: OnlineQuantizationConfig -> Fp8PerTensorOnlineLinearMethod")
        assert names[2].startswith("new: Fp8Config -> Fp8OnlineLinearMethod")
        await pilot.press("escape")
        assert chosen(app).startswith("accepted  linear")


async def test_a_pin_that_cannot_be_had_is_said() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d", *"9.9", "enter")
        await until(pilot, lambda: bool(app._notifications))
        assert "9.9" in next(iter(app._notifications)).message
        assert not app.busy


async def test_a_field_that_cannot_be_meant_is_one_line() -> None:
    app = explorer(*FLAG)
    for field, value in (("layer", "nonsense"), ("env", "NOEQUALS"), ("tokens", "-3"), ("device", "toaster")):
        with pytest.raises(UsageError, match=value):
            app.session.ask({"quantization": "fp8", field: value})
