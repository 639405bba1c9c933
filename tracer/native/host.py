"""Small pure host functions (`cutlass_scaled_mm_supports_fp8`) answered by reading them, in three values.

A function is lowered from tree-sitter's tree to the few shapes below and evaluated over them. What lies
outside of that subset of C++, and what nobody told, stays open and says what would decide it: nothing is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from ...report.predicate import Site

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from ..sources import Source

Facts = Mapping[str, int | None]
"""What is known outside of the function: a macro's value, or None where it is known not to be defined.

A query that leaves its answer in `&x` or takes no argument goes by its function: `cudaRuntimeGetVersion`.
"""


class Open(Struct, frozen=True, gc=False):
    """A value that is not known, and the names that would decide it."""

    needs: frozenset[str]


Value = int | Open


class Answer(Struct, frozen=True):
    """What a predicate comes to: its value, or None while it is undecided."""

    value: bool | int | None
    sites: tuple[Site, ...]
    """The returns that may be taken."""
    needs: frozenset[str]
    """What would decide it: macros, queries, parameters; with a blank in it, a construct that is not read."""

    @property
    def site(self) -> Site | None:
        """The return that was taken, where it is one."""
        return self.sites[0] if len(self.sites) == 1 else None


# --- the subset, lowered


class Expr(Struct, frozen=True, gc=False):
    pass


class Number(Expr, frozen=True, gc=False):
    value: int


class Name(Expr, frozen=True, gc=False):
    id: str


class Defined(Expr, frozen=True, gc=False):
    """`defined X`"""

    id: str


class Apply(Expr, frozen=True, gc=False):
    op: str
    args: tuple[Expr, ...]


class Call(Expr, frozen=True, gc=False):
    name: str
    args: tuple[Expr, ...]


class Odd(Expr, frozen=True, gc=False):
    """Outside of the subset: the kind of construct, and where."""

    what: str


class Statement(Struct, frozen=True, gc=False):
    pass


class Return(Statement, frozen=True, gc=False):
    value: Expr
    line: int


class If(Statement, frozen=True, gc=False):
    test: Expr
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]
    directive: bool = False
    """An `#if`: names that are not defined count 0."""


class Let(Statement, frozen=True, gc=False):
    """`int x = value;`, or `x = value;` where the kind is empty."""

    name: str
    kind: str
    value: Expr


class Stop(Statement, frozen=True, gc=False):
    """A statement outside of the subset: whatever comes after it is open."""

    what: str


class Function(Struct, frozen=True):
    """One definition: parameters and locals by kind (`bool`, `int32`, `int64`, `auto`, `other`)."""

    kind: str
    params: tuple[tuple[str, str], ...]
    body: tuple[Statement, ...]
    path: str
    line: int


# --- values


def conj(a: Value, b: Value) -> Value:
    """`a && b` in three values."""
    if a == 0 or b == 0:
        return 0
    return _joined(a, b) if isinstance(a, Open) or isinstance(b, Open) else 1


def neg(a: Value) -> Value:
    """`!a` in three values."""
    return a if isinstance(a, Open) else int(not a)


def disj(a: Value, b: Value) -> Value:
    """`a || b` in three values."""
    return neg(conj(neg(a), neg(b)))


def _joined(*values: Value) -> Open:
    return Open(frozenset().union(*(value.needs for value in values if isinstance(value, Open))))


def _open(*names: str) -> Open:
    return Open(frozenset(names))


_BITS = {"int32": 31, "int64": 63}


def _as(kind: str, value: Value) -> Value:
    """Convert to a C++ type of the subset; what does not fit is open."""
    if isinstance(value, Open):
        return value
    if kind == "bool":
        return int(value != 0)
    if kind == "auto":
        return value
    bits = _BITS.get(kind)
    fits = bits is not None and -(1 << bits) <= value < 1 << bits
    return value if fits else _open(f"{value} as {kind}")


def _quotient(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


def _binary(op: str, a: Value, b: Value) -> Value:
    if isinstance(a, Open) or isinstance(b, Open):
        return _joined(a, b)
    if op in ("/", "%") and b == 0:
        return _open("division by zero")
    return _as("int64", _BINARY[op](a, b))


# --- lowering


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def _parts(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in ("comment", "\n")]


def _field(node: Node, name: str) -> Node:
    """Give a field; a node without it is its own, and lowers to something odd."""
    return node.child_by_field_name(name) or node


_NUMBER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[lL]{0,2}")


def _number(text: str) -> Expr:
    found = _NUMBER.fullmatch(text.replace("'", ""))
    if not found:
        return Odd(f"the literal {text[:40]}")
    sign, digits = found.groups()
    octal = digits.startswith("0") and digits.isdigit()
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        return Odd(f"the literal {text[:40]}")
    return Number(-value if sign else value)


def _odd(node: Node) -> Odd:
    return Odd(f"{node.type.replace('_', ' ')} in line {node.start_point[0] + 1}")


def expression(node: Node) -> Expr:
    """Lower an expression of C++ or of an `#if`."""
    kind = node.type
    if kind == "number_literal":
        return _number(_text(node))
    if kind in ("true", "false"):
        return Number(int(kind == "true"))
    if kind == "identifier":
        return Name(_text(node))
    if kind == "preproc_defined":
        return Defined(_text(_parts(node)[0])) if _parts(node) else _odd(node)
    if kind == "parenthesized_expression" and len(_parts(node)) == 1:
        return expression(_parts(node)[0])
    if kind in _OPERANDS:
        return _application(node)
    if kind == "call_expression":
        return _call(node)
    return _odd(node)


_OPERANDS = {
    "unary_expression": ("argument",),
    "binary_expression": ("left", "right"),
    "conditional_expression": ("condition", "consequence", "alternative"),
}


def _application(node: Node) -> Expr:
    operator = node.child_by_field_name("operator")
    op = "?" if operator is None else _text(operator)
    if op not in _BINARY and op not in ("&&", "||", "!", "?"):
        return _odd(node)
    operands = [node.child_by_field_name(name) for name in _OPERANDS[node.type]]
    lowered = tuple(expression(operand) for operand in operands if operand is not None)
    return Apply(op, lowered) if len(lowered) == len(operands) else _odd(node)


def _call(node: Node) -> Expr:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or function.type not in ("identifier", "qualified_identifier"):
        return _odd(node)
    name = _text(function).rsplit("::", 1)[-1]
    return Call(name, tuple(map(expression, _parts(arguments)))) if name.isidentifier() else _odd(node)


_KINDS = {
    "bool": "bool",
    "int": "int32",
    "int32_t": "int32",
    "std::int32_t": "int32",
    "int64_t": "int64",
    "std::int64_t": "int64",
    "long": "int64",
    "long long": "int64",
    "auto": "auto",
}
_STORAGE = ("const", "constexpr", "inline", "static")


def _kind(node: Node, storage: tuple[str, ...] = ("const", "constexpr")) -> str:
    """Name the type of a declaration; a specifier that could change the meaning makes it `other`."""
    for child in node.children:
        if child.type in ("type_qualifier", "storage_class_specifier") and _text(child) not in storage:
            return "other"
    return _KINDS.get(" ".join(_text(node.child_by_field_name("type")).split()), "other")


def statements(nodes: Iterable[Node]) -> tuple[Statement, ...]:
    """Lower the statements of a block."""
    return tuple(lowered for node in nodes for lowered in _statement(node))


def _statement(node: Node) -> Iterator[Statement]:
    kind = node.type
    if kind == "compound_statement":
        # Always true, so that what it declares ends with it.
        yield If(Number(1), statements(_parts(node)), ())
    elif kind == "return_statement":
        value = _parts(node)
        yield Return(expression(value[0]) if len(value) == 1 else _odd(node), node.start_point[0] + 1)
    elif kind == "if_statement":
        yield _branch(node)
    elif kind in ("preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef"):
        yield _directive(node)
    elif kind == "declaration":
        yield from _declaration(node)
    elif kind == "expression_statement":
        yield from _effect(node)
    else:
        yield Stop(_odd(node).what)


def _branch(node: Node) -> Statement:
    clause = _field(node, "condition")
    if clause.child_by_field_name("initializer") is not None:
        return Stop(_odd(clause).what)
    other = node.child_by_field_name("alternative")
    return If(
        expression(_field(clause, "value")),
        statements([_field(node, "consequence")]),
        statements(_parts(other)) if other is not None else (),
    )


def _directive(node: Node) -> Statement:
    head = node.child_by_field_name("condition") or node.child_by_field_name("name")
    other = node.child_by_field_name("alternative")
    if head is None:
        return Stop(_odd(node).what)
    test: Expr = expression(head)
    if node.child_by_field_name("name") is not None:
        test = Defined(_text(head))
        if node.children[0].type in ("#ifndef", "#elifndef"):
            test = Apply("!", (test,))
    then = [part for part in _parts(node) if part not in (head, other)]
    if other is not None and other.type == "preproc_else":
        return If(test, statements(then), statements(_parts(other)), directive=True)
    return If(test, statements(then), statements([other] if other else []), directive=True)


def _declaration(node: Node) -> Iterator[Statement]:
    kind = _kind(node)
    for declarator in node.children_by_field_name("declarator"):
        if declarator.type == "identifier":
            yield Let(_text(declarator), kind, Odd(f"{_text(declarator)} before it is set"))
            continue
        name, value = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            yield Stop(_odd(declarator).what)
        else:
            yield Let(_text(name), kind, expression(value))


def _effect(node: Node) -> Iterator[Statement]:
    """Lower `x = value;` and `query(&x);`; a call that is made for anything else ends what is known."""
    parts = _parts(node)
    if not parts:
        return
    inner = parts[0]
    if inner.type == "assignment_expression" and _text(inner.child_by_field_name("operator")) == "=":
        target = _field(inner, "left")
        if target.type == "identifier":
            yield Let(_text(target), "", expression(_field(inner, "right")))
            return
    arguments = _parts(_field(inner, "arguments")) if inner.type == "call_expression" else []
    call = _call(inner) if arguments else None
    if isinstance(call, Call) and len(arguments) == 1 and arguments[0].type == "pointer_expression":
        target = _field(arguments[0], "argument")
        if target.type == "identifier" and _text(arguments[0]).startswith("&"):
            yield Let(_text(target), "", Call(call.name, ()))
            return
    yield Stop(_odd(inner).what)


def _function(node: Node, path: str) -> tuple[str, Function] | None:
    declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
    if declarator is None or body is None or declarator.type != "function_declarator":
        return None
    name = _text(declarator.child_by_field_name("declarator")).rsplit("::", 1)[-1]
    params = []
    for param in _parts(_field(declarator, "parameters")):
        inner = param.child_by_field_name("declarator")
        plain = param.type == "parameter_declaration" and inner is not None and inner.type == "identifier"
        params.append((_text(inner) if inner is not None else "", _kind(param) if plain else "other"))
    line = node.start_point[0] + 1
    lowered = (Stop(f"a syntax error in {path}:{line}"),) if node.has_error else statements(_parts(body))
    return name, Function(_kind(node, _STORAGE), tuple(params), lowered, path, line)


def _definitions(root: Node, path: str) -> Iterator[tuple[str, Function]]:
    """Find the free functions of a file; bodies and classes are not entered."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "function_definition":
            if found := _function(node, path):
                yield found
        elif node.type not in ("class_specifier", "struct_specifier", "template_declaration"):
            pending.extend(node.named_children)


