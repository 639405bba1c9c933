"""Places in the engine's source as permalinks, where the release's repository and commit are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from ..model import Pin
from ..predicate import Site
from .words import code, prose

REPOSITORIES = {"vllm": "https://github.com/vllm-project/vllm"}
"""Where an engine's commits can be seen."""
COMMIT = re.compile(r"[0-9a-f]{7,64}")


class Links:
    """How sites at a report's pins are shown."""

    def __init__(self, pins: Sequence[Pin]) -> None:
        self._pins = pins

    def site(self, site: Site | None) -> str:
        """A link to the line at the first pin, or `path:line`."""
        return self._link(site, self._pins[0] if self._pins else None)

    def elsewhere(self, site: Site | None, version: str) -> str:
        """The same at the pin of that version, where there is exactly one."""
        pins = [pin for pin in self._pins if pin.version == version]
        return self._link(site, pins[0] if len(pins) == 1 else None)

    def _link(self, site: Site | None, pin: Pin | None) -> str:
        if site is None:
            return ""
        root = blob(pin) if pin else None
        if root is None or not _inside(site.path):
            return code(str(site))
        label = "/".join(site.path.split("/")[-2:])
        return f"[{prose(f'{label}:{site.line}')}]({root}/{quote(site.path)}#L{site.line})"


def blob(pin: Pin) -> str | None:
    """The address below which the pin's files are; None where it is not known."""
    repository = REPOSITORIES.get(pin.engine)
    known = repository and pin.commit and COMMIT.fullmatch(pin.commit)
    return f"{repository}/blob/{pin.commit}" if known else None


def _inside(path: str) -> bool:
    """Whether a path stays below the engine's root; a saved report may hold anything."""
    return path.isprintable() and not {"", ".", ".."} & set(path.split("/"))
