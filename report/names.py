"""How things are called in few words."""

from __future__ import annotations


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
