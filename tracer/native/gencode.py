"""For which CUDA architectures a build compiles each source file, as its CMake text says it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from glob import escape
from typing import TYPE_CHECKING

from msgspec import Struct

from ...report.predicate import Site
from ..binary.architectures import in_order
from .gencode_lists import keyworded, list_command, parsed_arguments, string_command
from .gencode_run import Means, Run
from .gencode_scope import OPEN, Flow, items, texts
from .gencode_text import UnreadableError, Word

if TYPE_CHECKING:
    from ..sources import Source

_BUILD = "CMakeLists.txt"
_FOLLOWED = re.compile(r"cmake/\w+\.cmake")
_EXTENSION = re.compile(r"_(?:moe_)?C(?:_\w+)?")
_SUPPORTED = "CUDA_SUPPORTED_ARCHS"
# No variable of a text: what was asked for is no name.
_WANTED = " wanted"
_KEYWORD = re.compile(r"[A-Z][A-Z_]+")
_ONE = r"(?:sm|compute)_[1-9]\d{1,3}[af]?"
_CODE = re.compile(rf"code=\[?({_ONE}(?:,{_ONE})*)(?![\w,])", re.ASCII)
_ASKS = re.compile(r"-gencode|-arch\b|--gpu-|-code\b")
_OPTIONS = ("COMPILE_OPTIONS", "COMPILE_FLAGS")
# What facts are about: a file's code, a target's files, and files whose names are partly open.
_CODES, _SOURCES, _SOMEWHERE = "codes", "sources", "somewhere"
_MANY = 100
# Stands for a toolkit newer than any that a build asks for.
_NEWEST = 9_999_000


class Gencode(Struct, frozen=True):
    """What a file is compiled for."""

    architectures: tuple[str, ...]
    """`sm_90a`, `compute_80`; machine code before PTX."""
    site: Site
    """The line of `CMakeLists.txt` that names the last of them."""


def compiled_for(
    source: Source, cuda: int | None = None, wanted: Sequence[str] | None = None
) -> Mapping[str, Gencode]:
    """Say what the files of the extension modules `_C*` and `_moe_C*` are compiled for.

    `cuda` is the toolkit, 13000 for 13.0, the newest unless told. `wanted` are the architectures to build for
    (`8.0`, `9.0`), all that the release supports unless told. Files that the build generates stand under the
    pattern of their names, with `*`. A file is left out where it is open what it is compiled for; so is one
    that no line names architectures for: the build takes the common ones away, and nvcc has its own then.
    """
    version = _NEWEST if cuda is None else cuda
    run = Run(source, _known(f"{version // 1000}.{version % 1000 // 10}", wanted), _TABLE)
    try:
        ends = run.file(_BUILD)
    except UnreadableError:
        return {}
    return _told(run) if ends else {}


def _known(version: str, wanted: Sequence[str] | None) -> dict[str, str]:
    here = dict.fromkeys(("CMAKE_CURRENT_LIST_DIR", "CMAKE_CURRENT_SOURCE_DIR", "CMAKE_SOURCE_DIR"), ".")
    toolkit = {"CMAKE_CUDA_COMPILER_VERSION": version, "CUDA_VERSION": version}
    device = {
        "VLLM_TARGET_DEVICE": "cuda",
        "CUDA_FOUND": "ON",
        "HIP_FOUND": "OFF",
        "PYTORCH_FOUND_HIP": "OFF",
    }
    return {**here, **toolkit, **device, **({} if wanted is None else {_WANTED: ";".join(wanted)})}


def _told(run: Run) -> dict[str, Gencode]:
    facts = run.scope.facts
    targets = [
        value for (kind, name), value in facts.items() if kind == _SOURCES and _EXTENSION.fullmatch(name)
    ]
    open_names = ["*".join(map(escape, name.split(OPEN))) for kind, name in facts if kind == _SOMEWHERE]
    if len(open_names) > _MANY:
        return {}
    told: dict[str, Gencode] = {}
    for path in dict.fromkeys(_path(item) for value in targets for item in items(value)):
        codes = facts.get((_CODES, path), OPEN)
        if not path.endswith(".cu") or OPEN in codes + path or any(fnmatchcase(path, n) for n in open_names):
            continue
        told[path] = Gencode(in_order(items(codes)), run.sites[path])
    return told


def _set(run: Run, words: Sequence[Word]) -> None:
    name, values = words[0].text, [word.text for word in words[1:]]
    if "CACHE" in values:
        # Who builds may have said otherwise, but for what is known of this build.
        held = run.scope.held(name) and "FORCE" not in values
        run.scope.set(name, run.scope.value(name) if held else OPEN)
        return
    above = values[-1:] == ["PARENT_SCOPE"]
    values = values[:-1] if above else values
    run.scope.set(name, ";".join(values) if values else None, above)


def _unset(run: Run, words: Sequence[Word]) -> None:
    run.scope.set(words[0].text, None, above=words[-1].text == "PARENT_SCOPE")


def _include(run: Run, words: Sequence[Word]) -> Flow | None:
    """The build's own folder is followed; what else is included says nothing of these files."""
    path = _path(words[0].text)
    return run.file(path) if _FOLLOWED.fullmatch(path) else None


