"""What every operator of a build reaches, as hops: its host function, the functions between, the kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ....report.chain import Hop, HopKind, Why
from ....report.operator import Operator
from ....report.predicate import AllOf, Always, Never, Predicate, Site
from ..build import Build, cuda_facts, native_files
from ..images import Built, with_images
from ..ops import OpIndex
from ..registrations import Op
from .edges import Edge
from .files import NativeFiles
from .simplify import shorter
from .walk import Walk

if TYPE_CHECKING:
    from ...sources import Source

KEYS = {
    "cuda": ("CUDA", "", "CompositeExplicitAutograd", "CPU"),
    "rocm": ("CUDA", "HIP", "", "CompositeExplicitAutograd", "CPU"),
    "cpu": ("CPU", "", "CompositeExplicitAutograd"),
}
"""The dispatch keys that answer on each platform, the first that there is."""

HOPS = 400
"""Hops of one operator that are told."""


class Operators:
    """One build's operators, each walked when it is first asked for."""

    def __init__(self, source: Source, build: Build) -> None:
        self.index = OpIndex.read(source, build)
        self.files = NativeFiles(
            source, native_files(source, build.platform, build.cuda), host_facts(source, build)
        )
        self.walk = Walk(self.files)
        self._built = Built(source, build.cuda, self.files) if build.platform == "cuda" else None
        self._keys = KEYS.get(build.platform, ("",))

    def names(self) -> tuple[str, ...]:
        """Every operator as Python calls it: `torch.ops._C.marlin_gemm`."""
        spaces = self.index.namespaces
        return tuple(f"torch.ops.{space}.{name}" for space in spaces for name in self.index.ops(space))

    def all(self) -> Iterator[Operator]:
        """What every operator reaches."""
        found = map(self.operator, self.names())
        return (operator for operator in found if operator is not None)

    def operator(self, symbol: str) -> Operator | None:
        """What an operator reaches; None where csrc does not define it for this build."""
        namespace, _, name = symbol.removeprefix("torch.ops.").partition(".")
        op = self.index.get(namespace, name)
        if op is None:
            return None
        made = told(symbol, op, self.walk, self._keys)
        return made if self._built is None else with_images(made, self._built.image)


def told(symbol: str, op: Op, walk: Walk, keys: Iterable[str]) -> Operator:
    """What a registration reaches, under the first of these dispatch keys that answers."""
    hops = tuple(_hops(op, walk, keys))
    left = len(hops) - HOPS
    more = (f"{symbol}: {left} of {len(hops)} native hops are not told",) if left > 0 else ()
    cut = (*more, *walk.files.skipped, *sorted(walk.budgets))
    return Operator(symbol=symbol, site=op.site, hops=hops[:HOPS], cut=cut)


def _hops(op: Op, walk: Walk, keys: Iterable[str]) -> Iterator[Hop]:
    for key in keys:
        found = [impl for impl in op.implementations if impl.key == key]
        for impl in found:
            hosts = walk.names.host(impl)
            if not hosts:
                name = f"{impl.scope}{impl.function}"
                note = "its definition is not in this tree"
                yield Hop(
                    kind=HopKind.EXTERNAL, symbol=name, site=impl.site, why=Why.REGISTERS, note=note, depth=1
                )
            for host in hosts:
                yield Hop(
                    kind=HopKind.HOST_FUNCTION,
                    symbol=host.qualified,
                    site=impl.site,
                    why=Why.REGISTERS,
                    defined=Site(host.path, host.line),
                    depth=1,
                )
                yield from _below(walk.reached(host), 2, ())
        if found:
            return


_TABLES: dict[tuple[str, str, Build], Operators] = {}
"""Those of the sources of this process, by what they hold: csrc is large and does not change under us."""


def table(source: Source, build: Build) -> Operators:
    """A source's operators, read once a process."""
    key = (source.python_hash, source.rest_hash, build)
    if key not in _TABLES:
        _TABLES[key] = Operators(source, build)
    return _TABLES[key]


def host_facts(source: Source, build: Build) -> dict[str, int | None]:
    """What the preprocessor knows where host code is compiled: nothing of a device's architecture."""
    facts = cuda_facts(source, build.cuda) if build.platform == "cuda" and build.cuda else build.facts(source)
    return {**facts, **dict.fromkeys(DEVICE_MACROS if build.platform != "rocm" else DEVICE_MACROS[:1])}


DEVICE_MACROS = (
    "__CUDA_ARCH__", "__HIPCC__", "__HIP_PLATFORM_AMD__", "__GFX9__", "__GFX11__", "__GFX12__", "__gfx942__",
    "__gfx950__",
)  # fmt: skip
"""What only a compiler for a device defines."""


_WHY = {HopKind.GLOBAL_KERNEL: Why.LAUNCHES, HopKind.CHECK: Why.RAISES}


def _below(edges: Iterable[Edge], depth: int, above: tuple[Predicate, ...]) -> Iterator[Hop]:
    for edge in edges:
        guard = shorter(edge.guard, above)
        if isinstance(guard, Never):
            continue
        yield Hop(
            kind=edge.kind,
            symbol=edge.symbol,
            site=edge.called,
            why=_WHY.get(edge.kind, Why.CALLS),
            guard=guard,
            defined=edge.site,
            handed=edge.handed,
            note=edge.note,
            depth=depth,
        )
        held = guard.items if isinstance(guard, AllOf) else () if guard == Always() else (guard,)
        known = tuple(test for test in (*above, *held) if not edge.own.intersection(_names(test)))
        yield from _below(edge.below, depth + 1, known)


_NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*\b(?!\s*\()")


def _names(test: Predicate) -> list[str]:
    """The variables that a condition asks for."""
    return _NAME.findall(str(test))
