"""The chain's screen: what is on it, and where keys lead."""

from __future__ import annotations

from exploring import FLAG, SIZE, chosen, drawn, explorer, rows, shown, until
from msgspec.structs import replace

from qtrace.report.model import Candidate, CandidateState
from qtrace.report.predicate import Site
from qtrace.tui.beside import Beside
from qtrace.tui.chain import ChainScreen
from qtrace.tui.findings import FindingsScreen
from qtrace.tui.prompt import Prompt
from qtrace.tui.words import site_of


async def test_a_chain_is_told_from_its_end_to_the_operator() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE):
        names = shown(app)
        assert names[0].startswith("accepted  linear")
        assert names[1].startswith("accepted  OnlineQuantizationConfig → Fp8PerTensorOnlineLinearMethod")
        assert "--quantization" in names and "torch.ops._C.cutlass_scaled_mm" in names


async def test_candidates_that_nobody_asked_are_one_line_that_opens() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        before = shown(app)
        run = next(name for name in before if name.endswith("candidates not reached"))
        app.sought = run
        await pilot.press("n")
        assert chosen(app) == run
        await pilot.press("enter")
        assert len(shown(app)) == len(before) + int(run.split()[0])
        await pilot.press("left")
        assert shown(app) == before


async def test_what_was_not_taken_can_be_left_out() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        every = shown(app)
        await pilot.press("h")
        states = {
            line.about.state
            for line in map(rows(app).lines.__getitem__, rows(app).seen)
            if isinstance(line.about, Candidate)
        }
        assert states == {CandidateState.TAKEN, CandidateState.POSSIBLE} & states and states
        assert len(shown(app)) < len(every)
        await pilot.press("h")
        assert shown(app) == every


async def test_everything_folds_and_unfolds() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("e")
        assert len(shown(app)) == len(rows(app).lines)
        await pilot.press("e")
        assert len(shown(app)) == len(app.report.chains)
        await pilot.press("down", "right")
        assert len(shown(app)) > len(app.report.chains)


async def test_left_goes_to_the_line_above() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down", "down")
        assert chosen(app) == "EngineArgs.quantization"
        await pilot.press("down", "left", "left", "left")
        assert chosen(app) == "--quantization"


async def test_find_unfolds_what_it_finds_and_goes_round() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash")
        assert isinstance(app.screen, Prompt)
        await pilot.press(*"weight_scale", "enter")
        assert "weight_scale" in chosen(app)
        first = rows(app).cursor
        await pilot.press("n")
        second = rows(app).cursor
        assert second > first
        await pilot.press("N")
        assert rows(app).cursor == first
        await pilot.press("slash", *"no such text", "enter")
        assert rows(app).cursor == first


async def test_from_a_snapshot_the_source_pane_says_how_to_get_the_source() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down")
        told = str(app.screen.query_one(Beside).render())
        assert "The source of vllm 0.33.0 is not at hand" in told
        assert "--at a folder" in told and "reads" in told


async def test_the_overview_leads_to_a_chain() -> None:
    app = explorer()
    async with app.run_test(size=SIZE) as pilot:
        assert "awq" in shown(app)
        await pilot.press("enter", "down", "down")
        assert chosen(app).startswith("sm_75")
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.report.chains))
        assert app.asked == {"quantization": "awq", "device": "sm_75"}
        assert "MarlinLinearKernel" in " ".join(shown(app))


async def test_findings_are_a_screen_of_their_own() -> None:
    app = explorer("-q", "fp_quant", "--device", "sm_90")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("2")
        assert isinstance(app.screen, FindingsScreen)
        assert shown(app)[0] == "error  QT104 quant.method_resolution (open)"
        assert "is refused" in str(app.screen.query_one(Beside).render())
        assert rows(app).border_subtitle == "1 error, 1 note"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChainScreen))
        await pilot.pause(0.1)
        line = rows(app).line
        assert line is not None and site_of(line) == app.report.findings[0].site


async def test_a_narrow_screen_has_the_source_below() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=(80, 24)) as pilot:
        beside = app.screen.query_one(Beside).region
        assert beside.y > rows(app).region.y and beside.width == rows(app).region.width
        assert drawn(app)[-1].rstrip().endswith("d Diff  ? Help  q Quit")
        await pilot.press("s")
        assert not app.screen.query_one(Beside).display
        await pilot.resize_terminal(160, 40)
        await pilot.press("s")
        assert app.screen.query_one(Beside).region.x > rows(app).region.x


async def test_the_facts_are_those_of_the_line_that_was_found() -> None:
    """Though it has the same number among the lines that can be seen."""
    app = explorer()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down")
        app.sought = "sm_70"
        await pilot.press("N")
        await pilot.pause()
        assert chosen(app) == "sm_70"
        assert "sm_70" in str(app.screen.query_one(Beside).render())


async def test_what_a_report_holds_is_neither_markup_nor_a_command_to_the_terminal() -> None:
    app = explorer(*FLAG)
    hostile = "a\x1b]52;c;eA==\x07[bold]b[/oops]\nc"
    chain = app.report.chains[0]
    hop = replace(chain.hops[0], symbol=hostile, note=hostile, site=Site(f"vllm/[/oops]{hostile}.py", 7))
    chain = replace(chain, premises=(hostile,), hops=(hop, *chain.hops[1:]))
    app.report = replace(app.report, chains=(chain,))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down")
        await pilot.pause()
        text = "".join(drawn(app))
        assert "[bold]b[/oops]" in text and not {"\x1b", "\x07", "\n"} & set(text)


async def test_a_line_that_does_not_fit_says_so() -> None:
    for unicode, sign in ((True, "…"), (False, "~")):
        app = explorer(*FLAG, unicode=unicode)
        async with app.run_test(size=(60, 20)):
            assert rows(app).render_line(0).text.rstrip().endswith(sign)


async def test_where_the_steps_do_not_fit_the_kernel_is_what_stays() -> None:
    for width, told in (
        (70, "accepted  … → CutlassFP8ScaledMMLinearKernel"),
        (100, "accepted  … → Fp8PerTensorOnlineLinearMethod → CutlassFP8ScaledMMLinearKernel"),
    ):
        app = explorer(*FLAG)
        async with app.run_test(size=(width, 20)):
            assert rows(app).render_line(1).text.strip("✓ ") == told


async def test_what_was_cut_short_is_among_the_findings() -> None:
    app = explorer(*FLAG)
    coverage = replace(app.report.coverage, budgets=("a loop was cut",))
    app.report = replace(app.report, findings=(), coverage=coverage)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("2")
        await pilot.pause()
        assert shown(app) == ["bound reached: a loop was cut"]
