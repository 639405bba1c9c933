"""Another question, another pin: what is asked, what is shown, and what becomes of answers that come late."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest
from exploring import FLAG, SIZE, chosen, explorer, rows, shown, until

from qtrace.report.errors import UsageError
from qtrace.report.model import Compared, Drifted, Report
from qtrace.tui.diff import DiffScreen
from qtrace.tui.title import Title
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


async def test_only_the_last_question_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One is under way, one waits for it and is dropped for the one that was asked after it."""
    app = explorer(*FLAG)
    slow, ask, asked = threading.Event(), app.session.ask, []

    def answer(question: Mapping[str, str]) -> Report:
        asked.append(question["quantization"])
        slow.wait(10)
        return ask(question)

    monkeypatch.setattr(app.session, "ask", answer)
    async with app.run_test(size=SIZE) as pilot:
        for flag in ("awq", "mxfp4", "gptq"):
            app.ask({"quantization": flag, "device": "sm_90"})
            await pilot.pause()
        assert app.busy
        slow.set()
        await until(pilot, lambda: not app.busy)
        assert app.asked["quantization"] == "gptq" and asked == ["awq", "gptq"]


async def test_another_pin_is_compared_hop_by_hop() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d", *"0.20.0", "enter")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen))
        await pilot.pause()
        about = [line.about for line in rows(app).lines]
        changes = [each for each in about if isinstance(each, Drifted)]
        assert any("OnlineQuantizationConfig" in str(each.was) for each in changes)
        assert any("Fp8OnlineLinearMethod" in str(each.now) for each in changes)
        compared = [each for each in about if isinstance(each, Compared)]
        assert {p for each in compared for p in each.premises} <= {
            p for chain in app.report.chains for p in chain.premises
        }
        assert all(each.steps for each in compared)
        await pilot.press("escape")
        assert chosen(app).startswith("accepted  linear")


async def test_a_pin_that_cannot_be_had_is_said() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("d", *"9.9", "enter")
        await until(pilot, lambda: bool(app._notifications))
        assert "9.9" in next(iter(app._notifications)).message
        assert not app.busy


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layer", "nonsense"),
        ("packages", "Wheel"),
        ("env", "NOEQUALS"),
        ("env", "A='1"),
        ("tokens", "-3"),
        ("tokens", "²"),
        ("tokens", "9" * 5000),
        ("device", "toaster"),
    ],
)
def test_a_field_that_cannot_be_meant_is_one_line(field: str, value: str) -> None:
    app = explorer(*FLAG)
    with pytest.raises(UsageError, match=value[:100]):
        app.session.ask({"quantization": "fp8", field: value})


def test_values_of_the_environment_may_hold_spaces() -> None:
    app = explorer(*FLAG, "--env", "X=a b", "--env", "Y=1")
    assert app.asked["env"] == "'X=a b' Y=1"
    assert app.report.question.asked["env"] == app.session.ask(app.asked).question.asked["env"]


async def test_everything_may_be_left_unknown() -> None:
    """Then the table of all methods is the answer, which is made in the thread that asks."""
    app = explorer("-q", "fp8")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("w", "down", "backspace")
        await until(pilot, lambda: app.report.matrix is not None)
        assert "awq" in shown(app) and not app.busy


async def test_what_is_wrong_with_qtrace_itself_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = explorer(*FLAG)
    fault = LookupError("no such thing")

    def asked(question: Mapping[str, str]) -> Report:
        raise fault

    monkeypatch.setattr(app.session, "ask", asked)
    async with app.run_test(size=SIZE) as pilot:
        app.ask({})
        await until(pilot, lambda: app.fault is fault)


async def test_a_refusal_leaves_folds_and_cursor_alone() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("e", "pagedown", "w", "down", "enter", *"x", "enter")
        before, place = shown(app), rows(app).cursor
        await until(pilot, lambda: bool(app._notifications))
        await pilot.pause()
        assert (shown(app), rows(app).cursor) == (before, place) and place > 0


async def test_an_answer_that_comes_on_another_screen_is_told_there_and_here() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("w", "right", "2")
        await until(pilot, lambda: app.asked["device"] == "sm_100")
        await pilot.press("1")
        await pilot.pause()
        assert app.screen.query_one(WhatIf).asked["device"] == "sm_100"
        assert "asking" not in str(app.screen.query_one(Title).render())