# --- a file's own directives


class Macro(Struct, frozen=True, gc=False):
    """What is known of a macro: whether it is defined, and to what."""

    defined: Value
    value: Value


Macros = dict[str, Macro]


class Directive(Struct, frozen=True, gc=False):
    line: int
    kind: str
    text: str


_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifn?def|elif|elifn?def|else|endif|define|undef)\b(.*)")
_DEFINE = re.compile(r"\s*([A-Za-z_]\w*)(\(|\s+|$)(.*)", re.S)


def directives(plain: str) -> tuple[Directive, ...]:
    """List a file's conditions and definitions in order, from its text without comments."""
    found: list[Directive] = []
    lines = iter(enumerate(plain.split("\n"), 1))
    for number, line in lines:
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        text = match.group(2).rstrip()
        while text.endswith("\\"):
            text = text[:-1] + next(lines, (0, ""))[1].rstrip()
        found.append(Directive(number, match.group(1), text.strip()))
    return tuple(found)


def alive_at(line: int, order: tuple[Directive, ...], facts: Facts) -> tuple[Value, Macros]:
    """Tell whether a line is compiled, and what the file itself has defined above it."""
    macros: Macros = {}
    frames: list[tuple[Value, Value]] = []
    for index, step in enumerate(order):
        if step.line > line:
            break
        if step.kind in ("if", "ifdef", "ifndef"):
            test = _test(step, facts, macros)
            test = 1 if isinstance(test, Open) and _is_guard(order, index) else test
            frames.append((test, test))
        elif step.kind == "endif" and frames:
            frames.pop()
        elif step.kind.startswith("el") and frames:
            seen = frames[-1][1]
            test = 1 if step.kind == "else" else _test(step, facts, macros)
            frames[-1] = (conj(neg(seen), test), disj(seen, test))
        elif step.kind in ("define", "undef"):
            _define(step, _all(frames), macros)
    return _all(frames), macros


