"""One linear layer: built, its weights loaded, and run once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..evaluate import attributes
from ..evaluate.calls import call, call_value
from ..evaluate.machine import CERTAIN, Dead, OutOfBudget
from ..evaluate.unions import alternatives, each, settle
from ..evaluate.values import MISSING, Instance, ListValue, Unknown, Value
from ..guards import GuardBudget
from ..rows import ROWS
from ..scenario import Scenario
from .entering import phase

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard


class Home(NamedTuple):
    """Where an engine keeps what every linear layer goes through."""

    linear: str
    """The module of the layers."""
    loading: str
    """The module that loads weights."""


STEP_WORK, STEP_GUARDS = 900_000, 15_000
"""What loading and a forward may each take: work, and guards made."""


class Layer:
    """What became of one linear layer."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        """Where the model keeps it."""
        self.value: Value = MISSING
        self.parameters: list[tuple[str, Value, Value]] = []
        """(name, dtype, shape) as registered, before loading changes them."""
        self.raised: list[tuple[Guard, Instance]] = []
        """What building the layer raises."""
        self.later: list[tuple[Guard, Instance]] = []
        """What loading or a forward raises; it may hang on what tensors hold."""
        self.cut: tuple[str, ...] = ()
        """Steps that were not followed to their end."""
        self.doubt: str | None = None
        """What must hold for the layer to be the one that the checkpoint's names speak of."""
        self.apart: str | None = None
        """What must hold for what is accepted here to be accepted in every block."""
        self.live: Any = None
        self.abandoned: Guard | None = None
        """Paths on which the evaluator gave up before the layer was built."""
        self.variables: tuple[str, ...] = ()
        self.edges = (0, 0)
        self.selections = (0, 0)
        self.fits = (0, 0)
        self.lines = (0, 0)
        self.allocated = (0, 0)


def plain_arguments(m: Machine, prefix: str, quant_config: Value) -> dict[str, Value]:
    """What a linear layer of a decoder block is given besides its sizes."""
    return {
        "bias": False,
        "params_dtype": m.world.settings["default dtype"],
        "quant_config": quant_config,
        "prefix": prefix,
    }


def build(
    m: Machine, home: Home, layer: Layer, cls: Value, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> None:
    """Construct the layer and note the parameters that it registers."""
    with phase(m, "create_weights", home.linear):
        layer.value = call_value(m, cls, args, kwargs)
    for _, atom in alternatives(m, layer.value):
        if isinstance(atom, Instance):
            layer.parameters += registered(m, atom)


def registered(m: Machine, layer: Instance) -> list[tuple[str, Value, Value]]:
    """(name, dtype, shape) of the parameters that a layer has."""
    listed = call_value(m, attributes.get(m, layer, "named_parameters", None), (), {})
    live = m.live
    found: dict[tuple[str, int], tuple[Guard, str, Value]] = {}
    for guard, items in alternatives(m, listed.content) if isinstance(listed, ListValue) else ():
        for name, value in items:
            m.live = guard
            found |= {(name, id(a)): (g, name, a) for g, a in alternatives(m, value)}
    out = []
    for m.live, name, atom in found.values():
        parts = (settle(m, attributes.get(m, atom, part, None)) for part in ("dtype", "shape"))
        out.append((name, *parts))
    m.live = live
    return out


def use(m: Machine, home: Home, layer: Layer, scenario: Scenario) -> None:
    """Load the layer's weights and run it once, each within bounds: both may hang on what tensors
    hold.
    """
    for name, step in (("loading", _load), ("forward", _forward)):
        goes_on = layer.live & ~_refused(m)
        m.live = m.live if not m.live.is_false else goes_on
        if m.live.is_false:
            break
        try:
            with m.bounds(STEP_WORK, STEP_GUARDS):
                step(m, home, layer, scenario)
        except Dead:
            pass
        except (OutOfBudget, GuardBudget) as stop:
            m.coverage.budget(f"{name} of {layer.name} was cut short: {stop}")
            layer.cut = (*layer.cut, name)


def _refused(m: Machine) -> Guard:
    """Where something was raised that does not hang on what tensors hold."""
    out = m.space.false
    for guard, exc in m.raised[-1]:
        out = out | guard if CERTAIN in exc.attrs else out
    return out


def _load(m: Machine, home: Home, layer: Layer, scenario: Scenario) -> None:
    """What happens to the weights after loading; what it raises belongs to the layer's refusals."""
    with phase(m, "process_weights_after_loading", home.loading):
        each(m, layer.value, lambda atom: _on_method(m, atom, "process_weights_after_loading", (atom,)))


def _on_method(m: Machine, layer: Value, name: str, args: tuple[Value, ...]) -> None:
    method = attributes.get(m, layer, "quant_method", None)
    each(m, method, lambda a: call_value(m, attributes.get(m, a, name, None), args, {}))


def _forward(m: Machine, home: Home, layer: Layer, scenario: Scenario) -> None:
    with phase(m, "forward", home.linear):
        each(m, layer.value, lambda atom: _forward_one(m, atom, rows_of(scenario)))


def rows_of(scenario: Scenario) -> Value:
    """The rows of a forward: a number, or the unknown that conditions call M."""
    return scenario.rows if scenario.rows is not None else Unknown(ROWS, ROWS, None, "int")


def _forward_one(m: Machine, layer: Value, rows: Value) -> None:
    width = attributes.get(m, layer, "input_size", None)
    for name in ("input_size_per_partition",):
        found = attributes.find(m, layer, name, None)
        width = found if found is not MISSING else width
    x = m.world.models.tensor(m, (rows, width), m.world.settings["default dtype"])
    call(m, attributes.get(m, layer, "forward", None), (x,), {}, None)
