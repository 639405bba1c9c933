"""One walk from a flag to the kernel: hops, the choices made on the way, and where it ended."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from .choice import Choice
from .fit import Fit
from .image import Image
from .outcome import Outcome
from .predicate import Always, Predicate, Site
from .question import Value


class Sight(StrEnum):
    """How sure a hop is: read, or held against what ran."""

    SOURCE = "SOURCE"
    """Read in the engine's source."""
    SEEN = "SEEN"
    """Read, and observed running."""
    CONTRADICTED = "CONTRADICTED"
    """Read, but something else was observed in its place."""
    NOT_OBSERVED = "NOT_OBSERVED"
    """Read, looked for, and not observed."""
    UNRESOLVED = "UNRESOLVED"
    """The source names it, but what it leads to could not be read."""


LAST = "nothing but the device and its tensors decides whether it is come to"
"""The note on a check that raises whatever the caller asks for."""


class HopKind(StrEnum):
    """What a symbol on the way is."""

    FLAG = "flag"
    FIELD = "field"
    CONFIG_CLASS = "config_class"
    LAYER_METHOD = "layer_method"
    SCHEME = "scheme"
    PARAMETER = "parameter"
    KERNEL_CLASS = "kernel_class"
    FUNCTION = "function"
    CUSTOM_OP = "custom_op"
    """An operator registered from Python (`torch.ops.vllm.*`)."""
    TORCH_OP = "torch_op"
    """An operator bound from C++ (`torch.ops._C.*`) or torch's own."""
    HOST_FUNCTION = "host_function"
    """A C++ function on the host."""
    GLOBAL_KERNEL = "global_kernel"
    """A `__global__` function: what the GPU runs."""
    TRITON_KERNEL = "triton_kernel"
    EXTERNAL = "external"
    """A call that leaves the engine's source: a library or a driver."""
    CHECK = "check"
    """A check of the host function that raises in Python where the hop's guard holds."""


class Why(StrEnum):
    """How the walk came from the hop before to this one."""

    CALLS = "calls"
    CONSTRUCTS = "constructs"
    REGISTERS = "registers"
    DISPATCHES_ON = "dispatches_on"
    OVERRIDES = "overrides"
    LAUNCHES = "launches"
    READS = "reads"
    RETURNS = "returns"
    RAISES = "raises"


class Hop(Struct, frozen=True, kw_only=True):
    """One step: the symbol reached, how, and where the source says so."""

    kind: HopKind
    symbol: str
    """Fully qualified: `vllm.config.model.ModelConfig.quantization`, `torch.ops._C.cutlass_scaled_mm`."""
    site: Site | None = None
    """Where the symbol is reached or defined; None for what has no line."""
    why: Why
    guard: Predicate = Always()
    """What must hold for this step, over what is still unknown."""
    defined: Site | None = None
    """Where the symbol is defined, of the compiled half, whose `site` is the place that calls or launches."""
    image: Image | None = None
    """What a `__global__` function is compiled to, where that is known."""
    handed: tuple[str, ...] = ()
    """What is known of the template arguments of a `__global__` function, in order: functions and truths.
    A profiler prints them in its name.
    """
    sight: Sight = Sight.SOURCE
    note: str | None = None
    depth: int = 0
    """Levels below the chain's first hop."""

    def __str__(self) -> str:
        return f"{self.why.replace('_', ' ')} {self.symbol}" + (f" at {self.site}" if self.site else "")


class Change(StrEnum):
    """What became of a hop at another pin."""

    SAME = "same"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"
    NEW = "new"


class Elsewhere(Struct, frozen=True, kw_only=True):
    """The same hop at another pin."""

    symbol: str
    version: str
    """The other pin's version."""
    change: Change
    site: Site | None = None
    """Where it stands there; None when it is gone."""


class Warned(Struct, frozen=True, kw_only=True):
    """A line that the engine logs at level warning or above while it builds the layer."""

    text: str
    """As the engine would print it, as far as its parts are known."""
    function: str
    """The function that logs it."""
    site: Site | None = None
    guard: Predicate = Always()


class Relief(Struct, frozen=True, kw_only=True):
    """A change of one part of the question with which by itself there is an answer."""

    name: str
    """The part: `dtype`, `capability`, `tp`, `quantization`, `kv_cache_dtype`, or `ignored modules`."""
    values: tuple[Value, ...]
    """What it may be; None where it is left out."""
    resolved: str | None = None
    """What the engine then takes for `--quantization`."""

    def __str__(self) -> str:
        given = ", ".join("left out" if value is None else str(value) for value in self.values)
        return f"accepted with {self.name} {given}"


class Chain(Struct, frozen=True, kw_only=True):
    """One walk through the decision graph under a scenario, for layers that share it."""

    layer: str
    """The kind of layer asked for: `linear`, `experts`, `attention`, ..."""
    layers: tuple[str, ...] = ()
    """Names of the layers it holds for: `qkv_proj`, `o_proj`, ..."""
    premises: tuple[str, ...] = ()
    """What is supposed of the checkpoint, where none was given; the chain holds for each."""
    hops: tuple[Hop, ...]
    choices: tuple[Choice, ...] = ()
    outcomes: tuple[Outcome, ...]
    """Where the walk can end; their guards exclude each other."""
    fits: tuple[Fit, ...] = ()
    """Shape gates of these layers, in the order in which the engine comes to them."""
    elsewhere: tuple[Elsewhere, ...] = ()
    warnings: tuple[Warned, ...] = ()
    reliefs: tuple[Relief, ...] = ()
    """What else is accepted. Where this chain is refused it is looked for until one is found, and whether the
    cache's dtype does it besides; where float16 replaces a checkpoint's bfloat16, whether that is taken.
    """

    def refused(self) -> bool:
        """Whether every outcome is a refusal: nothing that is unknown could save it."""
        return bool(self.outcomes) and all(o.refusal for o in self.outcomes)

    def decided(self) -> bool:
        """Whether the scenario leads to one outcome, whatever the unknowns turn out to be."""
        return len(self.outcomes) == 1 and self.outcomes[0].guard == Always()
