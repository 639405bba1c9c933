"""C++ that a script writes when the engine is built: what the script's own text says of it. It is not run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from .files import ROOT, NativeFiles
from .outline import Definition, Kind
from .resolve import Resolver

_WORD = re.compile(r"[A-Za-z_]\w*")
_KERNEL = re.compile(r"\b([A-Za-z_]\w*)\s*<")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;(]*>)?\(")
_INCLUDED = re.compile(r'#include\s+"([^"]+)"')
_TEMPLATED = re.compile(r"\b([A-Za-z_]\w{3,}_)\{\{")


def included_kernels(
    files: NativeFiles, names: Resolver, function: Definition
) -> Iterator[tuple[int, Definition, str]]:
    """The kernels of a generated file that a function's body includes: line, kernel and the script."""
    text = files.text(function.path)
    begin, end = function.body or (0, 0)
    first, last = text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 1
    for line, words in files.files[function.path].includes:
        if not first <= line <= last or files.included(function.path, words) is not None:
            continue
        for script, written in _scripts(files, words.rpartition("/")[2]):
            for name in sorted(set(_KERNEL.findall(written))):
                for found in (*names.named(name, function), *names.declared(name, function)):
                    if found.kind is Kind.KERNEL:
                        yield line, found, script
                        break


class Written(NamedTuple):
    """A function of the tree that a script's text calls, and the classes that stand beside the call."""

    function: Definition
    classes: tuple[Definition, ...]
    script: str


def written_for(files: NativeFiles, names: Resolver, function: str) -> Iterator[Written]:
    """What a script's text for a function calls."""
    for script, text in _scripts(files, function):
        literals = _literals(text)
        reached = [literal for literal in literals if re.search(rf"\b{function}\w*\s*\(", _plain(literal))]
        # A text calls what another one defines under a name that both leave a part of open.
        for literal in reached:
            shared = set(_TEMPLATED.findall(literal)) & _defined(literals, literal)
            reached += [
                other
                for other in literals
                if other not in reached and any(f"{name}{{{{" in other for name in shared)
            ]
        for literal in reached:
            yield from _calls(files, names, script, literal)


def _plain(literal: str) -> str:
    return re.sub(r"\{\{.*?\}\}", "", literal)


def _defined(literals: list[str], besides: str) -> set[str]:
    return {name for other in literals if other != besides for name in _TEMPLATED.findall(other)}


def _calls(files: NativeFiles, names: Resolver, script: str, literal: str) -> Iterator[Written]:
    folder = script.rpartition("/")[0] + "/written"
    for words in _INCLUDED.findall(literal):
        header = files.included(f"{folder}/file.cu", words)
        if header is None:
            continue
        inside = re.search(r"namespace\s+([\w:]+)", literal)
        scope = tuple(inside[1].split("::")) if inside else ()
        at = Definition(Kind.FUNCTION, "", scope, header, 1)
        called = [d for name in _words(_CALLED, literal) for d in names.named(name, at)]
        classes = [d for name in _words(_KERNEL, literal) for d in names.named(name, at)]
        held = tuple(d for d in classes if d.kind is Kind.CLASS)
        for found in called:
            if found.kind is Kind.FUNCTION and found.body is not None:
                yield Written(found, held, script)


def _words(pattern: re.Pattern[str], literal: str) -> list[str]:
    return sorted(set(pattern.findall(_plain(literal))))


def _scripts(files: NativeFiles, mentioning: str) -> Iterator[tuple[str, str]]:
    for path in files.source.files(f"{ROOT}/", ".py"):
        raw = files.source.read(path) or b""
        if mentioning.encode() in raw:
            yield path, raw.decode("utf-8", "replace")


def _literals(text: str) -> list[str]:
    """The texts of several lines that a script holds."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str) and "\n" in value]
