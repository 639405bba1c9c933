"""functools.cache and lru_cache: a function that answers once for each set of arguments.

What it has answered is a dict from its arguments, so that a loop forgets it as it does any other. Arguments
that are not known may equal others: each is held against those that were asked for before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import dicts
from ..evaluate.calls import call_value
from ..evaluate.hashing import equal, hash_key
from ..evaluate.unions import alternatives, cover, join, settle, store
from ..evaluate.values import MISSING, Descriptor, DictValue, Function, Native, Unknown, Value, Wrapper
from .native import Args, Kwargs, Table, atoms

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

table = Table()

KEPT = 64
"""Arguments of one function that are held against others; what is asked beyond that is open."""

OPEN = "arguments that are not known"


@table("functools.cache")
def _cache(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _cached(m, args[0])


@table("functools.lru_cache")
def _lru_cache(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args and isinstance(args[0], Function | Descriptor | Wrapper):
        return _cached(m, args[0])
    return Native("functools.lru_cache()", lambda m, more, _: _cached(m, more[0]))


def _cached(m: Machine, func: Value) -> Value:
    if not isinstance(func, Function | Wrapper):
        return func
    memory = DictValue(m.space.true)

    def call(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        names = tuple(kwargs)
        return atoms(m, (*args, *kwargs.values()), lambda given: _ask(m, func, memory, given, names))

    def forget(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return dicts.clear(m, memory)

    return Wrapper(func, call, {"cache_clear": Native(f"{func.symbol}.cache_clear", forget)})


def _ask(m: Machine, func: Value, memory: DictValue, given: Args, names: tuple[str, ...]) -> Value:
    """The answer that is kept for these arguments; elsewhere the function runs, and its answer is kept."""
    key = hash_key(m, given)
    found: list[tuple[Guard, Value]] = []
    rest = m.live
    for name, asked, kept in _candidates(m, memory, names, key):
        hit = rest & cover(m, kept)
        if not hit.is_false:
            hit = hit & (m.space.true if name == (names, key) else equal(m, given, asked))
            found += [(g & hit, atom) for g, atom in alternatives(m, kept) if atom is not MISSING]
            rest = rest & m.live & ~hit
    anything = rest & cover(m, memory.other)
    if not anything.is_false:
        hit = anything & m.holds(m.unknown(f"{func.symbol}() was asked this before"))
        found.append((hit, m.unknown(f"{func.symbol}()")))
        rest = rest & ~hit
    answer = join(m, [(g & m.live, atom) for g, atom in found]) if found else MISSING
    return m.branch(rest, lambda: _fresh(m, func, memory, given, names), lambda: settle(m, answer))


def _candidates(
    m: Machine, memory: DictValue, names: tuple[str, ...], key: Any
) -> list[tuple[Any, Args, Value]]:
    """The entries that may be meant; where the arguments are known, those of others that are not."""
    found = [
        (name, asked, kept)
        for name, (asked, kept) in memory.entries.items()
        if name[0] == names and (key is None or name[1] == key or name[1][0] == OPEN)
    ]
    if len(found) > KEPT:
        m.coverage.budget(f"more than {KEPT} arguments of a cached function that may be equal")
        raise m.abandon()
    return found


def _fresh(m: Machine, func: Value, memory: DictValue, given: Args, names: tuple[str, ...]) -> Value:
    positional = len(given) - len(names)
    answer = call_value(m, func, given[:positional], dict(zip(names, given[positional:], strict=True)))
    key = hash_key(m, given)
    if key is None and any(frame.vague for frame in m.frames):  # each turn would be asked anew
        m.touch(memory, "other")
        memory.other = store(m, memory.other, m.unknown(f"{func.symbol}()"), memory.born)
        return answer
    name = (names, (OPEN, *(_told(m, atom) for atom in given)) if key is None else key)
    _, kept = memory.entries.get(name, (given, MISSING))
    m.touch(memory, ("entry", name))
    memory.entries[name] = (given, store(m, kept, answer, memory.born))
    return answer


def _told(m: Machine, atom: Value) -> Any:
    """What tells an argument from others in the text of the program."""
    return atom.key if isinstance(atom, Unknown) else m.tag(atom)
