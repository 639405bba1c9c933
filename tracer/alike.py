"""Layers that agree in all but name and size, told as one chain."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ..report.model import Chain, HopKind, Outcome, Parameter


def grouped(made: list[Chain]) -> list[Chain]:
    """The chains, those that say the same joined where the first of them stands."""
    out: list[Chain] = []
    for chain in made:
        for at, other in enumerate(out):
            if _bare(other) == _bare(chain):
                out[at] = _together(other, chain)
                break
        else:
            out.append(chain)
    return out


def _bare(chain: Chain) -> tuple[Any, ...]:
    """What must agree: everything but names and sizes."""
    steps = tuple(h.symbol for h in chain.hops[1:] if h.kind is not HopKind.FUNCTION)
    ends = tuple(replace(o, parameters=()) for o in chain.outcomes)
    return steps, chain.choices, ends


def _together(a: Chain, b: Chain) -> Chain:
    ends = tuple(
        replace(x, parameters=(*_named(x, a.layers), *_named(y, b.layers)))
        for x, y in zip(a.outcomes, b.outcomes, strict=True)
    )
    lines = tuple(dict.fromkeys((*a.warnings, *b.warnings)))
    return replace(a, layers=(*a.layers, *b.layers), outcomes=ends, warnings=lines, fits=(*a.fits, *b.fits))


def _named(end: Outcome, layers: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Parameters under their layer's name, once several layers share a chain."""
    if len(layers) > 1:
        return end.parameters
    return tuple(replace(p, name=f"{layers[0]}.{p.name}") for p in end.parameters)
