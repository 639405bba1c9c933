"""What a symbol outside the engine stands for: its model, or what rules say of its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .. import tree
from ..evaluate.values import MISSING, Opaque, Value
from . import (
    builtins,
    caching,
    copying,
    folding,
    hints,
    introspection,
    iteration,
    kinds,
    numbers,
    raising,
    records,
    regex,
    signatures,
    stdlib,
    tensors,
    validators,
    versions,
    wrappers,
)
from .native import Args, Kwargs
from .native_classes import native_classes

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

_SAME = {"typing_extensions.": "typing.", "collections.abc.Callable": "typing.Callable"}
_LOGGER = "logging.Logger"
_MAKES = {"logging.getLogger": _LOGGER}
"""What a call gives that does nothing else."""
_SILENT = (
    "logging.",
    "torch.cuda.synchronize",
    "gc.",
    "torch.manual_seed",
    "warnings.",
    "torch.accelerator.empty_",
    "torch.accelerator.reset_",
    "torch.accelerator.set_",
    "torch.accelerator.synchronize",
)
"""What gives nothing back,"""
_TELLS = re.compile("get|has|is[A-Ze]")
"""but for what is named so."""
_STABLE = (
    "shutil.which",
    "os.path.",
    "os.access",
    "platform.",
    "importlib.metadata.",
    "torch.cuda.",
    "torch.version",
    "packaging.",
)
_TENSOR_RESULTS = (
    "torch.ops.",
    "torch.nn.functional.",
    "torch._scaled",
    "torch.mm",
    "torch.matmul",
    "torch.cat",
    "torch.stack",
)


class Symbols:
    """The models, and the rules for symbols that have none."""

    def __init__(self) -> None:
        self.classes = native_classes()
        self.table: dict[str, Value] = {}
        for part in (
            builtins,
            caching,
            copying,
            folding,
            hints,
            introspection,
            iteration,
            kinds,
            records,
            regex,
            signatures,
            stdlib,
            tensors,
            validators,
            versions,
            wrappers,
        ):
            self.table |= part.table.rows
        self.table |= stdlib.CONSTANT_ROWS | self.classes
        self.table |= {f"torch.{name}": token for name, token in tensors.DTYPES.items()}
        self.table |= {
            f"builtins.{n}": v for n, v in (("NotImplemented", Opaque("NotImplemented")), ("__debug__", True))
        }
        self.extra: dict[str, Any] = {}

    def special(self, m: Machine, symbol: str, node: tree.Node | None) -> Value:
        """A symbol without a model of its own."""
        for prefix, target in _SAME.items():
            if symbol.startswith(prefix) and f"{target}{symbol[len(prefix) :]}" in self.table:
                return self.table[f"{target}{symbol[len(prefix) :]}"]
        if symbol in m.world.settings:
            return m.world.settings[symbol]
        if symbol.startswith(("typing.", "collections.abc.", "types.", "abc.")) and symbol.count(".") <= 2:
            return m.world.outside_class(symbol)
        version = versions.of_module(m, symbol)
        if version is not MISSING:
            return version
        stub = m.world.stub(m, symbol)
        return stub if stub is not MISSING else Opaque(symbol)

    def may_be_false(self, atom: Opaque) -> bool:
        last = atom.symbol.rpartition(".")[2]
        return bool(last) and "." in atom.symbol and last[0].islower() and atom.symbol.count(".") > 1

    def answer(self, m: Machine, func: Opaque, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
        if func.symbol in _MAKES:
            return Opaque(_MAKES[func.symbol])
        if func.symbol.startswith(_SILENT) and not _TELLS.match(func.symbol.rpartition(".")[2]):
            return None
        self.given(m, args, kwargs)
        for prefix, run in self.extra.items():
            if func.symbol.startswith(prefix) and (value := run(m, func, args, kwargs, node)) is not MISSING:
                return value
        return MISSING

    def given(self, m: Machine, args: Args, kwargs: Kwargs) -> None:
        """Code that is not followed gets these: it may write to the tensors among them."""
        numbers.forget(m, (*args, *kwargs.values()))

    def is_stable(self, symbol: str) -> bool:
        """Whether a library function answers the same for the same arguments as long as the process runs."""
        return symbol.startswith(_STABLE)

    def raises(self, symbol: str) -> tuple[str, ...] | None:
        """Names of the builtin exceptions that a library call may raise; None where nobody knows."""
        return raising.raises(symbol)

    def result_kind(self, symbol: str) -> str | None:
        return "tensor" if symbol.startswith(_TENSOR_RESULTS) else None
