"""Who answers questions about one release: its source, or a snapshot with the source behind it.

A snapshot is read without what reading source needs; that is imported where a question needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from ..report.errors import SourceError, UsageError
from ..report.fetched import Fetched
from ..report.model import Merged, Operator, Pin, Report, Value
from .native.build import COMPILED, PYTHON, build_of
from .scenario import Scenario
from .snapshot.answer import recorded, told
from .snapshot.bundled import naming
from .snapshot.file import Snapshot

if TYPE_CHECKING:
    from .jit.tuned import TunedFiles
    from .library import Library
    from .sources import Source

CUDA, OPERATORS = "cuda", "torch.ops."


class Answers(Protocol):
    """One release of an engine, as questions are put to it; as a text it is the release."""

    @property
    def engine(self) -> str:
        """`vllm`."""

    @property
    def pin(self) -> Pin:
        """What the release is told apart by."""

    @property
    def cuda(self) -> int | None:
        """The CUDA version of the release's wheels (13000 for 13.0)."""

    @property
    def flags(self) -> tuple[str, ...]:
        """What `--quantization` names."""

    @property
    def library(self) -> Library:
        """The source, read as far as it was asked for."""

    @property
    def merged(self) -> tuple[Merged, ...]:
        """Modes of the KV cache that are one value."""

    @property
    def fetched(self) -> tuple[Fetched, ...]:
        """What the release's build takes from elsewhere."""

    def cache_dtypes(self, platform: str) -> tuple[str, ...]:
        """What `--kv-cache-dtype` takes; none where the source has no list of them."""

    def holds(self, scenario: Scenario) -> bool:
        """Whether the answer is recorded: then it takes no time."""

    def ask(self, scenario: Scenario, asked: Mapping[str, Value]) -> Report:
        """The report of one question, without findings."""

    def operators(self, names: Sequence[str], platform: str, cuda: int | None) -> tuple[Operator, ...]:
        """What compiled operators (`torch.ops._C.marlin_gemm`) reach in a build for a platform, whatever the
        device, and what kernels are that Python writes; names of neither are left out.
        """

    def tuned(self) -> TunedFiles | None:
        """The tuned configurations that the release ships; None where its source cannot be had."""

    def text(self, path: str) -> str | None:
        """A file of the engine, where its source is at hand; nothing is brought for it."""


