"""One question walked through SGLang: from the command line's flag to the operator a linear layer calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...report.errors import SourceError, UsageError
from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import Dead, Machine
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, Instance, Native, Value
from ..links import field_site, function_behind, text_site
from ..scenario import Scenario
from ..sources import Source
from . import platform as facts
from .asked import Asked
from .entering import phase
from .linear import Home, plain_arguments
from .projections import PROJECTIONS, Sizes, given
from .sglang import CUDAS, dotted, model_class, table_of
from .vllm_names import Fused, doubt, one_for_all
from .walk import Walk as Base

LINEAR = "sglang.srt.layers.linear"
LOADER = "sglang.srt.model_loader.loader"
ARGS = "sglang.srt.server_args.ServerArgs"
MODEL = "sglang.srt.configs.model_config.ModelConfig"
REGISTRY = "sglang.srt.layers.quantization"
SCHEDULER = "sglang.srt.managers.scheduler"
BLOCK = "model.layers.0"
KINDS = ("linear", *(projection.name for projection in PROJECTIONS))

ARGUMENTS, MADE_ANEW = "sglang/srt/server_args.py", "msgspec.defstruct("
"""Where the class of the arguments stands, and what later releases make it with from many parts."""

LINKS = (
    (f"{ARGS}.get_model_config", f"{MODEL}.from_server_args"),
    (f"{MODEL}.__init__", f"{MODEL}._verify_quantization"),
    (f"{LOADER}.DefaultModelLoader.load_model", f"{LOADER}._get_quantization_config"),
)
"""Steps between the functions that are evaluated, read from the callers' text."""
SETUP = re.compile(r"\b(initialize_\w+_config)\(self\.server_args\)")
"""What the scheduler sets up before it loads a model."""


RENAMING = ("hf_to_sglang_mapper", "remap_prefix")
"""What a model's class renames the checkpoint's modules with."""


def expect(source: Source, scenario: Scenario) -> None:
    """One line for what is not read yet.

    Raises:
        SourceError: the release puts its arguments together from parts.
        UsageError: the question is about something else than linear layers on CUDA.
    """
    if MADE_ANEW in (source.text(ARGUMENTS) or ""):
        raise SourceError(
            f"{source}: its server's arguments are made in a way that this qtrace cannot follow yet; "
            "give another release (0.5.10)"
        )
    if scenario.platform != "cuda":
        raise UsageError(f"--platform {scenario.platform}: qtrace reads SGLang for CUDA")
    if scenario.layer not in KINDS:
        raise UsageError(
            f"--layer {scenario.layer}: of SGLang qtrace reads linear layers ({', '.join(KINDS)})"
        )
    if scenario.kv_cache_dtype is not None:
        raise UsageError("--kv-cache-dtype: qtrace does not read SGLang's cache yet")
    if scenario.expert_parallel:
        raise UsageError("--expert-parallel: qtrace does not read SGLang's experts yet")


def _keeps_names(m: Machine, scenario: Scenario) -> bool:
    """Whether the model's class is there to read and renames nothing."""
    cls = model_class(m, scenario)
    return cls is not MISSING and all(attributes.find(m, cls, name, None) is MISSING for name in RENAMING)