def _file(run: Run, words: Sequence[Word]) -> None:
    if words[0].text not in ("GLOB", "GLOB_RECURSE") or len(words) < 3:
        run.scope.forget(words[1:])
        return
    asked = [_path(word) for word in texts(words[2:]) if word != "CONFIGURE_DEPENDS"]
    is_plain = words[0].text == "GLOB" and not any(map(_is_hard, asked))
    found = [path for name in asked for path in (name, *_there(run, name))] if is_plain else [OPEN]
    run.scope.set(words[1].text, ";".join(dict.fromkeys(found)))


def _is_hard(asked: str) -> bool:
    """Tell whether a pattern is no plain name with `*`, or a keyword."""
    is_deep = "*" in posixpath.dirname(asked)
    return is_deep or re.search(r"[][?]", asked) is not None or _KEYWORD.fullmatch(asked) is not None


def _there(run: Run, asked: str) -> list[str]:
    """The files of the tree that a pattern names; the build may add others before it looks."""
    run.scope.spend(1000)
    folder = posixpath.dirname(asked)
    there = run.source.files(f"{folder}/") if folder and OPEN not in asked else ()
    return [path for path in there if "/" not in path[len(folder) + 1 :] and fnmatchcase(path, asked)]


def _wanted(run: Run, words: Sequence[Word]) -> None:
    """Where the build reads what it is asked to build for: of every release, all that it supports."""
    run.scope.set(words[0].text, run.scope.value(_WANTED if run.scope.held(_WANTED) else _SUPPORTED))


def _extension(run: Run, words: Sequence[Word]) -> None:
    given = texts(words[1:])
    under = keyworded(given, {word for word in given if _KEYWORD.fullmatch(word)})
    # What a target itself asks for comes on top of what its files do.
    is_open = under.get("ARCHITECTURES") or _ASKS.search(" ".join(given))
    run.scope.facts[_SOURCES, words[0].text] = OPEN if is_open else ";".join(under.get("SOURCES", ()))


def _property(run: Run, words: Sequence[Word]) -> None:
    plain = texts(words)
    under = keyworded(plain, {"SOURCE", "APPEND", "APPEND_STRING", "PROPERTY"})
    if under.get("SOURCE") and under.get("PROPERTY"):
        name, *values = under["PROPERTY"]
        _compiled(run, under["SOURCE"] + under.get("APPEND", []), name, values, "APPEND" in under)


def _properties(run: Run, words: Sequence[Word]) -> None:
    under = keyworded(["FILES", *texts(words)], {"FILES", "PROPERTIES"})
    pairs = under.get("PROPERTIES", [])
    for name in _OPTIONS:
        if name in pairs:
            _compiled(run, under["FILES"], name, pairs[pairs.index(name) + 1 :], appends=False)


def _compiled(run: Run, files: Sequence[str], name: str, values: Sequence[str], appends: bool) -> None:
    """Note the code that options of files ask for."""
    told = ";".join(values)
    codes = [code for found in _CODE.findall(told) for code in found.split(",")]
    asks = OPEN in told or codes or _ASKS.search(told)
    replaces = name == "COMPILE_OPTIONS" and not appends
    if name not in _OPTIONS or not (asks or replaces):
        return
    is_open = OPEN in told or not appends or not codes
    for path in map(_path, files):
        run.scope.spend(1 + len(codes))
        if OPEN in path:
            run.scope.facts[_SOMEWHERE, path] = "yes"
        else:
            held = items(run.scope.facts.get((_CODES, path), ""))
            joined = dict.fromkeys([*held, *codes, *([OPEN] if is_open else [])])
            run.scope.facts[_CODES, path] = ";".join(joined)
            run.sites[path] = run.site


def _path(text: str) -> str:
    return posixpath.normpath(text) if text else text


_TABLE: Mapping[str, Means] = {
    "set": _set,
    "unset": _unset,
    "list": lambda run, words: list_command(words, run.scope),
    "string": lambda run, words: string_command(words, run.scope),
    "cmake_parse_arguments": lambda run, words: parsed_arguments(words, run.scope),
    "include": _include,
    "file": _file,
    "extract_unique_cuda_archs_ascending": _wanted,
    "define_extension_target": _extension,
    "set_property": _property,
    "set_source_files_properties": _properties,
}
