"""Where chains end outside of csrc: kernels that Python writes, and libraries by what a profiler shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

from ..report.fetched import Fetched
from ..report.launched import Family, all_families, patterns
from ..report.model import Hop, HopKind, Operator, Why

if TYPE_CHECKING:
    from .jit.facts import Kernel
    from .sources import Source


_FETCHED = {
    "deep-gemm": "deepgemm",
    "deep-select": "deepselect",
    "fa2": "vllm-flash-attn",
    "fa3": "vllm-flash-attn",
    "flash-kda": "flashkda",
    "flash-mla": "flashmla",
    "qutlass": "qutlass",
    "triton-kernels": "triton_kernels",
}
"""What an engine's build calls the repository of a family's code."""


def library(symbol: str, fetched: Iterable[Fetched]) -> Operator | None:
    """The libraries whose kernels a call may launch; None where the call is of no library that is known.

    `fetched` is what the release's build takes from elsewhere.
    """
    names = _families(symbol)
    taken = tuple(fetched)
    hops = tuple(
        _family(family, [one for one in taken if one.name == _FETCHED.get(name)])
        for name in names
        for family in all_families()
        if family.name == name
    )
    return Operator(symbol=symbol, hops=hops) if hops else None


def taken_as(symbol: str) -> frozenset[str]:
    """What an engine's build calls the libraries that a call may be of, where it takes their code."""
    return frozenset(_FETCHED[name] for name in _families(symbol) if name in _FETCHED)


def _families(symbol: str) -> tuple[str, ...]:
    return next((names for prefix, names in _table().items() if _begins(symbol, prefix)), ())


def _family(family: Family, fetched: Sequence[Fetched]) -> Hop:
    note = f"in a profile: {' or '.join(patterns(family))}"
    if fetched:
        note += f"; the release's build takes its code from {' or '.join(map(str, fetched))}"
    if len(fetched) == 1:
        note += f" (--library {fetched[0].name} reads it)"
    site = fetched[0].site if len(fetched) == 1 else None
    return Hop(kind=HopKind.EXTERNAL, symbol=family.library, site=site, why=Why.CALLS, note=note, depth=1)


def _begins(symbol: str, prefix: str) -> bool:
    return symbol == prefix or symbol.startswith((f"{prefix}.", f"{prefix}_"))


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Families by how a call's name begins, the longest first."""
    text = files(__package__).joinpath("libraries.json").read_bytes()
    found = msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def written_in_python(source: Source, symbol: str) -> Operator | None:
    """A kernel that the engine writes in Python, by its qualified name."""
    from .jit.survey import Survey

    parts = symbol.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        path = source.module_path(".".join(parts[:cut]))
        if path is not None:
            found = [kernel for kernel in Survey(source, (path,)).kernels if kernel.symbol == symbol]
            return _written(found) if found else None
    return None


def all_written(source: Source) -> Iterator[Operator]:
    """Every kernel that the engine writes in Python."""
    from .jit.facts import Role
    from .jit.index import JitIndex

    found: dict[str, list[Kernel]] = {}
    for kernel in JitIndex(source).kernels:
        if kernel.role is not Role.HOST:
            found.setdefault(kernel.symbol, []).append(kernel)
    yield from map(_written, found.values())


def _written(kernels: list[Kernel]) -> Operator:
    """A kernel by the places in which it is written: several where a condition chooses between them."""
    hops = tuple(map(_shown, sorted(kernels, key=lambda kernel: kernel.site)))
    return Operator(symbol=kernels[0].symbol, site=hops[0].site, hops=hops)


def _shown(kernel: Kernel) -> Hop:
    shown = kernel.printed if kernel.printed is not None else kernel.name
    told = [] if kernel.printed is not None else [f"what a profiler shows is open: {kernel.unread}"]
    told += [f"a profiler shows names that begin with {shown}"] if kernel.prefix else []
    if kernel.autotune is not None:
        keys = f" for each {', '.join(kernel.autotune.keys)}" if kernel.autotune.keys else ""
        count = kernel.autotune.configs
        told.append(f"autotuned{f' over {count} configurations' if count else ''}{keys}")
    told += [f"computed at each launch: {', '.join(kernel.heuristics)}"] if kernel.heuristics else []
    return Hop(
        kind=HopKind.TRITON_KERNEL,
        symbol=shown,
        site=kernel.site,
        why=Why.LAUNCHES,
        note="; ".join(told) or None,
        depth=1,
    )
