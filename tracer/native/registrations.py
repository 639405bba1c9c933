"""The registrations of torch ops in one file of csrc: `def` and `impl` inside of `TORCH_LIBRARY` blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ...report.predicate import Site
from .directives import alive_at, directives, without_comments
from .values import Facts, Open


class Implementation(Struct, frozen=True):
    """A host function registered for an op under a dispatch key (empty: for every key)."""

    key: str
    function: str
    site: Site
    scope: str = ""
    """What stands before its name, as in `vllm::`."""


class Op(Struct, frozen=True):
    """One op as registered: its schema, where it is defined, and what implements it."""

    namespace: str
    name: str
    schema: str
    site: Site
    certain: bool
    """False where an open `#if` decides whether it is there."""
    implementations: tuple[Implementation, ...] = ()

    @property
    def limit(self) -> int | None:
        """How many arguments a call may pass, None where the schema does not name them all."""
        inside = _PARAMETERS.search(self.schema)
        if inside is None or "..." in inside[1]:
            return None
        depth, count = 0, 1 if inside[1].strip() else 0
        for mark in inside[1]:
            depth += (mark in "([") - (mark in ")]")
            count += mark == "," and not depth
        return count - len(re.findall(r"(?:^|,)\s*\*\s*(?=,)", inside[1]))


_PARAMETERS = re.compile(r"\((.*)\)\s*->", re.S)
_BLOCK = re.compile(r"\b(?:STABLE_)?TORCH_LIBRARY((?:_[A-Z]+)*)\s*\(")
_ENTRY = re.compile(r"\b(\w+)\s*\.\s*(def|impl)\s*\(")
_STRING = re.compile(r'R"([^()\\\s]{0,16})\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"', re.S)
_MARK = re.compile(rf"{_STRING.pattern}|'(?:\\.|[^'\\\n])'|[(){{}},]", re.S)
_FUNCTION = re.compile(r"&\s*((?:\w+::)*)(\w+)")
_BARE = re.compile(r"((?:\w+::)*)(?!k[A-Z])([A-Za-z_]\w*)")
_KEY = re.compile(r"\bk(CUDA|CPU|Meta|XPU|HIP)\b")


def registered(path: str, text: str, facts: Facts, compiled: bool) -> Iterator[Op]:
    """Read the `def` and `impl` calls inside of a file's registration blocks."""
    plain = without_comments(text)
    order = directives(plain)
    for block in _BLOCK.finditer(plain):
        arguments, end = _arguments(plain, block.end())
        opening = re.compile(r"\s*\{").match(plain, end)
        if opening is None or len(arguments) < 2:
            continue
        namespace = _namespace(arguments[0], path)
        key = arguments[1] if "_IMPL" in block.group(1) else ""
        close = _closing(plain, opening.end())
        for entry in _ENTRY.finditer(plain, opening.end(), close):
            if entry.group(1) != arguments[-1]:
                continue
            line = plain.count("\n", 0, entry.start()) + 1
            alive, _ = alive_at(line, order, facts)
            given, _ = _arguments(plain, entry.end())
            if alive != 0 and given:
                certain = compiled and not isinstance(alive, Open)
                yield from _op(namespace, key, given, Site(path, line), entry.group(2) == "def", certain)


def _op(namespace: str, key: str, given: list[str], site: Site, is_def: bool, certain: bool) -> Iterator[Op]:
    text = "".join(raw or plain for _, raw, plain in _STRING.findall(given[0]))
    schema = " ".join(text.split())
    name = schema.partition("(")[0].strip()
    if "::" in name:
        namespace, _, name = name.partition("::")
    if not re.fullmatch(r"\w+(\.\w+)?", name):
        return
    rest = " ".join(given[1:])
    function, named = _FUNCTION.search(rest) or _BARE.fullmatch(given[-1]), _KEY.search(rest)
    key = named.group(1) if named else key
    impl = (Implementation(key, function.group(2), site, function.group(1)),) if function else ()
    yield Op(namespace, name, schema if is_def else "", site, certain, impl)


def _namespace(argument: str, path: str) -> str:
    """Expand the name of the extension, which the build gives to each file's module."""
    folders = path.split("/")[:-1]
    module = "_moe_C" if "moe" in folders else "_rocm_C" if folders[-1:] == ["rocm"] else "_C"
    joined = re.fullmatch(r"CONCAT\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", argument)
    parts = joined.groups() if joined else (argument,)
    return "".join(module if part == "TORCH_EXTENSION_NAME" else part for part in parts)


def _arguments(plain: str, start: int) -> tuple[list[str], int]:
    """Split a call's arguments, from behind its parenthesis; give where the call ends."""
    given: list[str] = []
    depth, begin = 0, start
    for mark in _MARK.finditer(plain, start):
        sign = mark[0]
        if sign in "({":
            depth += 1
        elif sign in ")}" and depth:
            depth -= 1
        elif not depth and sign in ",)}":
            given.append(plain[begin : mark.start()].strip())
            begin = mark.end()
            if sign != ",":
                return given, mark.end()
    return [], len(plain)


def _closing(plain: str, start: int) -> int:
    """Find the brace that closes the block which was opened before `start`."""
    depth = 1
    for mark in _MARK.finditer(plain, start):
        depth += (mark[0] == "{") - (mark[0] == "}")
        if not depth:
            return mark.start()
    return len(plain)
