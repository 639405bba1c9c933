"""Public bug reports as questions, with the findings that each release has to give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from qtrace.report.model import Report
from qtrace.rules import judge
from qtrace.tracer.answer import answered
from qtrace.tracer.engines.release import cuda_of
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

DATA = Path(__file__).parent.parent / "data" / "cases"
BESIDES = ("qtrace.open", "qtrace.unsupported", "quant.flag_rewritten")
"""Notes that say nothing of a fault."""

Case = dict[str, Any]


def cases() -> list[Case]:
    found: list[Case] = json.loads((DATA / "cases.json").read_text())
    return found


def report_of(library: Library, case: Case) -> Report:
    """The judged report of one question."""
    models = json.loads((DATA / "models.json").read_text())
    config = {**models[case["model"]], **case.get("config", {})}
    config["quantization_config"] = case["quantization_config"]
    ask = {"tensor_parallel" if name == "tp" else name: value for name, value in case["ask"].items()}
    scenario = Scenario(
        model=config,
        tensors=case.get("tensors", {}),
        profile="wheel",
        cuda=cuda_of(library),
        **ask,
    )
    given = {name: value for name, value in case["ask"].items() if name != "environment"}
    made = answered(library, scenario, given)
    return replace(made, findings=judge(made))


def told(report: Report) -> list[list[str]]:
    """Rule and level of each finding, sorted, but for notes that say nothing of a fault."""
    return sorted([f.name, str(f.level)] for f in report.findings if f.name not in BESIDES)
