"""vLLM: the tuned configurations that layers ask for when they run.

The functions that open such files are listened to while layers are evaluated: what they are asked with is
what the engine's own code makes of the layer, its quantization and the device. A forward of experts goes
through operators that the walk of a model does not follow, so the method's own experts are made and given
the layer's weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...report.predicate import Predicate
from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import OutOfBudget
from ..evaluate.unions import alternatives, settle
from ..evaluate.values import Bound, ClassValue, Function, Instance, Native, Token, Unknown, Value
from ..guards import GuardBudget
from ..hops import Conditions
from . import platform as facts
from .entering import inside
from .linear import STEP_GUARDS, STEP_WORK, rows_of
from .vllm import machine
from .vllm_walk import Walk

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from ..jit.tuned import Kind
    from ..library import Library
    from ..scenario import Scenario
    from .vllm_model import Module

WEIGHTS = {"w1": "w13_weight", "w2": "w2_weight"}
"""How experts call the weights that they are given, and under which name the layer has them."""
WHOLE = ("float8_", "float16", "bfloat16", "float32", "int8")
"""Dtypes of weights with one value in each element: others are packed, and loading may lay them out anew."""


class Request(NamedTuple):
    """A layer asks for a file."""

    kind: str
    """The symbol of the function that is asked."""
    layer: str
    given: dict[str, Any]
    """Its arguments."""
    guard: Predicate
    """What of the scenario it hangs on."""


class _Heard(NamedTuple):
    kind: Kind
    guard: Guard
    given: dict[str, Value]
    edges: int
    """How many edges had been recorded by then."""


def requests(library: Library, scenario: Scenario, kinds: Sequence[Kind], work: float) -> Iterator[Request]:
    """What the layers of one question ask for; nothing of a question whose walk is cut short."""
    m = machine(library, scenario)
    heard: list[_Heard] = []
    for kind in kinds:
        m.facts[kind.symbol] = Native(kind.symbol, partial(_hear, kind, heard))
    walk = Walk(m, scenario)
    m.space.limit = m.space.work + work
    try:
        walk.run()
        yield from _of_linear(walk, heard)
        for module in walk.built.modules.get("experts", ()) if walk.built is not None else ():
            heard.clear()
            _run_experts(m, module, scenario)
            yield from _of_experts(walk, module, heard)
    except (OutOfBudget, GuardBudget):
        return


def _hear(
    kind: Kind, heard: list[_Heard], m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """Note what is asked for; what is done with the answer is not needed any more."""
    given = {**dict(zip(kind.parameters, args, strict=False)), **kwargs}
    known = {name: settle(m, value) for name, value in given.items()}
    heard.append(_Heard(kind, m.live, known, m.record.place().edges))
    raise m.kill()


def _of_linear(walk: Walk, heard: list[_Heard]) -> Iterator[Request]:
    for layer in walk.layers:
        conditions = Conditions(walk.m, walk.static_variables(layer), layer.live)
        own = [each for each in heard if layer.edges[0] < each.edges <= layer.edges[1]]
        yield from _requests(layer.name, own, conditions)


def _of_experts(walk: Walk, module: Module, heard: list[_Heard]) -> Iterator[Request]:
    assert walk.built is not None
    conditions = Conditions(walk.m, walk.built.variables, module.guard)
    yield from _requests(module.name, heard, conditions)


def _requests(layer: str, heard: Sequence[_Heard], conditions: Conditions) -> Iterator[Request]:
    """Requests of which every argument is known."""
    space = conditions.m.space
    for each in heard:
        if all(isinstance(value, int | str | None) for value in each.given.values()):
            guard, _ = conditions.static(each.guard, space.true)
            yield Request(each.kind.symbol, layer, each.given, guard)


# --- experts


def _run_experts(m: Machine, module: Module, scenario: Scenario) -> None:
    """Give the layer's weights to the experts that its method takes, until they ask for a file."""
    live = m.live
    for guard, experts in _experts(m, module):
        m.live = guard
        try:
            with m.bounds(STEP_WORK, STEP_GUARDS):
                facts.attempt(m, partial(_apply, m, module.value, experts, rows_of(scenario)))
        except (OutOfBudget, GuardBudget):
            pass
    m.live = live


def _experts(m: Machine, module: Module) -> Iterator[tuple[Guard, Instance]]:
    """The experts of a layer, made as its method's kernel makes them; of several those that are picked."""
    m.live = module.guard
    for guard, method in alternatives(m, module.value.attrs["quant_method"]):
        for name, held in list(method.attrs.items()) if isinstance(method, Instance) else ():
            m.live = guard
            if name in module.picks:
                found = alternatives(m, module.picks[name])
            elif name.endswith("_cls"):
                found = list(_made(m, module.value, method, held))
            else:
                continue
            yield from ((part, experts) for part, experts in found if isinstance(experts, Instance))


def _made(m: Machine, layer: Instance, method: Instance, held: Value) -> Iterator[tuple[Guard, Value]]:
    for part, cls in alternatives(m, held):
        if isinstance(cls, ClassValue):
            m.live = part
            made, _ = facts.attempt(m, partial(_make, m, layer, method, cls))
            yield from alternatives(m, made)


def _make(m: Machine, layer: Instance, method: Instance, cls: ClassValue) -> Value:
    with inside(m, cls.module.name):
        quant = call_value(m, attributes.get(m, method, "get_fused_moe_quant_config", None), (layer,), {})
        given = {"moe_config": settle(m, layer.attrs["moe_config"]), "quant_config": quant}
        return call_value(m, cls, (), given)


def _apply(m: Machine, layer: Instance, experts: Instance, rows: Value) -> Value:
    """Run experts on the layer's weights; tensors that only the forward has are known by their shapes."""
    weights = {name: attributes.get(m, layer, held, None) for name, held in WEIGHTS.items()}
    apply = attributes.get(m, experts, "apply", None)
    if not (isinstance(apply, Bound) and isinstance(apply.func, Function)) or not _whole(m, weights):
        return None  # what is called or laid out otherwise stays open
    config = settle(m, layer.attrs["moe_config"])
    width = attributes.get(m, config, "hidden_dim", None)
    picked = attributes.get(m, layer, "top_k", None)
    dtype = m.world.settings["default dtype"]
    tensors = {"hidden_states": (rows, width), "topk_ids": (rows, picked), "topk_weights": (rows, picked)}
    given = weights | {name: m.world.models.tensor(m, shape, dtype) for name, shape in tensors.items()}
    names = [param.name for param in apply.func.node.params.items][1:]
    with inside(m, apply.func.module.name):
        return call_value(m, apply, (), {name: given.get(name, Unknown(name, name)) for name in names})


def _whole(m: Machine, weights: dict[str, Value]) -> bool:
    """Whether every weight is of a dtype that packs nothing."""
    dtypes = [settle(m, attributes.get(m, weight, "dtype", None)) for weight in weights.values()]
    return all(isinstance(d, Token) and d.symbol.removeprefix("torch.").startswith(WHOLE) for d in dtypes)
