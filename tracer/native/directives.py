"""A file's own directives: which of its lines are compiled, and what it has defined above them."""

from __future__ import annotations

import re

from msgspec import Struct

from .cpp import Function, Number
from .evaluation import Reading
from .expressions import condition, literal
from .values import Facts, Macro, Macros, Open, Value, conj, disj, left_open, neg


class Directive(Struct, frozen=True, gc=False):
    line: int
    kind: str
    text: str


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.S
)


def without_comments(text: str) -> str:
    """Blank the comments of C++ text; lines keep their numbers, strings their content."""
    return _TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], text)


_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifn?def|elif|elifn?def|else|endif|define|undef)\b(.*)")


def directives(plain: str) -> tuple[Directive, ...]:
    """List a file's conditions and definitions in order, from its text without comments."""
    found: list[Directive] = []
    lines = iter(enumerate(plain.split("\n"), 1))
    for number, line in lines:
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        text = match.group(2).rstrip()
        while text.endswith("\\"):
            text = text[:-1] + next(lines, (0, ""))[1].rstrip()
        found.append(Directive(number, match.group(1), text.strip()))
    return tuple(found)


def alive_at(line: int, order: tuple[Directive, ...], facts: Facts) -> tuple[Value, Macros]:
    """Tell whether a line is compiled, and what the file itself has defined above it."""
    macros: Macros = {}
    frames: list[tuple[Value, Value]] = []
    for index, step in enumerate(order):
        if step.line > line:
            break
        if step.kind in ("if", "ifdef", "ifndef"):
            test = _test(step, facts, macros)
            test = 1 if isinstance(test, Open) and _is_guard(order, index) else test
            frames.append((test, test))
        elif step.kind == "endif" and frames:
            frames.pop()
        elif step.kind.startswith("el") and frames:
            seen = frames[-1][1]
            test = 1 if step.kind == "else" else _test(step, facts, macros)
            frames[-1] = (conj(neg(seen), test), disj(seen, test))
        elif step.kind in ("define", "undef"):
            _define(step, _all(frames), macros)
    return _all(frames), macros


Region = tuple[int, int, Value, str]
"""First and last line between two directives, whether they are compiled, and the test that leaves it open."""


def spans(plain: str, facts: Facts) -> tuple[tuple[Directive, ...], list[Region], str | None]:
    """Cut a file's text without comments at its conditions, and tell of each piece whether it is compiled.

    The last part says what is wrong with the file: an `#if` that is not closed, an `#endif` too many.
    """
    order = directives(plain)
    regions: list[Region] = []
    macros: Macros = {}
    frames: list[tuple[Value, Value, str]] = []
    start, wrong = 1, None
    for index, step in enumerate(order):
        if step.kind in ("define", "undef"):
            _define(step, _all([frame[:2] for frame in frames]), macros)
            continue
        regions.append((start, step.line - 1, *_state(frames)))
        start = step.line
        if step.kind in ("if", "ifdef", "ifndef"):
            test = _test(step, facts, macros)
            test = 1 if isinstance(test, Open) and _is_guard(order, index) else test
            frames.append((test, test, f"#{step.kind} {step.text}"))
        elif not frames:
            wrong = f"#{step.kind} without an #if in line {step.line}"
        elif step.kind == "endif":
            frames.pop()
        else:
            seen = frames[-1][1]
            test = 1 if step.kind == "else" else _test(step, facts, macros)
            words = f"#{step.kind} {step.text}" if step.kind != "else" else f"not ({frames[-1][2]})"
            frames[-1] = (conj(neg(seen), test), disj(seen, test), words)
    if frames:
        wrong = f"{frames[-1][2]} is not closed"
    regions.append((start, plain.count("\n") + 1, *_state(frames)))
    return order, [region for region in regions if region[1] >= region[0]], wrong


def _state(frames: list[tuple[Value, Value, str]]) -> tuple[Value, str]:
    alive = _all([frame[:2] for frame in frames])
    return alive, " and ".join(words for test, _, words in frames if isinstance(test, Open))


def _all(frames: list[tuple[Value, Value]]) -> Value:
    alive: Value = 1
    for test, _ in frames:
        alive = conj(alive, test)
    return alive


def _is_guard(order: tuple[Directive, ...], index: int) -> bool:
    """Know `#ifndef X` / `#define X` around a header: it holds where the header is read first."""
    after = order[index + 1] if index + 1 < len(order) else None
    here = order[index]
    defines = after is not None and after.kind == "define" and after.text.split()[:1] == [here.text]
    return here.kind == "ifndef" and defines


_DEFINE = re.compile(r"\s*([A-Za-z_]\w*)(\(|\s+|$)(.*)", re.S)


def _define(step: Directive, alive: Value, macros: Macros) -> None:
    found = _DEFINE.fullmatch(step.text)
    if found is None or alive == 0:
        return
    name, mark, text = found.groups()
    if isinstance(alive, Open):
        macros[name] = Macro(alive, alive)
    elif step.kind == "undef":
        macros[name] = Macro(0, 0)
    else:
        value = 0 if mark == "(" else literal(text.strip())
        macros[name] = Macro(
            1, value.value if isinstance(value, Number) else left_open(f"the value of {name}")
        )


def _test(step: Directive, facts: Facts, macros: Macros) -> Value:
    reading = Reading(_no_helper, facts, macros)
    if not step.kind.endswith("def"):
        return reading.value(condition(step.text), {}, directive=True)
    defined = reading.macro(step.text.split()[0] if step.text else "").defined
    return neg(defined) if step.kind.endswith("ndef") else defined


def value_of(text: str, facts: Facts) -> Value:
    """What an expression of the preprocessor comes to."""
    return Reading(_no_helper, facts, {}).value(condition(text), {}, directive=True)


def _no_helper(name: str) -> tuple[Function, Macros] | None:
    return None