class FromSource:
    """Answers that are read from the source."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def __str__(self) -> str:
        return str(self.source)

    @property
    def engine(self) -> str:
        return self.source.engine

    @property
    def pin(self) -> Pin:
        return self.source.pin()

    @cached_property
    def library(self) -> Library:
        from .library import Library

        return Library(self.source)

    @cached_property
    def cuda(self) -> int | None:
        from .engines.release import cuda_of

        return cuda_of(self.library)

    @cached_property
    def flags(self) -> tuple[str, ...]:
        from .answer import walked

        return tuple(walked(self.library, Scenario(whole=False), configured=True).methods())

    @cached_property
    def merged(self) -> tuple[Merged, ...]:
        from .merged import merged

        return merged(self.source)

    @cached_property
    def fetched(self) -> tuple[Fetched, ...]:
        from .native.fetched import fetched

        return fetched(self.source)

    def cache_dtypes(self, platform: str) -> tuple[str, ...]:
        from .engines.cache_dtypes import cache_dtypes

        return cache_dtypes(self.library, platform)

    def holds(self, scenario: Scenario) -> bool:
        return False

    def ask(self, scenario: Scenario, asked: Mapping[str, Value]) -> Report:
        from .answer import answered

        return answered(self.library, scenario, asked)

    def operators(self, names: Sequence[str], platform: str, cuda: int | None) -> tuple[Operator, ...]:
        from .native.reach.table import table
        from .terminals import written_in_python

        found = [written_in_python(self.source, name) for name in names if name.startswith(f"{self.engine}.")]
        compiled = [name for name in names if name.startswith(OPERATORS)]
        if compiled and platform in COMPILED and self.source.has_native:
            known = table(self.source, build_of(platform, cuda or self.cuda))
            found += map(known.operator, compiled)
        return tuple(one for one in found if one is not None)

    def tuned(self) -> TunedFiles:
        from .jit.tuned import TunedFiles

        return TunedFiles(self.source)

    def text(self, path: str) -> str | None:
        return self.source.text(path)


class FromSnapshot:
    """Answers that were recorded; the source is brought for a question that is off the grid."""

    def __init__(
        self, snapshot: Snapshot, bring: Callable[[], FromSource], say: Callable[[str], None]
    ) -> None:
        self.snapshot, self._bring, self._say = snapshot, bring, say
        self._missing = False
        """Whether the source was asked for and could not be brought: then nobody is asked again."""

    def __str__(self) -> str:
        return f"{self.snapshot.pin.engine} {self.snapshot.pin.version}"

    @property
    def engine(self) -> str:
        return self.snapshot.pin.engine

    @property
    def pin(self) -> Pin:
        return self.snapshot.pin

    @cached_property
    def _behind(self) -> FromSource:
        return self._bring()

    @property
    def library(self) -> Library:
        return self._behind.library

    @property
    def cuda(self) -> int | None:
        return self.snapshot.header.knows.cuda

    @property
    def flags(self) -> tuple[str, ...]:
        return self.snapshot.header.knows.flags

    @property
    def merged(self) -> tuple[Merged, ...]:
        return self.snapshot.header.merged

    @property
    def fetched(self) -> tuple[Fetched, ...]:
        return self.snapshot.header.fetched

    def cache_dtypes(self, platform: str) -> tuple[str, ...]:
        return self.snapshot.header.knows.cache_dtypes if platform == CUDA else ()

    def holds(self, scenario: Scenario) -> bool:
        return self.snapshot.record(scenario) is not None

    def ask(self, scenario: Scenario, asked: Mapping[str, Value]) -> Report:
        """From the snapshot where it can be, else from the source; open where that cannot be brought."""
        found = recorded(self.snapshot, scenario, asked)
        if found is not None:
            return found
        if scenario.model is None and scenario.quantization not in (None, *self.flags):
            raise UsageError(unknown_flag(self, scenario.quantization or ""))
        behind = self._reached()
        return told(self.snapshot, scenario, asked) if behind is None else behind.ask(scenario, asked)

    def operators(self, names: Sequence[str], platform: str, cuda: int | None) -> tuple[Operator, ...]:
        written = [name for name in names if name.startswith(f"{self.engine}.")]
        compiled = [name for name in names if name.startswith(OPERATORS)] if platform in COMPILED else []
        found: list[Operator] = []
        for group, build in ((written, PYTHON), (compiled, build_of(platform, cuda or self.cuda))):
            recorded = self.snapshot.operators(build) if group else None
            if recorded is not None:
                found += (one for one in map(recorded, group) if one is not None)
            elif group and (behind := self._reached()) is not None:
                found += behind.operators(group, platform, cuda)
        return tuple(found)

    def tuned(self) -> TunedFiles | None:
        behind = self._reached()
        return None if behind is None else behind.tuned()

    def text(self, path: str) -> str | None:
        return self._behind.text(path) if "_behind" in vars(self) else None

    def _reached(self) -> FromSource | None:
        """The source, None where it cannot be brought, which is said once."""
        if self._missing:
            return None
        try:
            return self._behind
        except SourceError as why:
            self._missing = True
            self._say(f"{why}; what the snapshot does not hold is open")
            return None


def unknown_flag(answers: Answers, flag: str) -> str:
    """What is said of a `--quantization` that the release does not name."""
    others = ", ".join(map(str, naming(flag, answers.engine)))
    elsewhere = f"; it is known to {others}" if others else ""
    return f"--quantization {flag}: {answers} knows {', '.join(answers.flags)}{elsewhere}"
