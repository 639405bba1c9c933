"""One question put to two pins."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..report.errors import UsageError
from .question import asked, scenario

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.answers import Answers
    from ..tracer.scenario import Scenario


def drift(args: argparse.Namespace, here: Answers, there: Answers) -> Report:
    """What changed, hop by hop."""
    from ..tracer.drift.compare import one
    from ..tracer.drift.questions import unknown

    asked_here, asked_there = scenario(args, here), scenario(args, there)
    missing = unknown(asked_here, here)
    if missing is not None and missing == unknown(asked_there, there):
        raise UsageError(f"{' '.join(missing)}: neither {here} nor {there} knows it")
    return one(_answer(args, here, asked_here), _answer(args, there, asked_there))


def _answer(args: argparse.Namespace, answers: Answers, question: Scenario) -> Report:
    """The answer of one pin; a value that it does not know can only be refused."""
    from ..tracer.drift.questions import refused, unknown

    if unknown(question, answers) is not None:
        return refused(question, answers, asked(args))
    return answers.ask(question, asked(args))
