"""Random expressions of a few kinds, over the variables there are; some raise."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

TEXTS = ("", "fp8", "awq", "a_b", "x")
KINDS = ("int", "str", "(list, str)", "Base", "Sub")
NAMES = ("x", "tag", "extra", "nothing", "other", "kind")


class Expressions:
    """Writes expressions; `self.names` are the variables there are, by the kind of value they hold."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names: dict[str, list[str]] = {
            "int": ["n", "i0"],
            "bool": ["a", "b"],
            "text": ["s", "t0"],
            "list": ["xs", "ys"],
            "dict": ["d0"],
            "object": ["o0"],
        }
        self.fresh = 0
        self.loops = 0
        self.inner = 0

    # --- choices

    def pick(self, options: tuple[str, ...] | list[str]) -> str:
        return options[self.rng.randrange(len(options))]

    def one(self, options: list[Callable[[int], str]], depth: int) -> str:
        """One of these, the first ones when it is time to stop."""
        reach = len(options) if depth > 0 else 2
        return options[self.rng.randrange(reach)](depth - 1)

    def name(self, kind: str) -> str:
        return self.pick(self.names[kind])

    def new(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    # --- expressions

    def number(self, depth: int) -> str:
        sub = self.number
        return self.one(
            [
                lambda d: str(self.rng.randrange(-1, 5)),
                lambda d: self.name("int"),
                lambda d: f"({sub(d)} {self.pick(['+', '-'])} {sub(d)})",
                lambda d: f"({sub(d)} {self.pick(['//', '%'])} {sub(d)})",
                lambda d: f"({sub(d)} if {self.truth(d)} else {sub(d)})",
                lambda d: f"len({self.pick([self.listing(d), self.mapping(d), self.name('object')])})",
                lambda d: f"{self.name('list')}[{sub(d)}]",
                lambda d: f"{self.name('dict')}[{self.key(d)}]",
                lambda d: f"{self.name('dict')}.get({self.key(d)}, {sub(d)})",
                lambda d: f"{self.pick(['min', 'max'])}({sub(d)}, {sub(d)})",
                lambda d: f"sum({self.listing(d)})",
                lambda d: f"max({self.listing(d)}, default={sub(d)})",
                lambda d: f"min({self.listing(d)}, key=lambda q: {self.element('q', d)}, default={sub(d)})",
                lambda d: f"reduce(lambda q, r: {self.element('q', d)} - r, {self.listing(d)}, {sub(d)})",
                lambda d: f"{self.name('list')}.count({sub(d)})",
                lambda d: f"{self.name('list')}.pop({self.pick(['', '0', '-1'])})",
                lambda d: f"{self.name('dict')}.pop({self.key(d)}, {sub(d)})",
                lambda d: f"{self.name('dict')}.setdefault({self.key(d)}, {sub(d)})",
                lambda d: (
                    f"{self.name('object')}.{self.pick(['x', 'value()', 'double', 'limit(2)', 'count'])}"
                ),
                lambda d: f"getattr({self.name('object')}, {self.pick(NAMES)!r}, {sub(d)})",
                lambda d: f"({self.walrus(d)})",
                lambda d: f"counted({sub(d)})",
                lambda d: f"remembered({sub(d)})",
                lambda d: f"add({sub(d)}, z={sub(d)})",
                lambda d: f"(lambda q, r={sub(d)}: q - r)({sub(d)})",
                lambda d: f"Point({sub(d)}, y={sub(d)}).{self.pick(['x', 'y'])}",
                lambda d: f"Pair({sub(d)})[{self.pick(['0', '1', '-1', '2'])}]",
                lambda d: f"next((q for q in {self.listing(d)} if {self.test('q', d)}), {sub(d)})",
                lambda d: f"next(iter({self.listing(d)}))",
                lambda d: f"sum(numbers({sub(d)}))",
                lambda d: f"Level({sub(d)}).value",
                lambda d: f"(Level.MANY + {sub(d)})",
                lambda d: f"int({self.text(d)} or {sub(d)})",
                lambda d: f"abs({sub(d)})",
                lambda d: f"({sub(d)} * {self.rng.randrange(4)})",
                lambda d: (
                    f"{{Key({self.some_text(d)}, {sub(d)}): 1, Key('x'): 2}}.get(Key('x', {sub(d)}), 0)"
                ),
            ],
            depth,
        )

    def truth(self, depth: int) -> str:
        sub = self.truth
        return self.one(
            [
                lambda d: self.name("bool"),
                lambda d: f"{self.name('int')} {self.pick(['<', '>=', '==', '!='])} {self.rng.randrange(4)}",
                lambda d: f"not {sub(d)}",
                lambda d: f"({sub(d)} {self.pick(['and', 'or'])} {sub(d)})",
                lambda d: (
                    f"({self.number(d)} {self.order()} {self.number(d)} {self.order()} {self.number(d)})"
                ),
                lambda d: f"{self.name('text')} is {self.pick(['None', 'not None'])}",
                lambda d: f"{self.text(d)} == {self.text(d)}",
                lambda d: f"({self.number(d)} {self.pick(['in', 'not in'])} {self.listing(d)})",
                lambda d: f"({self.key(d)} in {self.name('dict')})",
                lambda d: f"isinstance({self.anything(d)}, {self.pick(KINDS)})",
                lambda d: f"any({self.test('q', d)} for q in {self.listing(d)})",
                lambda d: f"all({self.test('q', d)} for q in {self.listing(d)})",
                lambda d: f"hasattr({self.name('object')}, {self.pick(NAMES)!r})",
                lambda d: f"bool({self.anything(d)})",
                lambda d: f"({self.name('object')} == {self.object(d)})",
                lambda d: f"(Kind.LOW if {sub(d)} else Kind.TOP) is Kind({self.number(d)})",
                lambda d: f"{self.listing(d)} == {self.listing(d)}",
                lambda d: f"{{{self.number(d)}, {self.number(d)}}} <= {{1, 2, {self.number(d)}}}",
                lambda d: f"({self.listing(d)} < {self.listing(d)})",
            ],
            depth,
        )

    def text(self, depth: int) -> str:
        sub = self.text
        return self.one(
            [
                lambda d: repr(self.pick(TEXTS)),
                lambda d: self.name("text"),
                lambda d: f"({sub(d)} or {sub(d)})",
                lambda d: f"({sub(d)} if {self.truth(d)} else {sub(d)})",
                self.some_text,
                lambda d: f"{self.name('text')}.upper()",
                lambda d: f"{self.name('object')}.{self.pick(['kind', 'tag'])}",
                lambda d: f"({sub(d)} + {sub(d)})[:9]",
            ],
            depth,
        )

    def some_text(self, depth: int) -> str:
        """A text that is not None, unless it raises."""
        return self.one(
            [
                lambda d: repr(self.pick(TEXTS)),
                lambda d: f"str({self.name('text')})",
                lambda d: f'f"{{{self.number(d)}:>3}}|{{{self.name("text")}!r}}"',
                lambda d: f"'-'.join([{self.some_text(d)}, {self.some_text(d)}])[:12]",
                lambda d: f"{self.some_text(d)}.replace('a', 'b')[:{self.number(d)}]",
                lambda d: f"repr({self.shown(d)})",
                lambda d: f"('%s=%r' % ({self.number(d)}, {self.text(d)}))[:12]",
                lambda d: f"Kind({self.number(d)}).short",
                lambda d: f"type({self.object(d)}).__name__",
            ],
            depth,
        )

    def shown(self, depth: int) -> str:
        """Something with a `repr` of its own."""
        return self.one(
            [self.number, self.listing, self.mapping, lambda d: f"Point({self.number(d)})"], depth
        )

    def listing(self, depth: int) -> str:
        sub = self.listing
        return self.one(
            [
                lambda d: self.name("list"),
                lambda d: f"[{self.name('int')}, {self.rng.randrange(3)}]",
                lambda d: f"[{self.number(d)}, *{sub(d)}]",
                lambda d: f"[{self.element('q', d)} for q in {sub(d)} if {self.test('q', d)}]",
                lambda d: f"[q * r for q in {sub(d)}[:3] for r in range({self.number(d)} % 3)]",
                lambda d: f"sorted({sub(d)}, reverse={self.truth(d)})",
                lambda d: f"sorted({sub(d)}, key=lambda q: {self.element('q', d)})",
                lambda d: f"list({self.name('dict')}.values())",
                lambda d: f"{sub(d)}[{self.rng.randrange(3)}:]",
                lambda d: f"({sub(d)} + {sub(d)})[:6]",
                lambda d: f"list(map(lambda q: {self.element('q', d)}, {sub(d)}))",
                lambda d: f"list(map(lambda q, r: {self.element('q', d)} - r, {sub(d)}, {sub(d)}))",
                lambda d: f"[q + r for q, r in zip({sub(d)}, {sub(d)})]",
                lambda d: f"[at * q for at, q in enumerate(numbers({self.number(d)}))]",
                lambda d: f"[at + q for at, q in enumerate({sub(d)}, {self.number(d)})]",
                lambda d: f"list(range({self.number(d)} % 4))",
                lambda d: f"sorted({{{self.number(d)}, {self.number(d)}}} | set({sub(d)}))",
                lambda d: f"[q for q in spread({self.number(d)}, *{sub(d)}, scale={self.number(d)})]",
                lambda d: f"list(numbers({self.number(d)}))",
                lambda d: f"list(reversed({sub(d)}))",
                lambda d: f"(seen and {sub(d)})",
                lambda d: f"list(filter(lambda q: {self.test('q', d)}, {sub(d)}))",
                lambda d: f"[*Pair({self.number(d)}, {self.number(d)})]",
            ],
            depth,
        )

    def mapping(self, depth: int) -> str:
        sub = self.mapping
        return self.one(
            [
                lambda d: self.name("dict"),
                lambda d: f"{{{self.key(d)}: {self.number(d)}}}",
                lambda d: f"{{**{sub(d)}, {self.key(d)}: {self.number(d)}}}",
                lambda d: f"{{q: {self.number(d)} for q in {self.listing(d)}}}",
                lambda d: f"dict(zip(['x', 'y'], {self.listing(d)}))",
                lambda d: f"({sub(d)} | {sub(d)})",
                lambda d: f"dict({sub(d)}, k={self.number(d)})",
            ],
            depth,
        )

    def object(self, depth: int) -> str:
        return self.one(
            [
                lambda d: self.name("object"),
                lambda d: f"Base({self.number(d)})",
                lambda d: f"Sub({self.number(d)})",
                lambda d: f"{self.pick(['Base', 'Sub'])}.make({self.number(d)})",
                lambda d: f"(Base if {self.truth(d)} else Sub)({self.number(d)})",
                lambda d: f"({self.object(d)} if {self.truth(d)} else {self.object(d)})",
            ],
            depth,
        )

    def anything(self, depth: int) -> str:
        return self.one([self.number, self.text, self.listing, self.mapping, self.object, self.truth], depth)

    def key(self, depth: int) -> str:
        return self.one(
            [lambda d: repr(self.pick(("k", "x", "y"))), self.number, self.text, self.truth], depth
        )

    def test(self, name: str, depth: int) -> str:
        """A condition on a name that only it binds."""
        return self.pick(
            [
                f"{name} > {self.rng.randrange(3)}",
                f"{name} != {self.name('int')}",
                f"({name} % 2 == 0 or {self.name('bool')})",
                f"6 // ({name} - 2) > 0",
            ]
        )

    def element(self, name: str, depth: int) -> str:
        return self.pick(
            [name, f"{name} + {self.name('int')}", f"-{name}", f"{name} * 2", f"{name} // (1 - {name})"]
        )

    def order(self) -> str:
        return self.pick(["<", "<=", ">", "==", "!="])

    def walrus(self, depth: int) -> str:
        return f"{self.name('int')} := {self.number(depth)}" if self.names["int"][-1] != "n" else "i0 := 1"
