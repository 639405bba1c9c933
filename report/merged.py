"""Names of an enumeration that are one value: code that asks for the one holds for the other."""

from __future__ import annotations

from msgspec import Struct

from .predicate import Site


class Merged(Struct, frozen=True, kw_only=True):
    """Members of an enumeration with the same value, of which Python makes one."""

    enum: str
    """Its qualified name."""
    value: str
    """As the source writes it."""
    members: tuple[str, ...]
    """In the source's order: the first is the name that the others are other names of."""
    site: Site
    """The last of them."""
