"""Which packages are beside SGLang: what its distribution requires, less what a question leaves out."""

from __future__ import annotations

import re

from ..library import Library
from ..packages import ALWAYS, PIN, STDLIB, import_name
from ..readings import VERSION
from ..scenario import Scenario
from ..sources import Source

_REQUIRES = re.compile(r"^Requires-Dist:\s*([A-Za-z0-9][A-Za-z0-9._-]*)([^\n;]*)(?:;([^\n]*))?$", re.M)
_LISTED = re.compile(r"^dependencies\s*=\s*\[(.*?)^\]", re.M | re.S)
_TEXT = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_NAMES = {
    "sglang-kernel": ("sgl_kernel",),
    "sgl-kernel": ("sgl_kernel",),
    "sgl-deep-gemm": ("deep_gemm",),
    "sgl-flash-mla": ("flash_mla",),
    "flash-attn-4": ("flash_attn",),
}
"""Import names of distributions that are not called like what they install."""
CHOSEN = frozenset({
    "flashinfer", "deep_gemm", "flash_mla", "flash_attn", "humming", "tilelang", "quack", "cutlass",
    "torchao",
})  # fmt: skip
"""Libraries of kernels that `bare` is without."""
BUNDLED = frozenset({"deep_gemm", "triton_kernels"})
"""Packages that some releases of the kernels' distribution bring along, which no source of SGLang says."""
DRIVERS = frozenset({"torch_npu", "torchada", "habana_frameworks", "intel_extension_for_pytorch", "aiter"})
"""What comes with other devices than CUDA's."""


class SglangPackages:
    """The package set of one question."""

    def __init__(self, library: Library, scenario: Scenario) -> None:
        self._note, self.scenario = library.note, scenario
        self.root = library.source.engine
        self._own = library.source.release
        self.required = required(library.source)

    def present(self, name: str) -> bool | None:
        """Whether `import name` works; None when the scenario does not say."""
        top = name.partition(".")[0]
        if top in self.scenario.packages:
            return self.scenario.packages[top]
        if top == self.root or top in STDLIB or top in ALWAYS:
            return True
        if top in DRIVERS:
            return False
        if top in CHOSEN or top in BUNDLED:
            return self._chosen(top)
        return True if top in self.required else None

    def _chosen(self, top: str) -> bool | None:
        if self.scenario.profile is None:
            return None
        if self.scenario.profile == "bare":
            return False
        return True if top in self.required else None if top in BUNDLED else False

    def imported(self, name: str) -> bool | None:
        """Whether an import of the engine that always runs finds `name`."""
        return self.present(name)

    def version(self, name: str) -> str | None:
        """The engine's own version, or that to which it pins a package, by its import name."""
        if name == self.root:
            self._note([VERSION])
            return self._own
        return self.required.get(name.partition(".")[0])


def required(source: Source) -> dict[str, str | None]:
    """What SGLang's distribution requires, by import name, with the version that it pins."""
    out: dict[str, str | None] = {}
    for name, bound in _lines(source):
        pin = PIN.match(f"{name}{bound}".replace(" ", ""))
        for one in _NAMES.get(re.sub(r"[._]+", "-", name).lower(), (import_name(name),)):
            out[one] = pin[2] if pin else None
    return out


def _lines(source: Source) -> list[tuple[str, str]]:
    heads = (source.text(path) or "" for path in ("PKG-INFO", *source.files("", ".dist-info/METADATA")))
    found = [
        (name, bound)
        for head in heads
        for name, bound, marker in _REQUIRES.findall(head)
        if "extra" not in marker
    ]
    if found:
        return found
    listed = _LISTED.search(source.text("pyproject.toml") or "")
    texts = [a or b for a, b in _TEXT.findall(listed[1])] if listed else []
    parts = [re.match(r"([A-Za-z0-9][A-Za-z0-9._-]*)([^;]*)", text) for text in texts]
    return [(part[1], part[2]) for part in parts if part is not None]
