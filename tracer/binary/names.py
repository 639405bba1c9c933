"""Names of kernels as a programmer writes them, out of the names that nvcc mangles (Itanium C++ ABI)."""

from __future__ import annotations

import re

from .brackets import UnreadError, after_arguments, after_name

_NESTED = re.compile(r"N[rVK]*[RO]?")
_SHORT = re.compile(r"S[tabsiod]")
_LONG = {
    "St": "std",
    "Sa": "std::allocator",
    "Sb": "std::basic_string",
    "Ss": "std::string",
    "Si": "std::istream",
    "So": "std::ostream",
    "Sd": "std::iostream",
}
_INTERNAL = re.compile(r"L(?=\d)", re.ASCII)
"""What stands before a name that is not seen outside of its file."""
_TAG = re.compile(r"B(?=\d)", re.ASCII)
_UNNAMED = re.compile(r"_GLOBAL_[._$]N")
"""How a namespace without a name is called: `_GLOBAL__N__6b53167d_6_ops_cu_240d8d5a`."""


def base_name(mangled: str) -> str:
    """The qualified name without template arguments and parameters: `cutlass::device_kernel`.

    Namespaces without a name are left out. A name that is not mangled (`extern "C"`) is given as it is. So
    is one that no kernel can have (of a lambda, an operator, a constructor) or that is broken, with its `_Z`.
    """
    if not mangled.startswith("_Z"):
        return mangled
    try:
        return "::".join(_parts(mangled))
    except UnreadError:
        return mangled


def _parts(text: str) -> list[str]:
    nested = _NESTED.match(text, 2)
    at = nested.end() if nested else 2
    parts: list[str] = []
    if short := _SHORT.match(text, at):
        parts.append(_LONG[short[0]])
        at = short.end()
    if nested is None:
        _own(text, at, parts)
        return parts
    while not text.startswith("E", at):
        at = _step(text, at, parts)
    if not parts:
        raise UnreadError
    return parts


def _step(text: str, at: int, parts: list[str]) -> int:
    """Read one part of a nested name, and give where the next one begins."""
    if text.startswith("I", at) and parts:
        return after_arguments(text, at + 1)
    if tag := _TAG.match(text, at):
        return after_name(text, tag.end())
    return _own(text, at, parts)


def _own(text: str, at: int, parts: list[str]) -> int:
    internal = _INTERNAL.match(text, at)
    end = after_name(text, internal.end() if internal else at)
    name = text[internal.end() if internal else at : end].lstrip("0123456789")
    if not _UNNAMED.match(name):
        parts.append(name)
    return end
