"""The linear layers of a decoder block: class, place, and sizes from the checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..evaluate.values import Instance, ListValue, Unknown, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine


class Projection(Struct, frozen=True):
    """A linear layer of a decoder block: its class, where it stands, and its sizes."""

    name: str
    cls: str
    """Its name in the engine's module of linear layers."""
    prefix: str
    arguments: Callable[[Any], tuple[Value, ...]]
    unless: tuple[str, ...] = ()
    """Sizes in the checkpoint that say that its blocks have something else in this place."""


class Sizes:
    """Sizes of a decoder block from the checkpoint; what it does not tell is a named unknown."""

    def __init__(self, text: Value) -> None:
        self.text = text

    def size(self, name: str) -> Value:
        value = self.text.attrs.get(name) if isinstance(self.text, Instance) else None
        return value if isinstance(value, int) else Unknown(name, name, None, "int")

    @property
    def heads(self) -> tuple[Value, Value, Value]:
        """(head size, query heads, key/value heads)."""
        hidden, heads = self.size("hidden_size"), self.size("num_attention_heads")
        head = self.size("head_dim")
        if isinstance(head, Unknown) and isinstance(hidden, int) and isinstance(heads, int) and heads:
            head = hidden // heads
        pairs = self.size("num_key_value_heads")
        return head, heads, heads if isinstance(pairs, Unknown) and isinstance(heads, int) else pairs

    @property
    def value_head(self) -> Value:
        """Size of a value head, which latent attention gives on its own."""
        own = self.size("v_head_dim")
        return own if isinstance(own, int) else self.heads[0]

    def has(self, names: tuple[str, ...]) -> bool:
        """Whether the checkpoint gives one of these sizes, and not as zero."""
        return any(isinstance(self.size(name), int) and self.size(name) != 0 for name in names)

    def times(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        name = f"{getattr(a, 'label', a)} * {getattr(b, 'label', b)}"
        return Unknown(name, name, None, "int")


def _gate_up(s: Sizes) -> tuple[Value, ...]:
    inner = s.size("intermediate_size")
    return (s.size("hidden_size"), (inner, inner))


LATENT = ("kv_lora_rank",)
EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts")

PROJECTIONS = (
    Projection(
        "qkv_proj",
        "QKVParallelLinear",
        "self_attn.qkv_proj",
        lambda s: (s.size("hidden_size"), *s.heads),
        LATENT,
    ),
    Projection(
        "o_proj",
        "RowParallelLinear",
        "self_attn.o_proj",
        lambda s: (s.times(s.heads[1], s.value_head), s.size("hidden_size")),
    ),
    Projection("gate_up_proj", "MergedColumnParallelLinear", "mlp.gate_up_proj", _gate_up, EXPERTS),
    Projection(
        "down_proj",
        "RowParallelLinear",
        "mlp.down_proj",
        lambda s: (s.size("intermediate_size"), s.size("hidden_size")),
        EXPERTS,
    ),
)


def given(m: Machine, projection: Projection, sizes: Sizes) -> tuple[Value, ...]:
    """What a layer's class is given for its sizes."""
    return tuple(
        ListValue(a, m.space.true) if isinstance(a, tuple) else a for a in projection.arguments(sizes)
    )
