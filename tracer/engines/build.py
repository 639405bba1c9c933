"""Files of the installed engine: those of its source, and those that its build puts beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.unions import each
from ..evaluate.values import Native, Opaque, Value
from ..sources import Source

if TYPE_CHECKING:
    from ..evaluate.machine import Machine


def install(m: Machine, source: Source) -> None:
    """Answer `os.path.exists` and `os.path.isfile` for paths inside the engine's package."""
    for symbol in ("os.path.exists", "os.path.isfile"):
        m.world.models.table[symbol] = _native(symbol, source)


def _native(symbol: str, source: Source) -> Native:
    def run(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return each(m, args[0], lambda path: _is_there(m, symbol, source, path))

    return Native(symbol, run)


def _is_there(m: Machine, symbol: str, source: Source, path: Value) -> Value:
    if isinstance(path, str) and made(source, path):
        return True
    return m.world.call_library(m, Opaque(symbol), (path,), {}, None)


def made(source: Source, path: str) -> bool:
    """Whether the engine has `path`, relative to its root, once it is installed."""
    if path in source.files():
        return True
    folder = path.rpartition("/")[0]
    scripts = source.files("cmake/", ".cmake") if folder.startswith(f"{source.engine}/") else ()
    return any(folder in (source.text(script) or "") for script in scripts)
