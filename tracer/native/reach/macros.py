"""Macros expanded in the text of a function, as the preprocessor does it; lines stay where they are."""

from __future__ import annotations

import re
from collections.abc import Callable

from .compiled import MacroText

DEEPEST = 24
"""Expansions within expansions."""
LARGEST = 2_000_000
"""Characters that are written for one function, in all expansions together."""

Lookup = Callable[[str, int], MacroText | None]
"""The macro of a name that is in force in a line."""

_TOKEN = re.compile(
    r"""R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
    r"""|[A-Za-z_]\w*|\s+|\d[\w.']*|.""",
    re.S,
)
_OPENING = re.compile(r"\s*\(")
_PASTED = re.compile(r"[ \t]*##")
_OPERATORS = re.compile(r"[ \t]*##[ \t]*|#[ \t]*([A-Za-z_]\w*)")


def expanded(text: str, lookup: Lookup, line: int = 1) -> str:
    """Expand what `lookup` knows in a text that begins in `line`.

    An invocation of several lines ends in as many line breaks. What grows without bound is cut.
    """
    return _Expansion(lookup).of(text, frozenset(), 0, line)


class _Expansion:
    """One text's expansion, and what may still be written."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.left = LARGEST

    def of(self, text: str, hidden: frozenset[str], depth: int, line: int) -> str:
        """`text` with its macros replaced, but for those of which it is itself a part."""
        out: list[str] = []
        position = 0
        while position < len(text) and self.left > 0:
            word, end = _token(text, position)
            here, line = line, line + (0 if depth else word.count("\n"))
            macro = self._macro(word, here, hidden, depth)
            used = _use(text, end, macro) if macro is not None else None
            if macro is not None and used is not None:
                given, after = used
                word = self._replaced(macro, given, hidden, depth, here)
                # What it stands for may be the name of a macro whose arguments come after it.
                then = self._macro(word.strip(), here, hidden | {macro.name}, depth) if word.strip() else None
                more = _use(text, after, then) if then is not None and then.params is not None else None
                if then is not None and more is not None:
                    given, after = more
                    word = self._replaced(then, given, hidden | {macro.name}, depth, here)
                broken = text.count("\n", end, after)
                word, end = word + "\n" * broken, after
                line += 0 if depth else broken
            self.left -= len(word)
            out.append(word)
            position = end
        return "".join(out)

    def _macro(self, word: str, line: int, hidden: frozenset[str], depth: int) -> MacroText | None:
        is_name = word[0] == "_" or word[0].isalpha()
        return self.lookup(word, line) if is_name and depth < DEEPEST and word not in hidden else None

    def _replaced(
        self, macro: MacroText, given: list[str], hidden: frozenset[str], depth: int, line: int
    ) -> str:
        body = macro.body or ""
        if macro.params:
            body = self._substituted(body, _bound(macro.params, given), hidden, depth, line)
        body = body.replace("##", "").replace("\n", " ")
        return self.of(body, hidden | {macro.name}, depth + 1, line)

    def _substituted(
        self, body: str, bound: dict[str, str], hidden: frozenset[str], depth: int, line: int
    ) -> str:
        """Parameters replaced: as they are beside `##`, as text behind `#`, else expanded first."""
        out: list[str] = []
        position = 0
        pasted = False
        while position < len(body) and self.left > 0:
            operator = _OPERATORS.match(body, position)
            if operator is not None:
                position, name = operator.end(), operator[1]
                out += [] if name is None else [_quoted(bound.get(name, name))]
                pasted = name is None
                continue
            word, position = _token(body, position)
            if word in bound:
                glued = pasted or _PASTED.match(body, position) is not None
                word = bound[word] if glued else self.of(bound[word], hidden, depth + 1, line)
            out.append(word)
            pasted = False
        return "".join(out)


def _token(text: str, position: int) -> tuple[str, int]:
    token = _TOKEN.match(text, position)
    assert token is not None  # any character is one
    return token[0], token.end()


def _use(text: str, position: int, macro: MacroText) -> tuple[list[str], int] | None:
    """The arguments that stand behind a macro's name and where they end; None where it is not invoked."""
    if macro.params is None:
        return [], position
    opening = _OPENING.match(text, position)
    return _arguments(text, opening.end()) if opening else None


def _arguments(text: str, start: int) -> tuple[list[str], int] | None:
    """Split arguments from behind their parenthesis; None where it is not closed."""
    given: list[str] = []
    depth, begin, position = 0, start, start
    while position < len(text):
        place = position
        sign, position = _token(text, position)
        if sign in ("(", "[", "{"):
            depth += 1
        elif sign in (")", "]", "}") and depth:
            depth -= 1
        elif not depth and sign in (",", ")"):
            given.append(text[begin:place].strip())
            begin = position
            if sign == ")":
                return given, position
    return None


def _bound(params: tuple[str, ...], given: list[str]) -> dict[str, str]:
    if params[-1].endswith("..."):
        fixed = params[:-1]
        rest = ", ".join(given[len(fixed) :])
        name = params[-1][:-3].strip() or "__VA_ARGS__"
        return {**dict(zip(fixed, given, strict=False)), name: rest}
    return dict(zip(params, [*given, *[""] * len(params)], strict=False))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "").replace('"', "'") + '"'
