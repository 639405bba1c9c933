"""The closed language in which conditions are stored: what must hold for a hop, a candidate or an outcome.

It holds names of scenario variables, symbols of the engine and plain values, never the engine's source text.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

Scalar = None | bool | int | float | str


class Site(Struct, frozen=True, order=True, omit_defaults=True):
    """A place in the engine's source: a path relative to the engine's root (posix), and a 1-based line."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Always(Struct, frozen=True, tag="always"):
    """Holds without condition."""

    def __str__(self) -> str:
        return "always"


class Never(Struct, frozen=True, tag="never"):
    """Cannot hold in this scenario."""

    def __str__(self) -> str:
        return "never"


class Member(Struct, frozen=True, tag="member"):
    """The scenario variable `name` has one of `values`."""

    name: str
    values: tuple[Scalar, ...]

    def __str__(self) -> str:
        if len(self.values) == 1:
            return f"{self.name} == {self.values[0]!r}"
        return f"{self.name} in ({', '.join(map(repr, self.values))})"


class Compare(Struct, frozen=True, tag="compare"):
    """`left op right` over symbolic terms, e.g. `K % 128 == 0`."""

    left: str
    op: str
    right: str

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


class Opaque(Struct, frozen=True, tag="opaque", omit_defaults=True):
    """What the engine asks that source cannot answer: a symbol (a call, an attribute) and its arguments."""

    symbol: str
    args: tuple[str, ...] | None = None
    site: Site | None = None

    def __str__(self) -> str:
        return self.symbol if self.args is None else f"{self.symbol}({', '.join(self.args)})"


class Not(Struct, frozen=True, tag="not"):
    item: Predicate

    def __str__(self) -> str:
        if isinstance(self.item, Compare | AllOf | AnyOf | Member):
            return f"not ({self.item})"
        return f"not {self.item}"


class AllOf(Struct, frozen=True, tag="all"):
    items: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " and ".join(f"({i})" if isinstance(i, AnyOf) else str(i) for i in self.items)


class AnyOf(Struct, frozen=True, tag="any"):
    items: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " or ".join(f"({i})" if isinstance(i, AllOf) else str(i) for i in self.items)


Leaf = Always | Never | Member | Compare | Opaque
Predicate = Leaf | Not | AllOf | AnyOf


def leaves(test: Predicate) -> Iterator[Leaf]:
    """What a condition is made of, once joins and negations are taken apart, in their order."""
    if isinstance(test, Not):
        yield from leaves(test.item)
    elif isinstance(test, AllOf | AnyOf):
        for item in test.items:
            yield from leaves(item)
    else:
        yield test
