"""Helm templates as YAML: what a template puts in is a variable that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

UNSAID = "$TEMPLATE"
TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
ALONE = re.compile(r"\s*(?:\{\{[^{}]*\}\}\s*)+$")
OPENS = re.compile(r"\{\{-?\s*(?:if|range|with|define|block)\b")
ENDS = re.compile(r"\{\{-?\s*end\b")
CONTROL = re.compile(r"\{\{-?\s*(?:if|else|range|with|end|define|block|break|continue|/\*|\$?\w*\s*:?=)")
ITEM = re.compile(r"(\s*)-\s")
KEY = re.compile(r"(\s*)(?:-\s+)?[\w.\"'-]+:\s*$")


def plain(text: str) -> str:
    """The template with as many lines; one without templates is as it was."""
    if "{{" not in text:
        return text
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    within = _within(lines)
    indent: str | None = None
    for number, line in enumerate(lines):
        if ALONE.fullmatch(line) and "{{" in line:
            puts = CONTROL.match(line.strip()) is None
            yield f"{indent}- {UNSAID}" if puts and indent is not None else ""
            continue
        item, key = ITEM.match(line), KEY.fullmatch(line)
        if line.strip():
            indent = item[1] if item is not None else key[1] if key is not None else None
        filled = TEMPLATE.sub(UNSAID, line)
        yield f"{item[1]}- {UNSAID}" if item is not None and within[number] else filled


def _within(lines: list[str]) -> list[bool]:
    """Which lines are plain items that stand in a list under a condition, or once for each of something."""
    out = [False] * len(lines)
    opened: list[int] = []
    for number, line in enumerate(lines):
        if not ALONE.fullmatch(line) or "{{" not in line:
            continue
        if OPENS.search(line) and not ENDS.search(line):
            opened.append(number)
        elif ENDS.search(line) and not OPENS.search(line) and opened:
            first = opened.pop() + 1
            inside = [n for n in range(first, number) if lines[n].strip() and not ALONE.fullmatch(lines[n])]
            if inside and all(_is_item(lines[n]) for n in inside):
                for n in inside:
                    out[n] = True
    return out


def _is_item(line: str) -> bool:
    """Whether a line is an item that is one text."""
    return re.match(r"\s*-\s+(?![\w.\"'-]+:\s)", line) is not None
