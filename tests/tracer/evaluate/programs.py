"""Random programs of the supported subset: all of them end, and what they compute can be compared.

`a` and `b` are unknown booleans, `n` an unknown small number, `s` an unknown text or None. Each kind of
expression and statement is one method, chosen by a random number, so that hypothesis can shrink a program by
shrinking its choices.
"""

from __future__ import annotations

from textwrap import indent

from .expressions import NAMES, Expressions
from .prelude import PRELUDE

RESULTS = "a, b, n, s, i0, t0, xs, ys, d0, o0, seen, total, Base.count, Sub.count, Base.kind, Sub.kind"
ERRORS = ("ValueError", "KeyError", "IndexError", "ZeroDivisionError", "TypeError", "Refused")
CAUGHT = (*ERRORS, "LookupError", "Exception", "(KeyError, ValueError)", "ArithmeticError", "AttributeError")


class Writer(Expressions):
    """Writes one program."""

    # --- statements

    def block(self, depth: int, most: int = 3) -> str:
        """Statements, at least one; what they bind for the first time is not relied on outside."""
        before = {kind: list(names) for kind, names in self.names.items()}
        count = 1 + self.rng.randrange(most)
        text = "\n".join(self.statement(depth) for _ in range(count))
        self.names = before
        return indent(text, "    ")

    def statement(self, depth: int) -> str:
        return self.one(
            [
                self.assign,
                self.mutate,
                self.if_,
                self.if_,
                self.for_,
                self.while_,
                self.try_,
                self.leave,
                self.function,
                self.with_,
                self.mutate,
                self.unpack,
                self.raise_,
                self.class_,
                self.over_generator,
            ],
            depth,
        )

    def assign(self, depth: int) -> str:
        kind = self.pick(["int", "int", "list", "dict", "text", "bool", "object"])
        value = self.of_kind(kind)
        changeable = [name for name in self.names[kind] if name not in ("q", "r")]
        if self.rng.randrange(4) or self.inner:
            name = self.pick(changeable)
        else:
            name = self.new(kind[0])
            self.names[kind].append(name)
        if kind == "int" and not self.rng.randrange(3) and not self.fresh_name(name):
            return f"{name} {self.pick(['+=', '-=', '//='])} {value}"
        return f"{name} = {value}"

    def of_kind(self, kind: str) -> str:
        makers = {"int": self.number, "bool": self.truth, "list": self.listing, "dict": self.mapping}
        return (makers | {"text": self.text, "object": self.object})[kind](2)

    def fresh_name(self, name: str) -> bool:
        return name == f"i{self.fresh}"

    def mutate(self, depth: int) -> str:
        xs, d, o = self.name("list"), self.name("dict"), self.name("object")
        return self.pick(
            [
                f"{xs}.append({self.number(1)})",
                f"{xs}.extend({self.listing(1)}[:2])",
                f"{d}[{self.key(1)}] = {self.number(1)}",
                f"{xs} += {self.listing(1)}[:3]",
                f"{d}.update({self.mapping(1)})",
                f"{o}.x = {self.number(1)}",
                f"{o}.double = {self.number(1)}",
                f"setattr({o}, {self.pick(NAMES)!r}, {self.number(1)})",
                f"{xs}.insert({self.number(1)}, {self.number(1)})",
                f"del {d}[{self.key(1)}]",
                f"del {xs}[{self.number(1)}]",
                f"{xs}[{self.number(1)}] = {self.number(1)}",
                f"{xs}.remove({self.number(1)})",
                f"{xs}.sort(reverse={self.truth(1)})",
                f"{xs}.sort(key=lambda q: {self.element('q', 1)})",
                f"{xs}.reverse()",
                f"{d}[{self.key(1)}] += {self.number(1)}",
                f"{o}.x += {self.number(1)}",
                f"seen.append({self.anything(1)})",
                f"{self.pick(['Base', 'Sub', f'type({o})'])}.count = {self.number(1)}",
                f"{self.pick(['Base', 'Sub'])}.kind = {self.text(1)}",
                f"del {o}.tag",
                f"{xs}[{self.rng.randrange(2)}:{self.rng.randrange(3)}] = {self.listing(1)}",
                f"{d} |= {self.mapping(1)}",
                f"{xs} *= {self.rng.randrange(2)}",
                f"{d}.clear()",
                f"assert {self.truth(1)}, {self.text(1)}",
            ]
        )

    def if_(self, depth: int) -> str:
        out = f"if {self.truth(2)}:\n{self.block(depth)}"
        if not self.rng.randrange(3):
            out += f"\nelif {self.truth(2)}:\n{self.block(depth)}"
        return out if self.rng.randrange(2) else f"{out}\nelse:\n{self.block(depth)}"

    def looped(self, head: str, depth: int, names: dict[str, list[str]], last: str = "") -> str:
        before = {kind: list(known) for kind, known in self.names.items()}
        for kind, more in names.items():
            self.names[kind] = [*self.names[kind], *more]
        self.loops += 1
        body = self.block(depth - 1)
        self.loops -= 1
        self.names = before
        out = f"{head}\n{indent(last, '    ')}{body}"
        return out if self.rng.randrange(3) else f"{out}\nelse:\n{self.block(depth - 1)}"

    def for_(self, depth: int) -> str:
        v, w = self.new("v"), self.new("w")
        shape = self.rng.randrange(5)
        if shape == 0:
            return self.looped(f"for {v} in {self.listing(1)}[:4]:", depth, {"int": [v]})
        if shape == 1:
            return self.looped(
                f"for {v} in range({self.pick(['min(n, 3)', '2', '3'])}):", depth, {"int": [v]}
            )
        if shape == 2:
            return self.looped(f"for {v}, {w} in {self.name('dict')}.items():", depth, {"int": [w]})
        if shape == 3:
            return self.looped(f"for {v}, {w} in enumerate({self.listing(1)}[:3]):", depth, {"int": [v, w]})
        return self.looped(f"for {v} in ({self.number(1)}, {self.number(1)}):", depth, {"int": [v]})

    def over_generator(self, depth: int) -> str:
        v = self.new("v")
        return self.looped(f"for {v} in numbers({self.number(1)}):", depth, {"int": [v]})

    def while_(self, depth: int) -> str:
        c = self.new("c")
        head = f"{c} = 0\nwhile {c} < {self.pick(['3', 'min(n, 3)', '2'])} and {self.truth(1)}:"
        return self.looped(head, depth, {}, f"{c} += 1\n")

    def try_(self, depth: int) -> str:
        out = f"try:\n{self.block(depth)}"
        handlers = self.rng.randrange(3)
        for _ in range(handlers):
            name = self.new("e")
            shown = f"\n    seen.append(type({name}).__name__)" if self.rng.randrange(2) else ""
            out += f"\nexcept {self.pick(CAUGHT)} as {name}:{shown}\n{self.block(depth)}"
        if handlers and not self.rng.randrange(3):
            out += f"\nelse:\n{self.block(depth)}"
        if not handlers or not self.rng.randrange(3):
            out += f"\nfinally:\n{self.block(depth)}"
        return out

    def leave(self, depth: int) -> str:
        ways = [f"return {self.anything(1)}"] + (["break", "continue"] * 2 if self.loops else [])
        return f"if {self.truth(1)}:\n    {self.pick(ways)}"

    def raise_(self, depth: int) -> str:
        error = self.pick(ERRORS)
        return (
            f"if {self.truth(1)}:\n    raise {error}({self.text(1)})"
            if self.rng.randrange(4)
            else f"raise {error}"
        )

    def function(self, depth: int) -> str:
        name, loops = self.new("f"), self.loops
        p, q = self.new("p"), self.new("p")
        self.loops, self.inner = 0, self.inner + 1
        before = {kind: list(known) for kind, known in self.names.items()}
        self.names["int"] = [*self.names["int"], p, q]
        kept = self.pick(["nonlocal i0, xs", "nonlocal t0", "global total"])
        body = self.block(depth - 1)
        value = self.number(1)
        self.names, self.loops, self.inner = before, loops, self.inner - 1
        text = f"def {name}({p}, {q}={self.number(1)}):\n    {kept}\n{body}\n    return {value}"
        return (
            f"{text}\ni0 = {name}({self.number(1)})"
            if self.inner == 0
            else f"{text}\nseen.append({name}({self.number(1)}))"
        )

    def with_(self, depth: int) -> str:
        v = self.new("v")
        before = {kind: list(known) for kind, known in self.names.items()}
        self.names["int"] = [*self.names["int"], v]
        body = self.block(depth - 1)
        self.names = before
        return f"with watched({self.some_text(1)}) as {v}:\n{body}"

    def unpack(self, depth: int) -> str:
        return self.pick(
            [
                f"i0, *xs = {self.listing(2)}",
                f"i0, {self.name('list')}[0] = {self.number(1)}, {self.number(1)}",
                f"(i0, t0), b = ({self.number(1)}, {self.text(1)}), {self.truth(1)}",
                f"i0, i0 = {self.listing(1)}",
                f"xs, ys = ys, {self.listing(1)}",
            ]
        )

    def class_(self, depth: int) -> str:
        name = self.new("C")
        return (
            f"class {name}({self.pick(['Base', 'Sub'])}):\n"
            f"    kind = {self.text(1)}\n"
            f"    def value(self):\n        return super().value() + {self.number(1)}\n"
            f"o0 = {name}({self.number(1)})"
        )

    def program(self, depth: int = 3) -> str:
        statements = [self.statement(depth) for _ in range(2 + self.rng.randrange(5))]
        body = "\n".join(statements)
        start = "i0, t0, xs, ys = 1, 'x', [1, 2], []\nd0 = {'k': 1, 'x': n}\no0 = Sub(n) if a else Base(2)"
        end = f"return {RESULTS}"
        lines = indent("\n".join((start, body, end)), "    ")
        return f"{PRELUDE}\n\ndef main(a, b, n, s):\n{lines}\n"