def _all(frames: list[tuple[Value, Value]]) -> Value:
    alive: Value = 1
    for test, _ in frames:
        alive = conj(alive, test)
    return alive


def _is_guard(order: tuple[Directive, ...], index: int) -> bool:
    """Know `#ifndef X` / `#define X` around a header: it holds where the header is read first."""
    after = order[index + 1] if index + 1 < len(order) else None
    here = order[index]
    return here.kind == "ifndef" and after is not None and (after.kind, after.text) == ("define", here.text)


def _define(step: Directive, alive: Value, macros: Macros) -> None:
    found = _DEFINE.fullmatch(step.text)
    if found is None or alive == 0:
        return
    name, mark, text = found.groups()
    if isinstance(alive, Open):
        macros[name] = Macro(alive, alive)
    elif step.kind == "undef":
        macros[name] = Macro(0, 0)
    else:
        value = 0 if mark == "(" else _number(text.strip())
        macros[name] = Macro(1, value.value if isinstance(value, Number) else _open(f"the value of {name}"))


def _test(step: Directive, facts: Facts, macros: Macros) -> Value:
    reading = Reading(_no_helper, facts, macros)
    if not step.kind.endswith("def"):
        return reading.value(_condition(step.text), {}, directive=True)
    defined = reading.macro(step.text.split()[0] if step.text else "").defined
    return neg(defined) if step.kind.endswith("ndef") else defined


