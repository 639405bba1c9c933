"""The version of torch that a release is built with, from its lists of requirements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..answers import Answers

_LISTS = ("requirements/cuda.txt", "requirements/build/cuda.txt", "requirements/build.txt")
_PINNED = re.compile(r"^torch\s*==\s*(\d+)\.(\d+)", re.M)


def torch_of(answers: Answers) -> dict[str, int | None]:
    """torch's own macros of its version; none where no list that is at hand pins it, or two differ."""
    found = {version for path in _LISTS for version in _PINNED.findall(answers.text(path) or "")}
    if len(found) != 1:
        return {}
    major, minor = found.pop()
    return {"TORCH_VERSION_MAJOR": int(major), "TORCH_VERSION_MINOR": int(minor)}
