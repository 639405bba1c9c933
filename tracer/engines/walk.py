"""One question walked through an engine: from the command line's flag to what a linear layer calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from ..evaluate.calls import call_value
from ..evaluate.machine import Dead
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, ClassValue, Instance, Token, Value
from ..links import Link, function_behind, link
from ..scenario import Scenario
from . import platform as facts
from .entering import phase
from .linear import Home, Layer, build, use

if TYPE_CHECKING:
    from ...report.predicate import Site
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from .asked import Asked
    from .vllm_attention import Attention
    from .vllm_model import Model
    from .vllm_names import Fused


class Walk:
    """The machine after the walk, with everything that a chain is built from."""

    engine: ClassVar[str]
    """How the engine calls itself."""
    home: ClassVar[Home]
    arguments: ClassVar[str]
    """The class that holds the engine's arguments."""
    by_function: ClassVar[bool] = False
    """Whether kernels are chosen as functions, which no class tells apart."""
    verifying: ClassVar[str] = "_verify_quantization"
    """The phase in which the flag is held against the checkpoint."""
    rewriter: str | None = None
    """The `override_quantization_method` that claimed the checkpoint, None when the flag stayed as it was."""
    rewritten: Value = None
    model: Instance
    """What the engine knows of the model; its quantization is the one that counts."""

    def __init__(self, m: Machine, scenario: Scenario) -> None:
        self.m, self.scenario = m, scenario
        self.quant_config: Value = MISSING
        self.flag_site: Site | None = None
        self.field_site: Site | None = None
        self.links: list[Link] = []
        self.raised: list[tuple[Guard, Instance]] = []
        self.layers: list[Layer] = []
        self.open_end: str | None = None
        self.needs_model = False
        """Whether the walk stopped where a checkpoint is needed."""
        self.left_out: tuple[str, ...] = ()
        """Layers that the checkpoint's blocks have no plain linear layer for."""
        self.config_class: Value = MISSING
        self.built: Model | None = None
        """The whole model, where the question is about layers that only its own class tells."""
        self.attention: Attention | None = None
        """The attention layer, where the question is about its cache."""
        self.used, self.only_configured = True, False
        """Whether layers are loaded and run once they are built."""
        self.supposed: tuple[str, ...] = ()
        """What the entrance takes for granted of the machine, in sentences."""

    def note(self, symbol: str) -> str | None:
        """What a step did that its name does not say."""
        if symbol.endswith("._verify_quantization") and self.rewriter is not None:
            return f"rewritten: {self.scenario.quantization} -> {self.rewritten}"
        return None

    def methods(self) -> tuple[str, ...]:
        """The values of `--quantization` that this release lists."""
        raise NotImplementedError

    def knows_method(self) -> bool:
        if self.scenario.quantization is None or self.open_end is not None:
            return True  # a question cut short has not read its tables to the end
        return self.scenario.quantization in self.methods()

    def resolved_dtype(self) -> str | None:
        """The dtype that the engine settled on, None where that is open."""
        dtype = self.m.world.settings["default dtype"]
        return dtype.symbol.removeprefix("torch.") if isinstance(dtype, Token) else None

    def fused(self) -> Fused:
        """The model class's fused layers, with the modules of the checkpoint that each is made of."""
        raise NotImplementedError

    def renamed(self, name: str) -> str | None:
        """What the model's class makes of a name in the checkpoint; None where that cannot be told."""
        raise NotImplementedError

    def run(self) -> None:
        """Walk as far as the engine goes."""
        raise NotImplementedError

    def static_variables(self, layer: Layer) -> tuple[str, ...]:
        """Variables of the scenario: those that exist once the layer is built."""
        return layer.variables

    def _link(self, caller: str, callee: str) -> Link:
        return link(self.m.world.source, function_behind(facts.engine_value(self.m, caller)), callee)

    def take_raised(self) -> list[tuple[Guard, Instance]]:
        """What was raised since the last time this was asked."""
        raised = list(self.m.raised[-1])
        self.m.raised[-1].clear()
        return raised

    def enter(self, symbol: str, *args: Value, **kwargs: Value) -> Value:
        """Call an entry function in a phase named after it."""
        func = facts.engine_value(self.m, symbol)
        name = symbol.rpartition(".")[2]
        home = func if isinstance(func, ClassValue) else function_behind(func)
        with phase(self.m, name, home.module.name):
            return call_value(self.m, func, args, kwargs)

    def _note_override(self, before: Value) -> None:
        """Name the config class whose override scan changed the flag: the scan ends with the one that
        claims it.
        """
        after = settle(self.m, self.model.attrs["quantization"])
        if after == before or before is None:
            return
        scanned = [
            e.callee for e in self.m.record.edges if e.callee.endswith(".override_quantization_method")
        ]
        self.rewriter, self.rewritten = (scanned[-1] if scanned else None), after

    # --- layers

    def each(self, wanted: Iterable[Asked], live: Guard) -> Iterator[Layer]:
        """Build, load and run each layer asked for, all on the paths that `live` says."""
        for layer in wanted:
            self.m.live = live if layer.guard is None else live & layer.guard
            yield self._layer(layer)

    def _layer(self, want: Asked) -> Layer:
        layer, record = Layer(want.name, want.path), self.m.record
        layer.doubt, layer.apart = want.doubt, want.apart
        first = record.place()
        with suppress(Dead):
            build(self.m, self.home, layer, want.cls, want.args, want.kwargs)
        layer.live, layer.raised, layer.abandoned = self.m.live, self.take_raised(), self.m.abandoned
        layer.variables = tuple(v.name for v in self.m.space.order.values())
        layer.selections = (first.selections, len(record.selections))
        if self.used and not layer.live.is_false:
            use(self.m, self.home, layer, self.scenario)
            layer.later = self.take_raised()
        last = record.place()
        layer.edges, layer.fits = (first.edges, last.edges), (first.fits, last.fits)
        layer.lines, layer.allocated = (first.lines, last.lines), (first.allocated, last.allocated)
        return layer
