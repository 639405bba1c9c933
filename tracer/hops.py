"""The call tree of a walk, cut down to the way from the flag to the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from ..report.model import Hop, HopKind, Why
from ..report.predicate import Predicate
from .evaluate.machine import Machine
from .evaluate.record import Edge
from .guards import Guard
from .packages import STDLIB
from .rows import about_rows, called

WHY = {
    "calls": Why.CALLS,
    "constructs": Why.CONSTRUCTS,
    "dispatches": Why.DISPATCHES_ON,
    "leaves": Why.CALLS,
    "launches": Why.LAUNCHES,
}
QUIET = STDLIB | {"numpy", "logger", "pydantic", "transformers", "packaging", "regex", "triton"}
"""Libraries whose calls are no step towards a kernel."""

TORCH_WORK = (
    "torch.ops.",
    "torch._",
    "torch.nn.functional.",
    "torch.mm",
    "torch.matmul",
    "torch.bmm",
    "torch.addmm",
)


MOST = 16
"""Choices that are told apart at most."""

TORCH_ASKS = ("torch._dynamo.", "torch.compiler.")
"""What of torch's is asked and does nothing."""


class Marks(Struct, frozen=True):
    """What a chain must show: classes by their role, and functions that choose."""

    roles: dict[str, HopKind]
    choosers: frozenset[str]

    def kind(self, edge: Edge) -> HopKind:
        """What the edge's target is."""
        if edge.why == "launches":
            return HopKind.TRITON_KERNEL
        if edge.why == "leaves":
            return _outside(edge.callee)
        return self.roles.get(edge.callee, HopKind.FUNCTION)


def _outside(symbol: str) -> HopKind:
    if symbol.startswith("torch.ops."):
        return HopKind.CUSTOM_OP if symbol.split(".")[2] == "vllm" else HopKind.TORCH_OP
    return HopKind.TORCH_OP if symbol.startswith("torch.") else HopKind.EXTERNAL


def is_work(edge: Edge) -> bool:
    """Whether an edge ends where the engine's Python ends: an op, a Triton kernel, a kernel library."""
    if edge.why == "launches":
        return True
    if edge.why != "leaves":
        return False
    top = edge.callee.partition(".")[0]
    if top == "torch":
        return edge.callee.startswith(TORCH_WORK) and not edge.callee.startswith(TORCH_ASKS)
    return top not in QUIET


def ops(edges: Iterable[Edge], guard: Guard) -> tuple[str, ...]:
    """Operators that a forward of these paths calls, in order of first call."""
    return called((e for e in edges if e.phase == "forward" and is_work(e)), guard)


def kept(edges: list[Edge], wanted: set[int]) -> list[Edge]:
    """The edges of `wanted` and all that lead to them, in order."""
    by_number = {e.number: e for e in edges}
    keep: set[int] = set()
    for number in wanted:
        at: int | None = number
        while at is not None and at in by_number and at not in keep:
            keep.add(at)
            at = by_number[at].parent
    return [e for e in edges if e.number in keep]


def hops(
    m: Machine, edges: list[Edge], marks: Marks, conditions: Conditions, depth: int = 0
) -> Iterator[Hop]:
    """The edges as hops, each level once: what repeats under the same parent is told once."""
    depths: dict[int, int] = {}
    told: dict[tuple[int | None, str, object], int] = {}
    same: dict[int, int] = {}
    by_number = {e.number: e for e in edges}
    for edge in edges:
        parent = None if edge.parent is None else same.get(edge.parent, edge.parent)
        key = (parent, edge.callee, edge.site)
        if key in told:
            same[edge.number] = told[key]
            continue
        told[key] = edge.number
        depths[edge.number] = depths.get(parent, depth - 1) + 1 if parent is not None else depth
        above = by_number[edge.parent].guard if edge.parent in by_number else m.space.true
        guard, note = conditions.static(edge.guard, above)
        yield Hop(
            kind=marks.kind(edge),
            symbol=edge.callee,
            site=edge.site,
            why=WHY[edge.why],
            guard=guard,
            note=note,
            depth=depths[edge.number],
        )


class Conditions:
    """Tells conditions of the scenario from conditions on what tensors hold when the engine runs."""

    def __init__(self, m: Machine, known: Iterable[str], under: Guard) -> None:
        choices = (v.name for v in m.space.order.values() if v.predicate is None)
        self.m, self.known = m, frozenset((*known, *choices))
        self.under = (
            m.space.true if under.is_false else under
        )  # what never comes out goes its way all the same

    def static(self, guard: Guard, above: Guard) -> tuple[Predicate, str | None]:
        """What a step needs beyond the step above it, without its run-time part, and a note when that was
        cut.
        """
        space = self.m.space
        own = space.simplify(guard, above)
        runtime = [v for v in space.variables(own) if v not in self.known and not about_rows(v)]
        guard, above = self._without_runtime(guard), self._without_runtime(above)
        note = "depends on run-time values" if runtime else None
        return space.predicate(space.simplify(guard, above & self.under)), note

    def cells(self, edges: Iterable[Edge], guard: Guard) -> list[Guard]:
        """A guard, cut where what the scenario decides chooses between the edges."""
        found = [guard]
        for edge in edges:
            chosen = self._without(edge.guard, lambda name: name not in self.known or about_rows(name))
            parts = [part for cell in found for part in (cell & chosen, cell & ~chosen) if not part.is_false]
            found = parts if len(parts) <= MOST else found
        return found

    def _without_runtime(self, guard: Guard) -> Guard:
        return self._without(guard, lambda name: name not in self.known and not about_rows(name))

    def _without(self, guard: Guard, drops: Callable[[str], bool]) -> Guard:
        space = self.m.space
        for name in space.variables(guard):
            if drops(name):
                guard = space.assign(guard, {name: True}) | space.assign(guard, {name: False})
        return guard
