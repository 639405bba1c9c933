"""How things are called in few words."""

from __future__ import annotations

from functools import lru_cache

UNITS = ("KiB", "MiB", "GiB", "TiB")
"""Names of the powers of 1024 bytes."""


@lru_cache(4096)
def short(symbol: str) -> str:
    """The part of a symbol that a reader knows it by: the class and what follows, or the last name.

    `vllm.config.model.ModelConfig.quantization` is `ModelConfig.quantization`, and
    `vllm.model_executor.kernels.linear.init_fp8_linear_kernel` is `init_fp8_linear_kernel`. Flags, operators
    (`torch.ops._C.x`) and C++ names are known by their whole name.
    """
    parts = symbol.split(".")
    if symbol.startswith(("-", "torch.")) or not all(part.isidentifier() for part in parts):
        return symbol
    first = next((i for i, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), len(parts) - 1)
    return ".".join(parts[first:])


def counted(number: int, noun: str) -> str:
    """`1 layer`, `2 layers`, `12,345 statements`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def binary_size(size: int) -> str:
    """`512 B`, `24.0 MiB`, `1.5 GiB`."""
    if size < 1024:
        return f"{size} B"
    power = min((size.bit_length() - 1) // 10, len(UNITS))
    return f"{size / 1024**power:,.1f} {UNITS[power - 1]}"


def one_line(text: str) -> str:
    """`text` on one line, with control characters as escapes."""
    text = " ".join(text.split()) if "\n" in text or "\t" in text else text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
