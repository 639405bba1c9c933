"""Shape gates of a layer as facts: which sizes the engine divided or rounded up while it built the layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..report.model import Fit
from ..report.predicate import Site
from .evaluate.atoms import describe
from .evaluate.values import Unknown, Value

if TYPE_CHECKING:
    from .evaluate.fits import Fit as Asked
    from .evaluate.machine import Machine
    from .guards import Guard

ROWS = "forward"
"""The phase in which rows are a size too; only sizes that are known belong to the layer there."""


class Key(NamedTuple):
    """What one gate is; asked again it stays one."""

    dimension: str
    size: int | str
    multiple: int | str
    padded: int | str | None
    function: str
    site: Site | None


def fits(m: Machine, layer: str, asked: Iterable[Asked], under: Guard) -> tuple[Fit, ...]:
    """Every gate once, in the order in which the engine came to it."""
    found: dict[Key, Guard] = {}
    for fit in asked:
        if _matters(fit) and not (fit.guard & under).is_false:
            key = _key(fit)
            found[key] = found.get(key, m.space.false) | fit.guard
    return tuple(
        Fit(layer=layer, guard=m.space.predicate(m.space.simplify(guard, under)), **key._asdict())
        for key, guard in found.items()
    )


def _matters(fit: Asked) -> bool:
    """Whether it can be uneven, and its size is one of the layer's rather than of what flows through it."""
    whole = isinstance(fit.size, int) and isinstance(fit.multiple, int)
    return fit.multiple != 1 and (whole or fit.phase != ROWS)


def _key(fit: Asked) -> Key:
    padded = None if fit.padded is None else _size(fit.padded)
    return Key(fit.name, _size(fit.size), _size(fit.multiple), padded, fit.function, fit.site)


def _size(value: Value) -> int | str:
    if isinstance(value, int):
        return value
    return value.label if isinstance(value, Unknown) else describe(value)
