"""What the end of a chain reaches: of an operator host functions and kernels, of a call a library's."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from .about import about_tensors
from .chain import LAST, Hop, HopKind
from .predicate import Always, Never, Site
from .settle import Decide, settled

ENDS = (HopKind.GLOBAL_KERNEL, HopKind.TRITON_KERNEL, HopKind.EXTERNAL)


class Operator(Struct, frozen=True, kw_only=True):
    """Where Python ends, by its name there, and what lies below for the device that was asked for."""

    symbol: str
    """An operator (`torch.ops._C.cutlass_scaled_mm`), a kernel that Python writes, a library's function."""
    site: Site | None = None
    """Where an operator's schema is registered, or a kernel is written."""
    hops: tuple[Hop, ...] = ()
    """From the host function down; depths are counted from the operator. Of a kernel that Python writes the
    name that a profiler shows, of a library's function the names of its kernels.
    """
    lost: bool = False
    """Whether other devices reach kernels here, and the one that was asked for none."""
    barred: tuple[Hop, ...] = ()
    """The checks that always raise on the device that was asked for: all that they are the last choice after
    is for other devices.
    """
    cut: tuple[str, ...] = ()
    """What was not read or is not told, as sentences."""

    def refused(self) -> bool:
        """Whether a call can only be refused: a check raises where other devices would launch a kernel."""
        return self.lost and bool(self.raising())

    def raising(self) -> tuple[Hop, ...]:
        """The checks that raise whatever the caller asks for."""
        return tuple(_raising(self.hops))

    def told(self) -> tuple[Hop, ...]:
        """The hops as a person reads them: of the checks those that the device alone makes raise."""
        shown = self.raising() if self.lost else self.barred
        return tuple(hop for hop in self.hops if hop.kind is not HopKind.CHECK or hop in shown)

    def ends(self) -> tuple[Hop, ...]:
        """The kernels and libraries that it may reach, each once."""
        return tuple({hop.symbol: hop for hop in reversed(self.hops) if hop.kind in ENDS}.values())[::-1]


def _raising(hops: tuple[Hop, ...]) -> Iterator[Hop]:
    above: list[Hop] = []
    for hop in hops:
        above = [one for one in above if one.depth < hop.depth]
        is_sure = hop.kind is HopKind.CHECK and (hop.note == LAST or hop.guard == Always())
        if is_sure and all(about_tensors(one.guard) for one in above):
            yield hop
        above.append(hop)


def reached(operator: Operator, decide: Decide) -> Operator:
    """What is left of an operator where somebody can tell what comparisons come to."""
    left = replace(operator, hops=tuple(_reached(operator.hops, decide)))
    return replace(left, lost=bool(operator.ends()) and not left.ends())


def _reached(hops: tuple[Hop, ...], decide: Decide) -> Iterator[Hop]:
    dead: int | None = None
    for hop in hops:
        if dead is not None and hop.depth > dead:
            continue
        guard = settled(hop.guard, decide)
        dead = hop.depth if isinstance(guard, Never) else None
        if dead is None:
            yield hop if guard == hop.guard else replace(hop, guard=guard)
