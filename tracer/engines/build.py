"""Files of the installed engine: those of its source, and those that its build puts beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.unions import each
from ..evaluate.values import Native, Opaque, Value
from ..library import Library
from ..readings import Reading
from ..sources import Source

if TYPE_CHECKING:
    from ..evaluate.machine import Machine


def install(m: Machine, library: Library) -> None:
    """Answer `os.path.exists` and `os.path.isfile` for paths inside the engine's package."""
    for symbol in ("os.path.exists", "os.path.isfile"):
        m.world.models.table[symbol] = _native(symbol, library)


def _native(symbol: str, library: Library) -> Native:
    def run(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return each(m, args[0], lambda path: _is_there(m, symbol, library, path))

    return Native(symbol, run)


def _is_there(m: Machine, symbol: str, library: Library, path: Value) -> Value:
    if isinstance(path, str):
        library.note([Reading("file", path)])
        if made(library.source, path):
            return True
    return m.world.call_library(m, Opaque(symbol), (path,), {}, None)


def made(source: Source, path: str) -> bool:
    """Whether the engine has `path`, relative to its root, once it is installed."""
    if path in source.files():
        return True
    folder = path.rpartition("/")[0]
    scripts = source.files("cmake/", ".cmake") if folder.startswith(f"{source.engine}/") else ()
    return any(folder in (source.text(script) or "") for script in scripts)
