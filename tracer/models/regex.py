"""Regular expressions: `re` and `regex`, run by Python when pattern and text are known."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..evaluate.atoms import describe, plain
from ..evaluate.calls import call_value
from ..evaluate.unions import settle
from ..evaluate.values import Bound, Function, Instance, ListValue, Native, Partial, Value
from .native import Args, Kwargs, Table, atoms

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()
FUNCTIONS = ("match", "search", "fullmatch", "sub", "split", "findall")


def _declare(name: str) -> None:
    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        if unread := set(kwargs) - {"count"}:
            return m.unknown(f"re.{name}(..., {', '.join(sorted(unread))}=...)")
        return atoms(m, (*args, *kwargs.values()), lambda found: _apply(m, name, found))

    table(f"re.{name}", f"regex.{name}")(native)


for _name in FUNCTIONS:
    _declare(_name)


def _apply(m: Machine, name: str, given: Args) -> Value:
    pattern, *rest = map(_pattern_text, given)
    if name == "sub" and isinstance(rest[0], Function | Bound):
        return _replaced(m, pattern, *rest)
    if not isinstance(pattern, str) or not all(isinstance(r, str | int) for r in rest):
        if len(rest) and rest[-1] is None:
            return m.fail("TypeError", "expected string or bytes-like object, got 'NoneType'")
        return m.unknown(f"re.{name}({', '.join(map(describe, given))})")
    try:
        found = getattr(re, name)(pattern, *rest)
    except re.error as error:
        return m.fail("ValueError", str(error))
    if found is None or isinstance(found, str | bool):
        return found
    return ListValue(tuple(found), m.live) if isinstance(found, list) else _match(m, found)


def _replaced(m: Machine, pattern: Value, replace: Value, text: Value, count: Value = 0) -> Value:
    """`re.sub` with a function of the engine for what comes in place of each match."""
    unknown = m.unknown(f"re.sub({describe(pattern)}, a function, {describe(text)})")
    if not isinstance(pattern, str) or not isinstance(text, str) or not isinstance(count, int):
        return unknown
    out, end = "", 0
    for found in islice(re.finditer(pattern, text), count or None):
        put = settle(m, call_value(m, replace, (_match(m, found),), {}))
        if not isinstance(put, str):
            return unknown
        out, end = out + text[end : found.start()] + put, found.end()
    return out + text[end:]


def _pattern_text(atom: Value) -> Value:
    if isinstance(atom, Instance) and "pattern" in atom.attrs:
        return atom.attrs["pattern"]
    return plain(atom)


def _match(m: Machine, found: re.Match[str]) -> Instance:
    out = Instance(m.world.outside_class("re.Match"), m.live)

    def group(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return found.group(*(plain(a) for a in args))

    out.attrs |= {"group": Native("re.Match.group", group), "string": found.string}
    out.attrs["groups"] = Native("re.Match.groups", lambda m, args, kwargs: found.groups())
    for name in ("start", "end", "span", "groupdict"):
        out.attrs[name] = Native(f"re.Match.{name}", _asking(found, name))
    return out


def _asking(found: re.Match[str], name: str) -> Any:
    def ask(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        answer = getattr(found, name)(*(plain(a) for a in args))
        return m.unknown("groupdict()") if isinstance(answer, dict) else answer

    return ask


@table("re.compile", "regex.compile")
def _compile(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = Instance(m.world.outside_class("re.Pattern"), m.live)
    out.attrs["pattern"] = args[0]
    for name in FUNCTIONS:
        out.attrs[name] = Partial(table.rows[f"re.{name}"], (args[0],), {})
    return out