class Walk(Base):
    """A walk through SGLang."""

    engine = "SGLang"
    home = Home(LINEAR, LOADER)
    arguments = ARGS
    by_function = True

    def __init__(self, m: Machine, scenario: Scenario) -> None:
        super().__init__(m, scenario)
        self.model = facts.new(m, m.world.outside_class("a model that is not configured"))
        if scenario.cuda is None:
            self.supposed = (f"torch is built for one of CUDA {', '.join(map(dotted, CUDAS))}",)

    def methods(self) -> tuple[str, ...]:
        listed = table_of(self.m, f"{REGISTRY}.QUANTIZATION_METHODS")
        names = [name for name, _ in listed.entries.values()] if listed is not None else []
        return tuple(name for name in names if isinstance(name, str))

    def fused(self) -> Fused:
        return Fused()

    def renamed(self, name: str) -> str | None:
        return name

    # --- phases

    def run(self) -> None:
        """Walk as far as the engine goes."""
        m = self.m
        self.links = [self._link(caller, callee) for caller, callee in LINKS]
        flags = facts.engine_value(m, f"{ARGS}.add_cli_args")
        self.flag_site = text_site(m.world.source, function_behind(flags), "--quantization")
        self.field_site = field_site(m, facts.engine_value(m, ARGS), "quantization")
        try:
            self._configure()
        except Dead:
            if not m.live.is_false:
                raise
        self.raised = self.take_raised()
        if not (m.live.is_false or self.needs_model or self.only_configured):
            self.layers += self.each(self._asked(), m.live)

    def _configure(self) -> None:
        """The server's arguments as its start resolves them, and the model's configuration."""
        m, scenario = self.m, self.scenario
        if scenario.model is None:
            self.needs_model = True
            if scenario.quantization is not None:
                self.config_class = self.enter(f"{REGISTRY}.get_quantization_config", scenario.quantization)
            return
        self._named_phase(f"{MODEL}._verify_quantization")
        arguments = self._start()
        made = settle(m, self.enter(f"{ARGS}.get_model_config", arguments))
        if isinstance(made, Instance):
            self.model = made
        self._note_override(scenario.quantization)
        m.world.settings["default dtype"] = settle(m, self.model.attrs["dtype"])
        self._set_up(arguments)
        load = facts.new(m, m.world.outside_class("how weights are loaded"))
        self.quant_config = self.enter(f"{LOADER}._get_quantization_config", made, load)

    def _start(self) -> Value:
        scenario = self.scenario
        given: dict[str, Value] = {"model_path": scenario.name, "tp_size": scenario.tensor_parallel}
        if scenario.quantization is not None:
            given["quantization"] = scenario.quantization
        if scenario.dtype is not None:
            given["dtype"] = scenario.dtype
        arguments = self.enter(ARGS, **given)
        self.enter("sglang.srt.server_args.set_global_server_args_for_scheduler", arguments)
        return arguments

    def _set_up(self, arguments: Value) -> None:
        """What the scheduler initialises from the arguments, by the calls in its own text."""
        source = self.m.world.source.source
        text = source.text(SCHEDULER.replace(".", "/") + ".py") or ""
        for name in dict.fromkeys(SETUP.findall(text)):
            func = facts.engine_value(self.m, f"{SCHEDULER}.{name}")
            with phase(self.m, name, function_behind(func).module.name):
                call_value(self.m, func, (arguments,), {})

    def _named_phase(self, symbol: str) -> None:
        """What happens in a function stands in the record under its own name, whoever calls it."""
        func = function_behind(facts.engine_value(self.m, symbol))

        def run(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
            del m.facts[symbol]
            try:
                with m.record.phase_of(symbol.rpartition(".")[2]):
                    return call_value(m, func, args, kwargs)
            finally:
                m.facts[symbol] = native

        native = Native(symbol, run)
        self.m.facts[symbol] = native

    # --- layers

    def _asked(self) -> Iterator[Asked]:
        """The layers asked for, in the order in which a block has them."""
        m, scenario = self.m, self.scenario
        text = attributes.get(m, self.model, "hf_text_config", None)
        sizes, kind = Sizes(settle(m, text)), scenario.layer
        rows = [p for p in PROJECTIONS if kind == p.name or (kind == "linear" and not sizes.has(p.unless))]
        self.left_out = tuple(p.name for p in PROJECTIONS if kind == "linear" and p not in rows)
        known = _keeps_names(m, scenario)
        for p in rows:
            prefix = f"{BLOCK}.{p.prefix}"
            cls = facts.engine_value(m, f"{LINEAR}.{p.cls}")
            kwargs = plain_arguments(m, prefix, self.quant_config)
            unsure = doubt(scenario, prefix, known)
            yield Asked(
                p.name, cls, given(m, p, sizes), kwargs, prefix, unsure, one_for_all(scenario, prefix)
            )
