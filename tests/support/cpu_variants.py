"""What is asked of a real engine: a checkpoint and the flags beside it."""

from __future__ import annotations

from typing import NamedTuple


class Variant(NamedTuple):
    """One launch."""

    checkpoint: str
    flags: tuple[tuple[str, str], ...] = ()

    @property
    def arguments(self) -> list[str]:
        return [word for flag in self.flags for word in flag]


VARIANTS = {
    "bf16": Variant("bf16"),
    "bf16-fp8-kv": Variant("bf16", (("--kv-cache-dtype", "fp8"),)),
    "ct-w8a8": Variant("ct-w8a8"),
    "ct-w4a16": Variant("ct-w4a16"),
    "ct-w4a16-asym": Variant("ct-w4a16-asym"),
    "gptq": Variant("gptq"),
    "awq": Variant("awq"),
    "ct-fp8-dyn": Variant("ct-fp8-dyn"),
    "ct-fp8": Variant("ct-fp8"),
    "fp8-online": Variant("bf16", (("--quantization", "fp8"),)),
    "ct-fp8-block": Variant("ct-fp8-block"),
}