def _no_helper(name: str) -> tuple[Function, Macros] | None:
    return None


@lru_cache(4096)
def _condition(text: str) -> Expr:
    """Lower the text of an `#if`."""
    root = _parser().parse(b"#if " + text.encode("utf-8", "replace") + b"\n#endif\n").root_node
    head = root.named_children[0].child_by_field_name("condition") if root.named_children else None
    try:
        if head is not None and not root.has_error and len(root.named_children) == 1:
            return expression(head)
    except RecursionError:
        pass
    return Odd(f"the condition {text[:60]!r}")


# --- evaluation

_MAX_STEPS = 20_000
_MAX_DEPTH = 16


Helper = Callable[[str], tuple[Function, Macros] | None]
"""Finds a function of the same file, with what is defined above it."""


class Reading:
    """One evaluation: what is known, and on the way every name that was asked for and is not."""

    def __init__(self, helper: Helper, facts: Facts, macros: Macros) -> None:
        self.helper = helper
        self.facts = facts
        self.macros = macros
        self.asked: set[str] = set()
        self._steps = 0
        self._depth = 0

    def macro(self, name: str) -> Macro:
        """Say what is known of a macro: the file's own definition, else the caller's."""
        if name in self.macros:
            return self.macros[name]
        if name not in self.facts:
            return Macro(_open(name), _open(name))
        value = self.facts[name]
        return Macro(0, 0) if value is None else Macro(1, value)

    def call(self, function: Function, args: tuple[Value, ...]) -> list[tuple[Value, Site]]:
        """Give every value that a call may return, and the returns that give them."""
        here = Site(function.path, function.line)
        if len(args) != len(function.params) or self._depth >= _MAX_DEPTH:
            return [(_open(f"a call of {here}"), here)]
        named = zip(function.params, args, strict=True)
        env = {name: (kind, _as(kind, value)) for (name, kind), value in named}
        self._depth += 1
        results, falls = self._block(function.body, env, function.path)
        self._depth -= 1
        if falls:
            results.append((_open(f"a return at the end of {here}"), here))
        return [(_as(function.kind, value), site) for value, site in results]

    def _block(
        self, body: tuple[Statement, ...], env: dict[str, tuple[str, Value]], path: str
    ) -> tuple[list[tuple[Value, Site]], bool]:
        results: list[tuple[Value, Site]] = []
        for step in body:
            self._steps += 1
            if isinstance(step, Return):
                return [*results, (self.value(step.value, env), Site(path, step.line))], False
            if isinstance(step, Let):
                self._let(step, env)
            elif isinstance(step, If) and self._steps < _MAX_STEPS:
                more, falls = self._branches(step, env, path)
                results += more
                if not falls:
                    return results, False
            else:
                what = step.what if isinstance(step, Stop) else "more time"
                return [*results, (self._ask(_open(what)), Site(path, 0))], False
        return results, True

    def _let(self, step: Let, env: dict[str, tuple[str, Value]]) -> None:
        value = self.value(step.value, env)
        kind = step.kind or (env[step.name][0] if step.name in env else "other")
        # A second declaration shadows the first: which one is meant later is not followed.
        twice = bool(step.kind) and step.name in env
        env[step.name] = (kind, _open(f"{step.name}, declared twice") if twice else _as(kind, value))

    def _branches(
        self, step: If, env: dict[str, tuple[str, Value]], path: str
    ) -> tuple[list[tuple[Value, Site]], bool]:
        test = self._ask(self.value(step.test, env, directive=step.directive))
        results: list[tuple[Value, Site]] = []
        ends: list[dict[str, tuple[str, Value]]] = []
        for body, taken in ((step.then, test), (step.other, neg(test))):
            if taken == 0:
                continue
            inner = env if step.directive and taken == 1 else dict(env)
            more, falls = self._block(body, inner, path)
            results += more
            if falls:
                ends.append(inner)
        for name, (kind, _) in tuple(env.items()):
            after = [end[name][1] for end in ends]
            same = len(set(after)) == 1
            if after:
                env[name] = (kind, after[0] if same else _joined(_open(name), *after, test))
        return results, bool(ends)

    def value(self, node: Expr, env: Mapping[str, tuple[str, Value]], directive: bool = False) -> Value:
        """Evaluate an expression; in a directive, names that are not defined count 0."""
        self._steps += 1
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Defined):
            return self.macro(node.id).defined
        if isinstance(node, Name):
            return self._name(node.id, env, directive)
        if isinstance(node, Apply):
            return self._apply(node, env, directive)
        if isinstance(node, Call) and not directive:
            return self._called(node, env)
        return _open(node.what if isinstance(node, Odd) else "a call in a directive")

    def _name(self, name: str, env: Mapping[str, tuple[str, Value]], directive: bool) -> Value:
        if not directive and name in env:
            return env[name][1]
        macro = self.macro(name)
        if macro.defined == 0 and not directive:
            return _open(name)
        return macro.value

    def _apply(self, node: Apply, env: Mapping[str, tuple[str, Value]], directive: bool) -> Value:
        first = self.value(node.args[0], env, directive)
        if len(node.args) == 1:
            return neg(first) if node.op == "!" else _binary(node.op, 0, first)
        if node.op in ("&&", "||") and not isinstance(first, Open) and bool(first) == (node.op == "||"):
            return int(bool(first))
        if node.op == "?":
            a, b = (self.value(arg, env, directive) for arg in node.args[1:])
            if isinstance(first, Open):
                return a if a == b else _joined(first, a, b)
            return a if first else b
        second = self.value(node.args[1], env, directive)
        if node.op == "&&":
            return conj(first, second)
        return disj(first, second) if node.op == "||" else _binary(node.op, first, second)

    def _called(self, node: Call, env: Mapping[str, tuple[str, Value]]) -> Value:
        args = tuple(self.value(arg, env) for arg in node.args)
        helper = self.helper(node.name)
        if helper is not None and self._steps < _MAX_STEPS:
            function, macros = helper
            outer, self.macros = self.macros, macros
            values = [self._ask(value) for value, _ in self.call(function, args)]
            self.macros = outer
            return values[0] if len(set(values)) == 1 else _joined(_open(*self.asked), *values)
        fact = None if args else self.facts.get(node.name)
        return _joined(_open(node.name), *args) if fact is None else fact

    def _ask(self, value: Value) -> Value:
        if isinstance(value, Open):
            self.asked |= value.needs
        return value


