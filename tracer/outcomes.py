"""Where a layer's walk can end: each combination of classes that can meet, under the guard it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..report.model import Kernel, Outcome, Parameter, Refusal
from ..report.predicate import Always, Opaque
from .evaluate.atoms import describe
from .evaluate.machine import Machine
from .evaluate.texts import message
from .evaluate.unions import alternatives, settle
from .evaluate.values import MISSING, ClassValue, Guarded, Instance, ListValue, Token, Unknown, Value
from .guards import Guard

Parts = list[tuple[Guard, dict[str, Any]]]
WIDEST = 64
"""Outcomes that are told one by one."""


def split(
    m: Machine, parts: Parts, key: str, read: Callable[[], Value], show: Callable[[Value], Any]
) -> Parts:
    """Split every part by the alternatives of one more value; parts that show the same stay one."""
    out: Parts = []
    for guard, seen in parts:
        m.live = guard
        for under, atom in alternatives(m, read()):
            m.live = under
            out.append((under, {**seen, key: show(atom)}))
    return merged(out)


def merged(parts: Parts) -> Parts:
    """Parts that say the same, joined."""
    out: Parts = []
    for guard, seen in parts:
        for at, (other, same) in enumerate(out):
            if same == seen:
                out[at] = (other | guard, seen)
                break
        else:
            out.append((guard, seen))
    return out


def class_name(atom: Value) -> str | None:
    """The class of an object, the label of what is not known."""
    if isinstance(atom, Instance):
        return atom.cls.symbol
    return None if atom is None or atom is MISSING else describe(atom)


def built(m: Machine, layer: Value, live: Guard, families: frozenset[ClassValue]) -> Parts:
    """What a built layer holds: config, method, scheme and kernels, under their guards."""
    parts: Parts = [(live, {})]

    def attribute(name: str) -> Callable[[], Value]:
        return lambda: _read(m, layer, name)

    parts = split(m, parts, "config", attribute("quant_config"), class_name)
    parts = split(m, parts, "method", attribute("quant_method"), class_name)
    parts = split(m, parts, "scheme", attribute("scheme"), class_name)
    out: Parts = []
    for guard, seen in parts:
        for under, kernels in _kernels(m, guard, layer, families):
            out.append((under, {**seen, "kernels": kernels}))
    m.live = live
    return merged(out)


def _read(m: Machine, layer: Value, name: str) -> Value:
    found = []
    for guard, atom in alternatives(m, layer):
        value = atom.attrs.get(name, MISSING) if isinstance(atom, Instance) else MISSING
        found += [
            (guard & g, v) for g, v in (value.alts if isinstance(value, Guarded) else ((guard, value),))
        ]
    return Guarded(tuple(p for p in found if not p[0].is_false)) if len(found) != 1 else found[0][1]


Kernels = list[tuple[Guard, tuple[Kernel, ...]]]


def _kernels(m: Machine, guard: Guard, layer: Value, families: frozenset[ClassValue]) -> Kernels:
    """Kernel objects that the method and the scheme hold."""
    states: Kernels = [(guard, ())]
    for root in ("quant_method", "scheme"):
        next_states: Kernels = []
        for under, seen in states:
            m.live = under
            for part, atom in alternatives(m, _read(m, layer, root)):
                next_states += _below(m, part, seen, atom, root, families, frozenset())
        states = next_states
    return [(g, tuple(dict.fromkeys(k))) for g, k in states]


def _below(
    m: Machine,
    guard: Guard,
    seen: tuple[Kernel, ...],
    atom: Value,
    path: str,
    families: frozenset[ClassValue],
    passed: frozenset[int],
) -> Kernels:
    if not isinstance(atom, Instance) or len(passed) > 3 or id(atom) in passed:
        return [(guard, seen)]
    states: Kernels = [(guard, seen)]
    for name, value in list(atom.attrs.items()):
        if not _holds_objects(value):
            continue
        grown: Kernels = []
        for under, kernels in states:
            m.live = under
            for part, inner in alternatives(m, value):
                here = f"{path}.{name}"
                found = _is_kernel(inner, families)
                more = (*kernels, Kernel(attribute=here, symbol=inner.cls.symbol)) if found else kernels
                follow = found or _is_method(inner)
                grown += (
                    _below(m, part, more, inner, here, families, passed | {id(atom)})
                    if follow
                    else [(part, more)]
                )
        states = grown
    return _joined(states)


def _holds_objects(value: Value) -> bool:
    atoms = [a for _, a in value.alts] if isinstance(value, Guarded) else [value]
    return any(isinstance(a, Instance) and isinstance(a.cls, ClassValue) for a in atoms)


KERNEL_PROTOCOL = ("can_implement", "apply_weights")
"""Methods of an object that can be asked whether it can do the layer's work, and does it."""


