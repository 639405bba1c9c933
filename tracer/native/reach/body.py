"""What one function's body uses: calls, launches and names, each with the conditions that it stands under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....report.predicate import Predicate
from ....report.settle import negated
from ..lowering import CHECKS
from ..syntax import children, parsed, text_of
from .conditions import Guards, condition, decidable, either, words
from .spelled import CASTS, NAMES, Given, declared_name, designated, named, strings, template_lists
from .uses import Body, Use

if TYPE_CHECKING:
    from tree_sitter import Node


def body_of(text: str, line: int) -> Body:
    """Read the text of a body, whose first line in the file is `line`."""
    root = parsed(f"void f() {text}" if text.startswith("{") else f"void f() {{{text};}}")
    walk = _Walk(line)
    walk.statement(root, ())
    return Body(tuple(walk.uses), tuple(sorted(walk.odd)))


_LEAVES = ("return_statement", "throw_statement", "goto_statement")


class _Walk:
    """One pass over a body's tree."""

    def __init__(self, line: int) -> None:
        self.first = line
        self.uses: list[Use] = []
        self.odd: set[int] = set()
        self._subject: str | None = None
        self._handed = False
        """Whether what is walked is handed to a call as a template's argument."""

    def line(self, node: Node) -> int:
        return self.first + node.start_point[0]

    def statement(self, node: Node, guards: Guards) -> Guards | None:
        """Walk a statement; give the conditions of what comes after it, None where nothing does."""
        kind = node.type
        if kind == "ERROR":
            self.odd.add(self.line(node))
        step = _STATEMENTS.get(kind)
        if step is not None:
            return step(self, node, guards)
        if kind in _LEAVES:
            names = tuple(name for child in children(node) for name in designated(child))
            if kind == "return_statement" and names:
                self.uses.append(Use("return", "", self.line(node), guards, (Given(names),)))
            self.expression(node, guards)
            return None
        return self.expression(node, guards)

    def block(self, node: Node, guards: Guards) -> Guards | None:
        here: Guards | None = guards
        for child in children(node):
            if here is None:
                # What stands behind a return is reached by a label alone.
                return None
            here = self.statement(child, here)
        return here

    def branch(self, node: Node, guards: Guards) -> Guards | None:
        clause = node.child_by_field_name("condition")
        value = clause.child_by_field_name("value") if clause is not None else None
        if clause is not None:
            self.expression(clause, guards)
        test = condition(value)
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        after = self.statement(then, _under(guards, test)) if then is not None else guards
        refused = _under(guards, negated(test))
        # The other arm is walked even where it is empty: what comes after may hang on the test alone.
        otherwise = self.block(other, refused) if other is not None else refused
        if after is None:
            return otherwise
        return after if otherwise is None else guards

    def loop(self, node: Node, guards: Guards) -> Guards | None:
        for child in children(node):
            self.statement(child, guards)
        return guards

    def switch(self, node: Node, guards: Guards) -> Guards | None:
        clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        subject = words(clause.child_by_field_name("value") if clause is not None else None)
        open_ended = True
        waiting: list[Predicate] = []
        for case in [] if body is None else children(body):
            if case.type != "case_statement":
                self.statement(case, guards)
                continue
            value = case.child_by_field_name("value")
            waiting.append(condition(value, subject))
            rest = [child for child in children(case) if child != value]
            if not rest:
                continue
            test = either(waiting)
            here: Guards | None = _under(guards, test)
            for child in rest:
                if here is None:
                    break
                here = self.statement(child, here)
            waiting = []
            open_ended = open_ended and (here is not None or value is not None)
        return guards if open_ended else None

    def expression(self, node: Node, guards: Guards) -> Guards | None:
        """Walk an expression or declaration; a call that is sure to raise ends the block."""
        kind = node.type
        if kind == "call_expression":
            return self.call(node, guards)
        if kind == "conditional_expression":
            return self.ternary(node, guards)
        if kind == "lambda_expression":
            body = node.child_by_field_name("body")
            if body is not None:
                self.statement(body, guards)
            return guards
        if kind == "alias_declaration":
            self.let(
                text_of(node.child_by_field_name("name")), node.child_by_field_name("type"), node, guards
            )
            return guards
        if kind in ("declaration", "init_declarator", "assignment_expression"):
            self.declared(node, guards)
        if kind in NAMES:
            self.named(node, guards)
            return guards
        here: Guards | None = guards
        for child in node.named_children:
            if child.type == "comment":
                continue
            after = self.statement(child, here if here is not None else guards)
            here = (
                after if kind in ("expression_statement", "translation_unit", "function_definition") else here
            )
        return here

    def ternary(self, node: Node, guards: Guards) -> Guards:
        asked = node.child_by_field_name("condition")
        if asked is not None:
            self.expression(asked, guards)
        test = condition(asked)
        for name, holds in (("consequence", test), ("alternative", negated(test))):
            arm = node.child_by_field_name(name)
            if arm is not None:
                self.expression(arm, _under(guards, holds))
        return guards

    def declared(self, node: Node, guards: Guards) -> None:
        """Note what a local stands for: its type, and what it is set to."""
        if node.type == "declaration":
            kind = node.child_by_field_name("type")
            for declarator in node.children_by_field_name("declarator"):
                name = declared_name(declarator)
                if name and kind is not None and kind.type not in ("placeholder_type_specifier",):
                    self.let(name, kind, node, guards)
            return
        left = node.child_by_field_name("declarator") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        name = declared_name(left)
        if name and value is not None:
            self.let(name, value, node, guards)

    def let(self, name: str, value: Node | None, node: Node, guards: Guards) -> None:
        names = tuple(designated(value)) if value is not None else ()
        test = condition(value) if value is not None and not names else None
        self.uses.append(Use("let", name, self.line(node), guards, (Given(names),), test=test))
        if value is not None and node.type == "alias_declaration":
            self.expression(value, guards)

    def named(self, node: Node, guards: Guards) -> None:
        name, templates = named(node)
        kind = "type" if self._handed else "name"
        self.uses.append(Use(kind, name, self.line(node), guards, templates=templates))
        self.inside_templates(node, guards)

    def inside_templates(self, node: Node, guards: Guards) -> None:
        for below in template_lists(node):
            for child in children(below):
                self.expression(child, guards)

    def call(self, node: Node, guards: Guards) -> Guards | None:
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        given = [] if listed is None else children(listed)
        launched = any(child.type == "kernel_call_syntax" for child in node.children)
        if function is None:
            return guards
        on = ""
        if function.type == "field_expression":
            target, method = function.child_by_field_name("argument"), function.child_by_field_name("field")
            on = words(target)
            if target is not None:
                self.expression(target, guards)
            function = method if method is not None else function
        if function.type in ("call_expression", "lambda_expression", "parenthesized_expression"):
            self.expression(function, guards)
            self.arguments("", given, guards)
            return guards
        name, templates = named(function)
        plain = name.rpartition("::")[2]
        if plain in CHECKS or plain in NEVER:
            return self.check(plain, node, given, guards)
        if plain in CASTS:
            name = ""
        kind = "launch" if launched else "call"
        args = tuple(Given(tuple(designated(arg))) for arg in given)
        if name:
            self.uses.append(Use(kind, name, self.line(node), guards, args, templates, on=on))
        outer, self._handed = self._handed, True
        self.inside_templates(function, guards)
        self._handed = outer
        if plain not in ASKS:
            self.arguments(plain, given, guards)
        return guards

    def arguments(self, called: str, given: list[Node], guards: Guards) -> None:
        """Walk arguments; those of torch's dispatch macros that run for one type stand under it."""
        outer = self._subject
        if called.endswith("DISPATCH_SWITCH") and given:
            self._subject = words(given[0])
        inner = guards
        if "DISPATCH_CASE" in called and given and self._subject is not None:
            inner = _under(guards, condition(given[0], self._subject))
        for arg in given:
            self.expression(arg, inner)
        self._subject = outer

    def check(self, name: str, node: Node, given: list[Node], guards: Guards) -> Guards | None:
        """A check holds for what comes after it; one that never holds ends the block."""
        for arg in given[1:]:
            self.expression(arg, guards)
        failed = name in NEVER or (bool(given) and text_of(given[0]) == "false")
        said = "".join(text_of(part) for arg in given for part in strings(arg))
        test = None if failed else condition(given[0] if given else None)
        said = said or name
        self.uses.append(Use("check", said, self.line(node), guards, test=test))
        if failed:
            return None
        return _under(guards, test) if test is not None and decidable(test) else guards


NEVER = frozenset({
    "STD_TORCH_CHECK_NOT_IMPLEMENTED_ALWAYS", "TORCH_INTERNAL_ASSERT_UNREACHABLE", "CUTE_GCC_UNREACHABLE",
})  # fmt: skip
"""Calls that raise whatever they are given."""


_STATEMENTS = {
    "compound_statement": _Walk.block,
    "if_statement": _Walk.branch,
    "for_statement": _Walk.loop,
    "for_range_loop": _Walk.loop,
    "while_statement": _Walk.loop,
    "do_statement": _Walk.loop,
    "switch_statement": _Walk.switch,
    "else_clause": _Walk.block,
}


ASKS = frozenset({
    "cudaFuncSetAttribute", "cudaFuncGetAttributes", "cudaFuncSetCacheConfig",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaOccupancyMaxPotentialBlockSize",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cudaOccupancyMaxActiveClusters",
    "hipFuncSetAttribute", "hipOccupancyMaxActiveBlocksPerMultiprocessor",
})  # fmt: skip
"""Calls of the CUDA runtime that ask or tell something about a kernel, and launch nothing."""


def _under(guards: Guards, test: Predicate) -> Guards:
    return guards if test in guards else (*guards, test)