# --- predicates


class HostPredicate:
    """A host function that returns a bool or an integer, ready to be asked."""

    def __init__(self, name: str, unit: Unit) -> None:
        self.name = name
        self._unit = unit
        self._kind, self.params = unit.signature(name)
        self.sites = tuple(Site(f.path, f.line) for f in unit.functions[name])

    def answer(self, args: Mapping[str, int], macros: Facts) -> Answer:
        """Evaluate for arguments by name and what is known of the build; what is missing stays open."""
        try:
            results, asked = self._unit.results(self.name, args, macros)
        except RecursionError:
            results, asked = [(_open("more depth"), self.sites[0])], {"more depth"}
        sites = tuple(dict.fromkeys(site for _, site in results if site.line))
        values = {value for value, _ in results}
        needs = asked.union(*(value.needs for value in values if isinstance(value, Open)))
        if len(values) != 1 or isinstance(first := values.pop(), Open):
            return Answer(None, sites, frozenset(needs))
        return Answer(bool(first) if self._kind == "bool" else first, sites, frozenset())

    def decide(self, args: Mapping[str, int], macros: Facts) -> bool | int | None:
        """Give the value, or None while it is undecided."""
        return self.answer(args, macros).value

    @cached_property
    def needs(self) -> frozenset[str]:
        """What it may ask beside its parameters: macros, queries, and constructs that are not read."""
        return self.answer({}, {}).needs - frozenset(self.params)


