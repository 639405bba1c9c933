"""Leave out the bodies of kernels before a file is parsed: they are half of the text and launch nothing."""

from __future__ import annotations

import re

LAUNCH = re.compile(r"\]\s*\(|\.(?:run|warmup|launch|compile)\s*\(")
"""What stands in every text that launches a kernel: a subscript that is called, or one of these methods."""
_DECORATOR = re.compile(r"@.*(?:jit|\.kernel)")
_COMMENT = re.compile(r"\s#.*")


class Trimmed:
    """A text with the bodies of decorated functions replaced by `pass`, on the same lines.

    What looks like a body is judged by indentation alone, so the result may be no Python where the text is.
    """

    def __init__(self, lines: list[str], kept: re.Pattern[str] = LAUNCH) -> None:
        """Bodies in which `kept` is found stay."""
        self.lines, self._kept = list(lines), kept
        self.ends: dict[int, int] = {}
        """By the line of a `def` the last line of its body."""
        at, indent = 0, None
        while at < len(lines):
            bare = lines[at].lstrip(" ")
            here = len(lines[at]) - len(bare)
            if _DECORATOR.match(bare):
                indent = here
            elif indent == here and bare.startswith("def "):
                at, indent = self._function(at, here), None
                continue
            at += 1

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _function(self, at: int, indent: int) -> int:
        """Empty the function that begins here; gives the line behind its header."""
        first = self._behind_header(at)
        last = self._behind_body(first, indent)
        body = "\n".join(self.lines[first:last])
        if first < last and not self._kept.search(body):
            self.lines[first:last] = [" " * (indent + 1) + "pass", *[""] * (last - first - 1)]
            self.ends[at + 1] = last
        return first

    def _behind_header(self, at: int) -> int:
        while at < len(self.lines) and not _COMMENT.sub("", self.lines[at]).rstrip().endswith(":"):
            at += 1
        return at + 1

    def _behind_body(self, at: int, indent: int) -> int:
        while at < len(self.lines):
            bare = self.lines[at].lstrip(" ")
            if bare and not bare.startswith("#") and len(self.lines[at]) - len(bare) <= indent:
                break
            at += 1
        return at
