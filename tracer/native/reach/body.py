"""What one function's body uses: calls, launches and names, each with the conditions that it stands under."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from ....report.settle import negated
from ..directives import without_comments
from ..lowering import CHECKS
from ..syntax import children, parsed, text_of
from .conditions import Checked, Guards, condition, may_ask, words
from .flow import Flow, Lines, under
from .spelled import CASTS, NAMES, Given, declared_name, designated, named, strings, template_lists
from .uses import Body, Use

if TYPE_CHECKING:
    from tree_sitter import Node


def body_of(text: str, line: int, opened: tuple[Lines, ...] = ()) -> Body:
    """Read the text of a body, whose first line in the file is `line`; of lines in `opened` it is not known
    whether they are compiled.
    """
    root = parsed(f"void f() {text}" if text.startswith("{") else f"void f() {{{text};}}")
    walk = _Walk(root, line, opened)
    walk.statement(root, ())
    changed = frozenset(use.name for use in walk.uses if use.kind == "let" and not use.fixed)
    return Body(tuple(walk.uses), tuple(sorted(walk.odd)), changed)


_SHORT = ("&&", "||", "and", "or")


class _Walk(Flow):
    """One pass over a body's tree, by its expressions."""

    def expression(self, node: Node, guards: Guards) -> Guards | None:
        """Walk an expression or declaration; a call that is sure to raise ends the block."""
        kind = node.type
        if kind == "call_expression":
            return self.call(node, guards)
        if kind == "raw_string_content":
            self.written(node, guards)
            return guards
        if kind == "parenthesized_expression" and _throws(node):
            return self.thrown(node, guards)
        if kind == "conditional_expression":
            return self.ternary(node, guards)
        if kind == "binary_expression" and text_of(node.child_by_field_name("operator")) in _SHORT:
            return self.short(node, guards)
        if kind == "lambda_expression":
            self.function(node, guards)
            return guards
        if kind in _TYPES:
            self.aside(partial(self.members, node, guards), "one of its functions is called")
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

    def function(self, node: Node, guards: Guards) -> None:
        """A lambda: one that is handed on is taken to be called, of another that is not known."""
        body = node.child_by_field_name("body")
        if body is None:
            return
        handed = node.parent is not None and node.parent.type in ("argument_list", "call_expression")
        doubt = self._doubt if handed else f"the function of line {self.line(node)} is called"
        kept, broke = self._doubt, self._broke
        self._doubt, self._broke = doubt, None
        self.statement(body, guards)
        self._doubt, self._broke = kept, broke

    def members(self, node: Node, guards: Guards) -> None:
        """A class inside of a function."""
        for child in children(node):
            self.statement(child, guards)

    def written(self, node: Node, guards: Guards) -> None:
        """Source that is compiled when it runs: the kernels whose addresses it takes."""
        text = without_comments(text_of(node))
        for found in _ADDRESS.finditer(text):
            line = self.line(node) + text.count("\n", 0, found.start())
            self.uses.append(Use("written", found[1], line, guards))

    def ternary(self, node: Node, guards: Guards) -> Guards:
        asked = node.child_by_field_name("condition")
        if asked is not None:
            self.expression(asked, guards)
        test = condition(asked)
        for name, holds in (("consequence", test), ("alternative", negated(test))):
            arm = node.child_by_field_name(name)
            if arm is not None:
                self.expression(arm, under(guards, holds))
        return guards

    def short(self, node: Node, guards: Guards) -> Guards:
        """`a && b`, where b is computed under a."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        test = condition(left)
        is_and = text_of(node.child_by_field_name("operator")) in ("&&", "and")
        if left is not None and right is not None:
            self.expression(left, guards)
            self.expression(right, under(guards, test if is_and else negated(test)))
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
        fixed = node.type == "init_declarator" and _is_constant(node.parent)
        self.uses.append(Use("let", name, self.line(node), guards, (Given(names),), test=test, fixed=fixed))
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
            self.uses.append(
                Use(kind, name, self.line(node), guards, args, templates, on=on, caught=self._caught)
            )
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
            inner = under(guards, condition(given[0], self._subject))
        for arg in given:
            self.expression(arg, inner)
        self._subject = outer

    def check(self, name: str, node: Node, given: list[Node], guards: Guards) -> Guards | None:
        """A check holds for what comes after it; one that never holds ends the block."""
        for arg in given[1:]:
            if arg.type not in ("raw_string_literal", "string_literal", "concatenated_string"):
                self.expression(arg, guards)
        failed = name in NEVER or (bool(given) and text_of(given[0]) in ("false", "0"))
        said = "".join(text_of(part) for arg in given for part in strings(arg))
        test = None if failed else condition(given[0] if given else None)
        said = said or name
        self.checked(said, self.line(node), guards, test)
        if failed:
            return None
        return under(guards, Checked(test)) if test is not None and may_ask(test) else guards


_TYPES = ("struct_specifier", "class_specifier", "union_specifier")
_ADDRESS = re.compile(
    r"(?:=|reinterpret_cast\s*<\s*void\s*\*\s*>\s*\()\s*&\s*((?:\w+::)*[A-Za-z_]\w*)\s*[<;)]"
)
"""The address of a kernel, taken in text that is compiled later."""


def _throws(node: Node) -> bool:
    """Whether it is `(throw ...)`, of which the grammar takes the word for an error."""
    first = node.named_children[0] if node.named_children else None
    return first is not None and first.type == "ERROR" and text_of(first) == "throw"


NEVER = frozenset({
    "STD_TORCH_CHECK_NOT_IMPLEMENTED_ALWAYS", "TORCH_INTERNAL_ASSERT_UNREACHABLE", "CUTE_GCC_UNREACHABLE",
})  # fmt: skip
"""Calls that raise whatever they are given."""


ASKS = frozenset({
    "cudaFuncSetAttribute", "cudaFuncGetAttributes", "cudaFuncSetCacheConfig",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaOccupancyMaxPotentialBlockSize",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cudaOccupancyMaxActiveClusters",
    "hipFuncSetAttribute", "hipOccupancyMaxActiveBlocksPerMultiprocessor",
})  # fmt: skip
"""Calls of the CUDA runtime that ask or tell something about a kernel, and launch nothing."""


def _is_constant(declaration: Node | None) -> bool:
    qualifiers = [] if declaration is None else declaration.named_children
    return any(text_of(q) in ("const", "constexpr") for q in qualifiers if q.type == "type_qualifier")