class Unit:
    """One file's functions and directives."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.functions: dict[str, list[Function]] = {}
        self._directives = directives(without_comments(text))
        root = _parser().parse(text.encode("utf-8", "replace")).root_node
        for name, function in sorted(_definitions(root, path), key=lambda pair: pair[1].line):
            self.functions.setdefault(name, []).append(function)

    def signature(self, name: str) -> tuple[str, tuple[str, ...]]:
        first = self.functions[name][0]
        return first.kind, tuple(param for param, _ in first.params)

    def results(
        self, name: str, args: Mapping[str, int], facts: Facts
    ) -> tuple[list[tuple[Value, Site]], set[str]]:
        """Evaluate every definition that may be compiled, and collect what was asked."""
        results: list[tuple[Value, Site]] = []
        asked: set[str] = set()
        certain = 0
        for function in self.functions[name]:
            alive, macros = alive_at(function.line, self._directives, facts)
            if alive == 0:
                continue
            certain += alive == 1
            if isinstance(alive, Open):
                asked |= alive.needs
            reading = Reading(lambda called: self._helper(called, facts), facts, macros)
            given = tuple(args.get(param, _open(param)) for param, _ in function.params)
            results += reading.call(function, given)
            asked |= reading.asked
        if not results or certain > 1:
            results.append((_open(f"one definition of {name}"), Site(self.path, 0)))
        return results, asked

    def _helper(self, name: str, facts: Facts) -> tuple[Function, Macros] | None:
        """Give a helper that is certainly compiled, and only once."""
        states = [(f, *alive_at(f.line, self._directives, facts)) for f in self.functions.get(name, ())]
        possible = [state for state in states if state[1] != 0]
        function, alive, macros = possible[0] if len(possible) == 1 else (None, 0, {})
        return (function, macros) if function and alive == 1 else None


def read_predicate(source: Source, function: str, paths: Iterable[str]) -> HostPredicate | None:
    """Find a host function in these files; None when it is not there once, or returns something else."""
    named = [path for path in paths if function.encode() in (source.read(path) or b"")]
    definition = re.compile(rf"\b{re.escape(function)}\s*\([^;{{}}]*\)\s*(?:noexcept\s*)?\{{")
    homes = [path for path in named if definition.search(source.text(path) or "")]
    if len(homes) != 1:
        return None
    try:
        unit = Unit(homes[0], source.text(homes[0]) or "")
    except RecursionError:
        return None
    if function not in unit.functions or unit.signature(function)[0] in ("auto", "other"):
        return None
    return HostPredicate(function, unit)


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.S
)


def without_comments(text: str) -> str:
    """Blank the comments of C++ text; lines keep their numbers, strings their content."""
    return _TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], text)
