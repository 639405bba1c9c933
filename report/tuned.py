"""The file with a tuned configuration that the engine looks for when a layer runs."""

from __future__ import annotations

from msgspec import Struct

from .predicate import Always, Predicate, Site


class Tuned(Struct, frozen=True, kw_only=True):
    """One file that a kernel's launch asks for, by the device and the layer's shapes."""

    kind: str
    """The function that opens it, by its symbol."""
    wanted: str
    """The name of the file that it looks for."""
    shipped: str | None
    """The file's path in the release; None where no such file is shipped, and defaults are used."""
    nearest: tuple[str, ...]
    """Where none is: the files shipped for the device that differ least, best first."""
    unless: tuple[str, ...]
    """Tests of the source under which none is looked for."""
    layer: str
    """The layers that ask for it."""
    site: Site | None
    """The function that opens it."""
    guard: Predicate = Always()
    """What must hold for the layer to ask."""
    spelt: str | None = None
    """A file that is shipped under this name but for blanks: it is there and is not found."""
