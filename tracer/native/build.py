"""What the build says: the macros that it defines, and the files that it compiles, on one platform."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .cmake import Truth, any_of, commands
from .targets import cpu_facts
from .values import Facts

if TYPE_CHECKING:
    from ..sources import Source

_BUILD_FILES = ("CMakeLists.txt", "cmake/utils.cmake")
_SUFFIXES = (".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl")
_LANGUAGES = {"cuda": "CUDA", "rocm": "HIP"}
_DEFINITION = re.compile(r"(?:-D)?([A-Za-z_]\w*)(?:=(\w+))?")
_NATIVE_FILE = re.compile(r"csrc/[\w./+-]+\.(?:cu|cpp)\b")

# Stands for a compiler newer than any that the build asks for.
_NEWEST = 9_999_000


def build_macros(source: Source, cuda_version: int | None = None) -> dict[str, int]:
    """Tell what a CUDA build for every architecture defines, with the newest CUDA unless told which."""
    stated = _stated(source, "cuda", cuda_version)
    return {name: value for name, value in stated.items() if value is not None}


def cuda_facts(source: Source, cuda_version: int) -> dict[str, int | None]:
    """Say what a host function of a CUDA build can ask, when it runs with the runtime it was built with.

    A version is written as CUDA does: 12090 is 12.9.
    """
    versions = dict.fromkeys(("CUDA_VERSION", "CUDART_VERSION", "cudaRuntimeGetVersion"), cuda_version)
    return {**build_facts(source, "cuda", cuda_version), **versions}


def build_facts(source: Source, platform: str, cuda_version: int | None = None) -> dict[str, int | None]:
    """Say what the preprocessor knows on a platform: macros by value, None for those that are not defined."""
    plain: dict[str, int | None] = dict.fromkeys(("USE_ROCM", "USE_CUDA"))
    if platform in _LANGUAGES:
        plain["USE_ROCM" if platform == "rocm" else "USE_CUDA"] = 1
    return {**_stated(source, platform, cuda_version), **plain}


class Build(NamedTuple):
    """Which build of the native half is meant; of a CPU's, which extension module on which architecture."""

    platform: str = "cuda"
    cuda: int | None = None
    machine: str | None = None
    extension: str | None = None

    def facts(self, source: Source) -> Facts:
        """Say what the preprocessor knows."""
        stated = build_facts(source, self.platform, self.cuda)
        if self.machine is None or self.extension is None:
            return stated
        return {**stated, **cpu_facts(source, self.machine, self.extension)}


COMPILED = ("cuda", "rocm", "cpu")
"""Platforms whose ops csrc registers; those of others come with a package of their own."""


PYTHON = Build("python")
"""In place of a build, for kernels that the engine writes in Python and compiles when they run."""


def build_of(platform: str, cuda: int | None) -> Build:
    """The build whose operators are told: of a CPU's, for no machine in particular."""
    return Build(platform, cuda if platform == "cuda" else None)


def native_files(source: Source, platform: str, cuda_version: int | None) -> dict[str, bool]:
    """List the C++/CUDA files of a platform, each with whether it is certainly compiled.

    They are those of its folders, less what CMake names for other platforms only.
    """
    files = source.files("csrc/", _SUFFIXES)
    if platform == "cpu":
        return {path: True for path in files if path.startswith("csrc/cpu/")}
    foreign = ("csrc/cpu/", "csrc/xpu/") + (() if platform == "rocm" else ("csrc/rocm/",))
    named: dict[str, list[Truth]] = {}
    for alive, _, words in _commands(source, platform, cuda_version):
        if words[:1] != ["REMOVE_ITEM"]:
            for path in _NATIVE_FILE.findall(" ".join(words)):
                named.setdefault(path, []).append(alive)
    compiled = {path: any_of(named.get(path, [True])) for path in files if not path.startswith(foreign)}
    return {path: state is True for path, state in compiled.items() if state is not False}


def _stated(source: Source, platform: str, cuda_version: int | None) -> dict[str, int | None]:
    """Collect the macros that the build mentions, by value, or None where this build never defines them."""
    states: dict[str, list[Truth]] = {}
    values: dict[str, int] = {}
    for alive, command, words in _commands(source, platform, cuda_version):
        is_target = command == "target_compile_definitions"
        if not is_target and (command != "list" or words[:1] != ["APPEND"]):
            continue
        for word in words[2:]:
            found = _DEFINITION.fullmatch(word) if is_target or word.startswith("-D") else None
            number = _integer(found.group(2) or "1") if found else None
            if found and number is not None:
                states.setdefault(found.group(1), []).append(alive)
                values[found.group(1)] = number
    settled = {name: any_of(state) for name, state in states.items()}
    return {name: values[name] if state else None for name, state in settled.items() if state is not None}


def _integer(text: str) -> int | None:
    try:
        return int(re.sub(r"(?i)[ul]+$", "", text), 0)
    except ValueError:
        return None


def _commands(
    source: Source, platform: str, cuda_version: int | None
) -> Iterator[tuple[Truth, str, list[str]]]:
    known = _known(platform, cuda_version)
    for path in _BUILD_FILES:
        yield from commands(source.text(path) or "", known)


def _known(platform: str, cuda_version: int | None) -> dict[str, str]:
    known = {"VLLM_TARGET_DEVICE": platform}
    if platform in _LANGUAGES:
        known |= {"VLLM_GPU_LANG": _LANGUAGES[platform], "GPU_LANG": _LANGUAGES[platform]}
    if platform == "cuda":
        version = _NEWEST if cuda_version is None else cuda_version
        dotted = f"{version // 1000}.{version % 1000 // 10}"
        known |= {"CMAKE_CUDA_COMPILER_VERSION": dotted, "CUDA_VERSION": dotted}
    return known
