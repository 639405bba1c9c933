"""What the functions of a library reach, where its source is given: as for the engine's own operators."""

from __future__ import annotations

from functools import cached_property

from ...report.operator import Operator
from ..pins.code import LibraryCode
from .bindings import bindings
from .build import Build
from .defined import with_defined
from .reach.files import NativeFiles
from .reach.table import DEVICE_MACROS, KEYS, told
from .reach.walk import Walk
from .registrations import Op
from .values import Facts


class CodeOperators:
    """One library's functions in a build, each walked when it is first asked for."""

    def __init__(self, code: LibraryCode, build: Build, stated: Facts) -> None:
        self._code, self._build, self._stated = code, build, stated

    @property
    def name(self) -> str:
        """What the engine's build calls the library."""
        return self._code.code.name

    @cached_property
    def _facts(self) -> Facts:
        versions = dict.fromkeys(("CUDA_VERSION", "CUDART_VERSION"), self._build.cuda)
        known = {name: value for name, value in versions.items() if value is not None}
        facts = {**self._stated, **known, **dict.fromkeys(DEVICE_MACROS), "USE_ROCM": None}
        return with_defined({path: self._code.text(path) or "" for path in self._native}, facts)

    @cached_property
    def _native(self) -> tuple[str, ...]:
        return tuple(path for path in self._code.files() if not path.endswith(".py"))

    @cached_property
    def _walk(self) -> Walk:
        return Walk(NativeFiles(self._code, dict.fromkeys(self._native, True), self._facts))

    @cached_property
    def _bound(self) -> dict[str, Op]:
        return bindings({path: self._code.text(path) or "" for path in self._code.files()}, self._facts)

    def operator(self, symbol: str) -> Operator | None:
        """What a call of the library reaches (`deep_gemm.fp8_gemm_nt`), whatever the device; None where it
        registers nothing of that name, or more than one thing.
        """
        found = self._bound.get(symbol.rpartition(".")[2])
        return None if found is None else told(symbol, found, self._walk, KEYS["cuda"])