def _is_kernel(atom: Value, families: frozenset[ClassValue]) -> bool:
    """A kernel shares a base with a candidate, or follows the protocol of candidates (forced without a
    choice).
    """
    if not isinstance(atom, Instance):
        return False
    if any(base in families for base in atom.cls.mro):
        return True
    return all(any(_defines(base, name) for base in atom.cls.mro) for name in KERNEL_PROTOCOL)


def _defines(cls: Any, name: str) -> bool:
    return name in cls.attrs or (
        isinstance(cls, ClassValue) and cls.scope is not None and cls.scope.defines(name)
    )


def _is_method(atom: Value) -> bool:
    """Whether an object may hold a kernel further down: it does the work of a layer itself."""
    if not isinstance(atom, Instance) or not isinstance(atom.cls, ClassValue):
        return False
    return any(
        isinstance(b, ClassValue) and b.scope is not None and b.scope.defines("create_weights")
        for b in atom.cls.mro
    )


def _joined(states: Kernels) -> Kernels:
    out: Kernels = []
    for guard, kernels in states:
        for at, (other, same) in enumerate(out):
            if same == kernels:
                out[at] = (other | guard, kernels)
                break
        else:
            out.append((guard, kernels))
    return out


def families(candidates: Iterable[ClassValue]) -> frozenset[ClassValue]:
    """The engine classes that candidates of a choice derive from, themselves included."""
    return frozenset(base for cls in candidates for base in cls.mro if isinstance(base, ClassValue))


def parameters(m: Machine, named: list[tuple[str, Value, Value]]) -> tuple[Parameter, ...]:
    """Registered tensors as facts; a size that is not known is its term."""
    return tuple(
        Parameter(name=name, dtype=dtype_name(settle(m, dtype)), shape=shape_sizes(m, settle(m, shape)))
        for name, dtype, shape in named
    )


def dtype_name(value: Value) -> str:
    return value.symbol.removeprefix("torch.") if isinstance(value, Token) else describe(value)


def shape_sizes(m: Machine, value: Value) -> tuple[int | str, ...]:
    if isinstance(value, ListValue):
        value = settle(m, value.content)
    if not isinstance(value, tuple):
        return (_either(m, value),)
    sizes = [settle(m, v) for v in value]
    return tuple(s if isinstance(s, int) else _either(m, s) for s in sizes)


def _either(m: Machine, value: Value) -> str:
    if isinstance(value, Guarded):
        return " or ".join(describe(a) for _, a in alternatives(m, value))
    return value.label if isinstance(value, Unknown) else describe(value)


def refusals(m: Machine, raised: list[tuple[Guard, Instance]], under: Guard) -> list[tuple[Guard, Outcome]]:
    """What the engine raises, in its own words, one outcome for each text and place."""
    found: dict[tuple[str, str, Any], Guard] = {}
    within: dict[tuple[str, str, Any], tuple[str, ...]] = {}
    for guard, exc in raised:
        here = guard & under
        if here.is_false:
            continue
        m.live = here
        for part, text in alternatives(m, message(m, exc)):
            shown = text if isinstance(text, str) else describe(text)
            key = (exc.cls.name, shown, exc.attrs.get("__site__"))
            found[key] = found.get(key, m.space.false) | part
            within.setdefault(key, exc.attrs.get("__within__", ()))
    return [
        (guard, Outcome(refusal=Refusal(exception=name, message=text, site=site, within=within[key])))
        for key, guard in found.items()
        for name, text, site in (key,)
    ]


def turned_down(
    ends: list[tuple[Guard, Outcome]], refused: list[tuple[Guard, Outcome]]
) -> list[tuple[Guard, Outcome]]:
    """The ends, where none of the refusals comes first."""
    for guard, end in refused:
        ends = [*((g & ~guard, o) for g, o in ends if not g.implies(guard)), (guard, end)]
    return ends


def outcome(seen: dict[str, Any], ops: tuple[str, ...], named: tuple[Parameter, ...]) -> Outcome:
    """One built part as a fact, its guard still to be filled in."""
    return Outcome(
        guard=Always(),
        config=seen["config"],
        method=seen["method"],
        scheme=seen["scheme"],
        kernels=seen["kernels"],
        ops=ops,
        dtypes=seen["dtypes"],
        parameters=named,
    )


def stands_for_all(
    m: Machine, apart: str | None, ends: list[tuple[Guard, Outcome]]
) -> list[tuple[Guard, Outcome]]:
    """Ends of one block's layer told of all blocks; a refusal of one block is the whole model's."""
    refused = [end for end in ends if end[1].refusal is not None]
    return [*doubted(m, apart, [end for end in ends if end not in refused]), *refused]


def doubted(m: Machine, doubt: str | None, ends: list[tuple[Guard, Outcome]]) -> list[tuple[Guard, Outcome]]:
    """Ends that hold only under an assumption on names; what else may be there is not told."""
    if doubt is None or not ends:
        return ends
    named = m.space.atom(doubt, Opaque(doubt))
    left = m.space.false
    for guard, _ in ends:
        left = left | guard
    return [*((guard & named, end) for guard, end in ends), (left & ~named, Outcome())]
