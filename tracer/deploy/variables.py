"""The variables of a shell text: those that it sets once, for all that follows, and what it exports."""

from __future__ import annotations

import re

from .found import UNKNOWN
from .scanner import LONGEST, Scanner

SET = re.compile(r"(?<![\w$.{-])([A-Za-z_]\w*)(?:\[[^\]\n]{0,99}\])?\+?=|\$\{([A-Za-z_]\w*):?=")
"""Anywhere that a name may be given a value."""
NAMED = re.compile(r"\b(?:for|read|unset|getopts|mapfile|readarray|declare|typeset|local)\b([^;\n|&]{0,200})")
"""Commands that set the names behind them."""
OPENS = re.compile(
    r"(?:^|[;&|]\s*|\bthen\s+|\bdo\s+|\belse\s+)(?:if|for|while|until|case|select)\b|\{\s*$|\(\s*$"
)
CLOSES = re.compile(r"(?:^|[;&|\s])(?:fi|done|esac)\b|^\s*[})]")
EXPORTS = ("export", "ENV", "ARG")


class Variables:
    """What is known while a text is read from its start; `exported` begins with what is set around it."""

    def __init__(self, text: str, exported: dict[str, str]) -> None:
        self._times: dict[str, int] = {}
        for found in SET.finditer(text):
            name = found[1] or found[2]
            self._times[name] = self._times.get(name, 0) + (2 if found[2] else 1)
        for found in NAMED.finditer(text):
            for name in re.findall(r"[A-Za-z_]\w*", found[1]):
                self._times[name] = self._times.get(name, 0) + 2
        self._values: dict[str, str] = {k: v for k, v in exported.items() if v != UNKNOWN}
        self._around = frozenset(exported)
        self.exported = exported
        self._depth = 0

    def value(self, named: str) -> str | None:
        """The value of `NAME`, or of `NAME:-default` where nothing sets the name."""
        name, sign, default = re.match(r"(\w*)(:?-)?(.*)", named, re.S).groups()  # type: ignore[union-attr]
        if not sign:
            return self._values.get(named)
        if name in self._values:
            return self._values[name] or default
        unset = name not in self._times and name not in self._around
        return default if unset and not re.search(r"[$`]", default) else None

    def at(self, line: str) -> None:
        """Read a line for what it sets."""
        opened = len(OPENS.findall(line))
        before, self._depth = self._depth, max(0, self._depth + opened - len(CLOSES.findall(line)))
        if "=" not in line and not re.match(r"\s*(ENV|unset)\s", line):
            return
        commands = Scanner(line, self.value).read()
        plain = len(commands) == 1 and before == 0 and not opened and not line[:1].isspace()
        for command in commands:
            texts = ["".join(part.text for part in word) for word in command]
            known = [all(part.known for part in word) for word in command]
            self._command(texts, known, plain)

    def _command(self, texts: list[str], known: list[bool], plain: bool) -> None:
        how = texts[0] if texts[0] in EXPORTS else ""
        if texts[0] == "unset":
            self.exported |= dict.fromkeys((name for name in texts[1:] if name in self.exported), UNKNOWN)
            return
        if how == "ENV" and len(texts) > 2 and "=" not in texts[1]:
            texts, known = ["ENV", f"{texts[1]}={' '.join(texts[2:])}"], [True, all(known)]
        pairs = list(zip(texts, known, strict=True))[1 if how else 0 :]
        if not all(text.partition("=")[1] and text.partition("=")[0].isidentifier() for text, _ in pairs):
            return  # `NAME=value command`, or something else
        for text, said in pairs:
            name, _, value = text.partition("=")
            sure = said and plain and self._times.get(name) in (None, 1) and len(value) <= LONGEST
            if sure:
                self._values[name] = value
            else:
                self._values.pop(name, None)
            if how in ("export", "ENV"):
                self.exported[name] = value if sure else UNKNOWN
