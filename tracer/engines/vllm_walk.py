"""One question walked through vLLM: from the command line's flag to the operator a linear layer calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import Dead
from ..evaluate.unions import each, settle
from ..evaluate.values import Instance, Value
from ..links import field_site, function_behind, text_site
from ..scenario import Scenario
from . import platform as facts
from .entering import phase
from .linear import Layer
from .vllm import MODEL_CONFIG, VLLM_CONFIG
from .vllm_asked import asked, wants_model
from .vllm_attention import walk_attention
from .vllm_builder import refuse
from .vllm_checkpoint import fused_modules, fused_names, load, renamed, renamer
from .vllm_layers import HOME, LOADING
from .vllm_model import KINDS, build_model
from .vllm_names import Fused
from .vllm_online import resolver, shorthands
from .vllm_worker import starts_with
from .walk import Walk as Base

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

ATTENTION = "attention"
"""The kind of layer whose chain is that of the KV cache."""
ARGS = "vllm.engine.arg_utils.EngineArgs"

REGISTRY = "vllm.model_executor.layers.quantization"

RESOLVE_DTYPE = "vllm.config.model._get_and_verify_dtype"
CHECK_DTYPE = "check_if_supports_dtype"
VERIFY_PARALLEL = f"{MODEL_CONFIG}.verify_with_parallel_config"

LINKS = (
    (f"{ARGS}.create_engine_config", f"{ARGS}.create_model_config"),
    (f"{ARGS}.create_model_config", MODEL_CONFIG),
    (f"{MODEL_CONFIG}.__post_init__", f"{MODEL_CONFIG}._verify_quantization"),
    (f"{VLLM_CONFIG}.__post_init__", f"{VLLM_CONFIG}._get_quantization_config"),
)
"""Steps between the functions that are evaluated, read from the callers' text."""


class Walk(Base):
    """A walk through vLLM."""

    engine = "vLLM"
    home = HOME

    def __init__(self, m: Machine, scenario: Scenario) -> None:
        super().__init__(m, scenario)
        self.config = m.world.settings["engine config"].value
        self.model: Instance = self.config.attrs["model_config"]
        self.renamer: Value = None

    arguments = ARGS

    def methods(self) -> tuple[str, ...]:
        """The values of `--quantization` that this release lists, and the shorthands it resolves."""
        listed = facts.engine_value(self.m, f"{REGISTRY}.QUANTIZATION_METHODS")
        names = (*settle(self.m, listed.content), *shorthands(self.m))
        return tuple(dict.fromkeys(n for n in names if isinstance(n, str)))

    def renamed(self, name: str) -> str | None:
        return name if self.renamer is None else renamed(self.m, self.renamer, name)

    def fused(self) -> Fused:
        """The model class's fused layers, with the modules of the checkpoint that each is made of."""
        return fused_names(self.m, fused_modules(self.m, self.scenario))

    # --- phases

    def run(self) -> None:
        """Walk as far as the engine goes."""
        self.links = [self._link(caller, callee) for caller, callee in LINKS]
        flags = facts.engine_value(self.m, f"{ARGS}.add_cli_args")
        self.flag_site = text_site(self.m.world.source, function_behind(flags), "--quantization")
        self.field_site = field_site(self.m, facts.engine_value(self.m, ARGS), "quantization")
        try:
            self._configure()
        except Dead:
            if not self.m.live.is_false:
                raise  # nothing that the engine raises: the walk itself found no way
        self.raised = self.take_raised()
        if not (self.m.live.is_false or self.needs_model or self.only_configured):
            live = self.m.live
            if self.scenario.layer in KINDS:
                self.built = build_model(self)
            elif self.scenario.layer != ATTENTION:
                self.layers += self.walk_layers()
            if self.scenario.kv_cache_dtype is not None or self.scenario.layer == ATTENTION:
                self.m.live = live
                self.attention = walk_attention(self)
                refuse(self, self.attention)

    def _configure(self) -> None:
        """The engine's configuration; without a checkpoint it goes as far as the flag alone decides."""
        m, model, scenario = self.m, self.model, self.scenario
        if scenario.model is None and not self._is_online():
            self._only_flag()
            return
        resolve = resolver(m, ARGS)
        args = None if resolve is None else self.enter(resolve, scenario.quantization, None)
        model.attrs |= {name: settle(m, value) for name, value in scenario.settings.items()}
        model.attrs["quantization_config"] = args
        load(m, scenario, model)
        self._resolve_dtype()
        before = settle(m, model.attrs["quantization"])
        self.enter(f"{MODEL_CONFIG}._verify_quantization", model)
        self._note_override(before)
        self._verify_parallel()
        load_config = facts.new(m, facts.engine_value(m, "vllm.config.load.LoadConfig"))
        self.quant_config = self.enter(f"{VLLM_CONFIG}._get_quantization_config", model, load_config)
        self._fit_to_model()

    def _fit_to_model(self) -> None:
        """Give the config object the model class's names, as the engine does before it builds the model."""
        m = self.m
        mapping = fused_modules(m, self.scenario)
        self.renamer = renamer(m, self.scenario)

        def fit(atom: Value) -> None:
            if not isinstance(atom, Instance):
                return
            if self.renamer is not None:
                call_value(m, attributes.get(m, atom, "apply_vllm_mapper", None), (self.renamer,), {})
            attributes.put(m, atom, "packed_modules_mapping", mapping, None)

        with phase(self.m, "configure_quant_config", LOADING):
            each(m, self.quant_config, fit)

    def _resolve_dtype(self) -> None:
        """The dtype as the engine resolves it from the flag, the checkpoint and the device, with its
        refusals.
        """
        m, scenario = self.m, self.scenario
        if scenario.model is not None and scenario.whole:
            asked = scenario.dtype or "auto"
            config = self.model.attrs["hf_config"]
            model = self.model.attrs["model"]
            resolved = self.enter(RESOLVE_DTYPE, model, config, asked, is_pooling_model=False, revision=None)
            m.world.settings["default dtype"] = self.model.attrs["dtype"] = settle(m, resolved)
        if not starts_with(m, CHECK_DTYPE):
            return
        platform = facts.engine_value(m, "vllm.platforms.current_platform")
        check = attributes.get(m, platform, CHECK_DTYPE, None)
        with phase(self.m, CHECK_DTYPE, "vllm.platforms.interface"):
            call_value(m, check, (self.model.attrs["dtype"],), {})

    def _verify_parallel(self) -> None:
        """The engine's check that the model can be split over the ranks; a single rank splits nothing.

        Of multimodal settings it reads one that only an argument changes, and none was given.
        """
        if self.scenario.tensor_parallel == 1 or not self.scenario.whole or self.scenario.model is None:
            return
        kept = self.model.attrs["multimodal_config"]
        self.model.attrs["multimodal_config"] = None
        self.enter(VERIFY_PARALLEL, self.model, self.config.attrs["parallel_config"])
        self.model.attrs["multimodal_config"] = kept

    def _is_online(self) -> bool:
        """Whether the flag is a shorthand that quantizes a checkpoint which is not quantized."""
        return self.scenario.quantization in shorthands(self.m)

    def _only_flag(self) -> None:
        """Without a checkpoint only the config class is told; the rest hangs on what the checkpoint says."""
        self.needs_model = True
        if self.scenario.quantization is not None:
            self.config_class = self.enter(f"{REGISTRY}.get_quantization_config", self.scenario.quantization)

    def walk_layers(self) -> Iterator[Layer]:
        live = self.m.live
        if wants_model(self):  # what refuses the model is told apart, and is no condition of its layers
            self.built = build_model(self)
        yield from self.each(asked(self), live)
