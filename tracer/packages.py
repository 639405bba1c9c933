"""Which packages are there: from the scenario, else from what the release's own requirement files install."""

from __future__ import annotations

import re
import sys

from .library import Library
from .readings import VERSION
from .scenario import Scenario
from .sources import Source

STDLIB = frozenset(sys.stdlib_module_names)
IMPORT_NAMES = {
    "flashinfer-python": "flashinfer",
    "nvidia-cutlass-dsl": "cutlass",
    "quack-kernels": "quack",
    "humming-kernels": "humming",
    "opencv-python-headless": "cv2",
    "pyyaml": "yaml",
    "pillow": "PIL",
    "protobuf": "google",
    "pyzmq": "zmq",
    "py-cpuinfo": "cpuinfo",
    "typing-extensions": "typing_extensions",
    "nvidia-cudnn-frontend": "cudnn",
    "apache-tvm-ffi": "tvm_ffi",
    "pynvvideocodec": "PyNvVideoCodec",
}
"""Import names of distributions that are not called like what they install."""

ALWAYS = frozenset({
    "torch", "triton", "numpy", "transformers", "safetensors", "pydantic", "pydantic_core", "packaging",
    "regex",
})  # fmt: skip
"""What the engine itself imports unconditionally, or its torch or transformers brings."""
DRIVERS = {
    "cuda": frozenset[str](),
    "rocm": frozenset({"amdsmi"}),
    "cpu": frozenset[str](),
    "xpu": frozenset[str](),
}
"""What comes with a platform's driver, which is there: there would be no such device without."""


class InstalledPackages:
    """The package set of one question."""

    def __init__(self, library: Library, scenario: Scenario, built: frozenset[str]) -> None:
        source, self._note = library.source, library.note
        self.scenario, self.root, self.built = scenario, source.engine, built
        self.common = required(source, "requirements/common.txt")
        self.shipped = required(source, f"requirements/{scenario.platform}.txt")
        # A build for another platform says so in its version; one for CUDA need not.
        self._own = source.release if scenario.platform == "cuda" else None
        self._found: dict[str, bool | None] = {}
        self.pinned = pinned(source, "requirements/common.txt") | pinned(
            source, f"requirements/{scenario.platform}.txt"
        )

    def present(self, name: str) -> bool | None:
        """Whether `import name` works; None when the scenario does not say."""
        if name not in self._found:
            self._found[name] = self._present(name)
        return self._found[name]

    def _present(self, name: str) -> bool | None:
        top = self._top(name)
        if top in self.scenario.packages:
            return self.scenario.packages[top]
        if name == self.root:
            return True
        if name.startswith(f"{self.root}."):
            return self._built(top)
        if top in STDLIB or top in ALWAYS or top in self.common or top in DRIVERS[self.scenario.platform]:
            return True
        if self.scenario.profile is None:
            return None
        return self.scenario.profile == "wheel" and top in self.shipped

    def version(self, name: str) -> str | None:
        """The engine's own version, or that to which its requirements pin a package, by its import name."""
        if name == self.root:
            self._note([VERSION])
            return self._own
        return self.pinned.get(self._top(name))

    def imported(self, name: str) -> bool | None:
        """Whether an import of the engine that always runs finds `name`.

        What no requirement file lists may have come with what one does list: nobody knows.
        """
        there = self.present(name)
        listed = self._top(name) in self.shipped or self._top(name) in self.scenario.packages
        return None if there is False and self.scenario.profile == "wheel" and not listed else there

    def _built(self, top: str) -> bool | None:
        """A module that the engine's build makes: there, unless it is a package that `bare` leaves out."""
        if top not in self.built:
            return True
        return None if self.scenario.profile is None else self.scenario.profile == "wheel"

    def _top(self, name: str) -> str:
        vendored = f"{self.root}.third_party."
        return (
            name.removeprefix(vendored).partition(".")[0]
            if name.startswith(vendored)
            else name.partition(".")[0]
        )


PIN = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==\s*([^\s;#,]+)", re.M)


def pinned(source: Source, path: str) -> dict[str, str]:
    """Versions that a requirements file fixes, by import name; without what tells builds of one apart."""
    found: dict[str, set[str]] = {}
    for name, version in PIN.findall(source.text(path) or ""):
        found.setdefault(import_name(name), set()).add(version.partition("+")[0])
    return {name: versions.pop() for name, versions in found.items() if len(versions) == 1}


def import_name(distribution: str) -> str:
    name = re.sub(r"[._]+", "-", distribution).lower()
    return IMPORT_NAMES.get(name, name.replace("-", "_"))


def required(source: Source, path: str) -> frozenset[str]:
    """Import names of the distributions that a requirements file lists."""
    out = set()
    for line in (source.text(path) or "").splitlines():
        found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", line)
        if found:
            out.add(import_name(found[1]))
    return frozenset(out)
