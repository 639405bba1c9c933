"""Classes and functions that random programs use: inheritance, records, enums, generators, managers."""

from __future__ import annotations

from textwrap import dedent

PRELUDE = dedent("""
    from contextlib import contextmanager
    from dataclasses import dataclass, field, replace
    from enum import Enum, IntEnum
    from functools import cache, partial, reduce
    from typing import NamedTuple

    total = 0
    seen = []


    class Refused(ValueError):
        def __init__(self, why, code=0):
            super().__init__(why)
            self.code = code


    class Base:
        kind = "base"
        count = 0

        def __init__(self, x, tag=None):
            self.x = x
            self.tag = tag

        def value(self):
            return self.x + 1

        @property
        def double(self):
            return self.x * 2

        @double.setter
        def double(self, value):
            if value < 0:
                raise Refused("negative", code=value)
            self.x = value // 2

        @classmethod
        def make(cls, x):
            cls.count += 1
            return cls(x)

        @staticmethod
        def limit(x, top=2):
            return x if x < top else top

        def __eq__(self, other):
            if not isinstance(other, Base):
                return NotImplemented
            return self.x == other.x

        def __len__(self):
            return self.limit(abs(self.x), top=3)


    class Mixin:
        def value(self):
            return super().value() * 10


    class Sub(Mixin, Base):
        kind = "sub"

        def __init__(self, x):
            super().__init__(x, tag="sub")
            self.extra = [x]

        def __getattr__(self, name):
            if name.startswith("no"):
                raise AttributeError(name)
            return len(name)


    @dataclass
    class Point:
        x: int
        y: int = 2
        tags: list = field(default_factory=list)

        def __post_init__(self):
            if self.x > 2:
                self.tags.append("far")


    @dataclass(frozen=True)
    class Key:
        name: str
        rank: int = 0


    class Pair(NamedTuple):
        left: int
        right: int = 7


    class Kind(Enum):
        LOW = 1
        HIGH = 2
        TOP = "top"

        @property
        def short(self):
            return self.name[0]


    class Level(IntEnum):
        NONE = 0
        SOME = 1
        MANY = 3


    def spread(first, *rest, scale=1, **named):
        return [first * scale, *rest, *sorted(named.items())]


    @cache
    def remembered(x):
        seen.append(x)
        return x * 3


    def counted(x):
        global total
        total += x
        return total


    def numbers(upto):
        try:
            for i in range(upto):
                if i == 3:
                    return
                seen.append(f"y{i}")
                yield i
        finally:
            seen.append("closed")


    @contextmanager
    def watched(name):
        seen.append(name)
        try:
            yield len(name)
        except IndexError:
            seen.append("swallowed")
        finally:
            seen.append("left")


    add = partial(lambda x, y, z=0: x + y * 2 + z, 1)
    """)
