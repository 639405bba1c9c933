"""Who answers while a report is explored: a release that may be asked again, or nobody, for a saved one."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.errors import UsageError
from . import options, output, pin
from .drifting import drift
from .overview import overview, wanted
from .question import asked, known, named, scenario

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.answers import Answers
    from ..tui.session import Field

TOKENS = ("decode", "prefill", "16", "512")
VOICES = {".json": "json", ".md": "markdown", ".txt": "text"}
"""The voice that the ending of a file's name asks for."""
PLAIN = ("device", "quantization", "kv_cache_dtype", "tokens", "packages", "layer")
"""Fields that are arguments as they are."""
CLOSED = {"layer": options.LAYERS, "packages": options.PACKAGES}
"""Fields that take these values and no others."""


class Saved:
    """A report from a file: nobody can be asked."""

    fields: tuple[Field, ...] = ()

    def ask(self, asked: Mapping[str, str]) -> Report:
        raise UsageError("this report came from a file")

    def at(self, pin: str, asked: Mapping[str, str]) -> Report:
        raise UsageError("this report came from a file")

    def text(self, path: str) -> str | None:
        return None

    def missing(self) -> str:
        return "The source is not at hand: this report came from a file."

    def export(self, report: Report, to: Path) -> None:
        exported(report, to)


class Asking:
    """One release, asked as `qtrace static` does; what it says on the way is for `listen`."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args, self._talk = args, Listener()
        self._answers = pin.answering(args, args.engine, self._talk)
        self.fields = _fields(self._answers)
        self.first = first_of(args)

    def listen(self, told: Callable[[str], None]) -> None:
        """Give what is said to someone else from now on."""
        self._talk.told = told

    def ask(self, asked: Mapping[str, str]) -> Report:
        return answer(with_fields(self._args, asked), self._answers)

    def at(self, pin_: str, asked: Mapping[str, str]) -> Report:
        args = with_fields(self._args, asked)
        there = pin.answering(argparse.Namespace(**{**vars(args), "at": pin_}), args.engine, self._talk)
        return drift(args, self._answers, there)

    def text(self, path: str) -> str | None:
        return self._answers.text(path)

    def missing(self) -> str:
        if self._answers.text(f"{self._answers.engine}/__init__.py") is not None:
            return f"The source of {self._answers} has no such file."
        return (
            f"The source of {self._answers} is not at hand: these facts were recorded.\n"
            "Give it: --at a folder, an sdist or a wheel."
        )

    def export(self, report: Report, to: Path) -> None:
        exported(report, to)


class Listener:
    """Takes what is said while a source is brought; nothing is written over the screen."""

    def __init__(self) -> None:
        self.told: Callable[[str], None] = pin.Stderr().say

    def say(self, line: str) -> None:
        self.told(line)

    @contextmanager
    def bar(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        self.told(f"fetching {name}")
        yield lambda done: None


def _fields(answers: Answers) -> tuple[Field, ...]:
    from ..tui.session import Field

    return (
        Field("device", "device", _devices(answers), "or a product: h100, l40s, mi300x"),
        Field("quantization", "--quantization", answers.flags),
        Field("kv_cache_dtype", "--kv-cache-dtype", answers.cache_dtypes("cuda")),
        Field("layer", "layer", options.LAYERS),
        Field("tokens", "rows of a forward", TOKENS, "a number, decode or prefill"),
        Field("packages", "optional packages", options.PACKAGES),
        Field("env", "environment", (), "NAME=VALUE NAME=VALUE"),
    )


def _devices(answers: Answers) -> tuple[str, ...]:
    """The compute capabilities for which answers are recorded; all, where a source is read."""
    from ..tracer.scenario import CAPABILITIES, Scenario

    flag = next(iter(answers.flags), None)
    recorded = tuple(
        capability
        for capability in CAPABILITIES
        if answers.holds(Scenario(whole=False, quantization=flag, capability=capability, cuda=answers.cuda))
    )
    return tuple(f"sm_{capability}" for capability in recorded or CAPABILITIES)


def first_of(args: argparse.Namespace) -> dict[str, str]:
    """The fields that the command line gives."""
    given = {name: getattr(args, name) for name in PLAIN}
    given["env"] = shlex.join(args.env)
    given["layer"] = None if args.layer == "linear" else args.layer
    return {name: value for name, value in given.items() if value}


def with_fields(args: argparse.Namespace, asked: Mapping[str, str]) -> argparse.Namespace:
    """The arguments with the fields as they are now."""
    changed = argparse.Namespace(**vars(args))
    for name in PLAIN:
        setattr(changed, name, asked.get(name))
    changed.layer = asked.get("layer", "linear")
    for name, known_ in CLOSED.items():
        value = getattr(changed, name)
        if value is not None and value not in known_:
            raise UsageError(f"{name} {value}: qtrace knows {', '.join(known_)}")
    try:
        changed.env = shlex.split(asked.get("env", ""))
    except ValueError as error:
        raise UsageError(f"environment {asked['env']}: {str(error).lower()}") from error
    return changed


def answer(args: argparse.Namespace, answers: Answers) -> Report:
    """The report with its findings; of every method where nothing is asked and that is recorded."""
    from msgspec.structs import replace

    from ..rules import judge
    from ..tracer.devices import on_platform
    from ..tracer.operators import with_operators
    from ..tracer.tuning import with_tuned

    known(args.kv_cache_dtype, answers, on_platform(args.platform, args.device).platform)
    question = scenario(args, answers)
    first = next(iter(answers.flags), None)
    if wanted(args) and first and answers.holds(replace(question, quantization=first)):
        return overview(args, answers, question, asked(args), lambda words: None)
    report = answers.ask(question, asked(args))
    named(args.quantization, report, answers)
    report = with_tuned(
        with_operators(report, answers, question, pin.codes(args, answers)), answers, question
    )
    return replace(report, findings=judge(report))


def exported(report: Report, to: Path) -> None:
    """Write a report in the voice that the name's ending asks for; UsageError for another ending."""
    from ..report.files import check, write
    from ..report.terminal import PLAIN as MANNERS

    if to.suffix not in VOICES:
        raise UsageError(f"{to}: end the name in {', '.join(VOICES)}")
    write(check(to), output.VOICES[VOICES[to.suffix]](report, MANNERS))
