"""Two pins asked the same: which outcomes changed, and what became of each step on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from .chain import Change
from .matrix import spanned
from .names import short
from .outcome import NOWHERE, Refusal
from .predicate import Always, Predicate, Site
from .question import Value
from .standing import Standing


class Fate(StrEnum):
    """What became of an outcome, what matters most first."""

    REFUSED = "refused now"
    """It was accepted, and the second pin refuses it."""
    ACCEPTED = "accepted now"
    """The first pin refused it."""
    OTHER = "another kernel"
    """Another kernel, or another layer method where it holds no kernel."""
    OPEN = "open"
    """One of the two was not followed to its end, so nobody can say."""
    WAY = "another way"
    """The same kernel, by other classes or operators, or with other parameters."""


class Ended(Struct, frozen=True, kw_only=True):
    """Where one of the two ends."""

    standing: Standing
    reaches: tuple[str, ...] = ()
    """Kernels; where there is none, the layer method and scheme; for another way, all steps to them."""
    cache: str | None = None
    """What an attention layer's keys and values are kept in: `fp8 as uint8`."""
    refusal: Refusal | None = None

    def __str__(self) -> str:
        if self.refusal:
            return str(self.refusal)
        reached = " → ".join(map(short, self.reaches)) or NOWHERE
        return f"{reached}, cache {self.cache}" if self.cache else reached


class Where(Struct, frozen=True, kw_only=True):
    """Questions for which an outcome changed in the same way."""

    asked: Mapping[str, Value]
    """What they have in common: `quantization`, `checkpoint`, `layer`, `dtype`, `packages`, `tokens` ..."""
    devices: tuple[str, ...] = ()
    """`sm_90`, `gfx942`; empty where the device is not known."""
    layers: tuple[str, ...] = ()
    """The layers, where it is not all of the model's."""

    def words(self) -> Iterator[str]:
        """`--quantization fp8`, the checkpoint in words, the layers."""
        for name, value in self.asked.items():
            yield str(value) if name == "checkpoint" else f"--{name.replace('_', '-')} {value}"
        yield from self.layers


class Drifted(Struct, frozen=True, kw_only=True):
    """One change of an outcome."""

    fate: Fate
    was: Ended
    now: Ended
    guard: Predicate = Always()
    """When, over what is unknown."""
    sure: bool = True
    """Whether both pins ask for all that `guard` hangs on; else the two may ask the same in other words."""
    because: tuple[str, ...] = ()
    """What the two sources say of it."""
    where: tuple[Where, ...] = ()


class Step(Struct, frozen=True, kw_only=True):
    """A hop of either pin."""

    change: Change
    symbol: str
    was: Site | None = None
    now: Site | None = None
    was_guard: Predicate = Always()
    now_guard: Predicate = Always()
    depth: int = 0


class Compared(Struct, frozen=True, kw_only=True):
    """The hops of two chains about the same layers, in order."""

    layer: str
    layers: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    steps: tuple[Step, ...]


class Only(Struct, frozen=True, kw_only=True):
    """A value that only one of the two knows."""

    flag: str
    """`--quantization`."""
    value: str
    change: Change


class Drift(Struct, frozen=True, kw_only=True):
    """What two pins have in common, and what not; the first is the one that is left."""

    questions: int
    """How many were put to both."""
    devices: tuple[str, ...] = ()
    """Those that the questions are about, in the order in which they are told."""
    alike: int
    """How many of them end alike at both, whatever is unknown."""
    changes: tuple[Drifted, ...] = ()
    chains: tuple[Compared, ...] = ()
    """For one question, every hop; for many, one for all of them, without the hops that stayed the same."""
    same: int = 0
    """Hops that are the same at both."""
    only: tuple[Only, ...] = ()
    identical: bool = False
    """Whether both pins are the same files, by their hashes, and were asked the same."""
    cut: tuple[str, ...] = ()
    """The pins of which some walk met a bound: a hop that they lack may be one that was not come to."""
    differs: tuple[str, ...] = ()
    """How the two questions differ, where two reports were given: `device: h100, a100`."""

    def unchanged(self) -> bool:
        """Whether the two are the same files, or everything was followed and is the same."""
        steps = [step for compared in self.chains for step in compared.steps]
        same = bool(self.chains) and all(step.change is Change.SAME for step in steps)
        seen = same and not self.changes and not self.only
        return seen and (self.identical or (not self.cut and self.alike == self.questions))

    def unfinished(self) -> str:
        """What is said where a walk met a bound."""
        return f"not followed to its end everywhere: {', '.join(self.cut)}; a hop that it lacks may be there"

    def spans(self, devices: tuple[str, ...]) -> str:
        """Neighbours of a kind among the devices as one: `sm_75-87, sm_120, gfx942`."""
        runs: list[list[str]] = []
        before = ""
        for device in self.devices:
            if device in devices:
                near = before in devices and before.rpartition("_")[0] == device.rpartition("_")[0] != ""
                runs = [*runs[:-1], [*runs[-1], device]] if near else [*runs, [device]]
            before = device
        return ", ".join(map(spanned, runs))
