"""The statements of one function's body in order: which conditions each of them stands under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....report.predicate import Opaque, Predicate
from ....report.settle import negated
from ..syntax import children, text_of, within
from .conditions import Checked, Guards, condition, either, may_ask, words
from .spelled import Given, designated, strings
from .stale import Settings
from .uses import Use

if TYPE_CHECKING:
    from tree_sitter import Node

Lines = tuple[int, int]
"""The first and the last."""


_LEAVES = ("return_statement", "goto_statement")


class Flow:
    """One pass over a body's tree, by its statements."""

    def __init__(self, root: Node, line: int, opened: tuple[Lines, ...]) -> None:
        self.first, self._opened = line, opened
        self._settings = Settings(root)
        self.uses: list[Use] = []
        self.odd: set[int] = set()
        self._subject: str | None = None
        self._broke: bool | None = None
        """Whether the switch that is walked was left by a `break`; None outside of one."""
        self._may_have_left = False
        """Whether what is walked may not be come to, for reasons that its conditions do not tell."""
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
        if kind == "throw_statement":
            return self.thrown(node, guards)
        if kind in _LEAVES:
            names = tuple(name for child in children(node) for name in designated(child))
            if kind == "return_statement" and names:
                self.uses.append(Use("return", "", self.line(node), guards, (Given(names),)))
            self.expression(node, guards)
            return None
        return self.expression(node, guards)

    def block(self, node: Node, guards: Guards) -> Guards | None:
        here: Guards | None = guards
        home = region = self._open_at(self.line(node))
        before = here
        for child in children(node):
            at = self._open_at(self.line(child))
            if at != region:
                # What may not be compiled changes nothing for what comes after it.
                here = here if region == home else before
                before, region = here, at
            if here is not None:
                after = self.statement(child, here)
                here = None if after is None else self._settings.still(after, child, self.line(child))
            elif region == home:
                # What stands behind a return is reached by a label alone.
                return None
        return here if region == home else before

    def _open_at(self, line: int) -> Lines | None:
        return next((lines for lines in self._opened if lines[0] <= line <= lines[1]), None)

    def branch(self, node: Node, guards: Guards) -> Guards | None:
        clause = node.child_by_field_name("condition")
        value = clause.child_by_field_name("value") if clause is not None else None
        if clause is not None:
            self.expression(clause, guards)
        test = condition(value)
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if then is not None and other is None and (thrown := _only_throws(then)) is not None:
            return self.thrown(thrown, guards, negated(test))
        returned = self._may_have_left
        after = self.statement(then, under(guards, test)) if then is not None else guards
        refused = under(guards, negated(test))
        self._may_have_left, inner = returned, self._may_have_left
        # The other arm is walked even where it is empty: what comes after may hang on the test alone.
        otherwise = self.block(other, refused) if other is not None else refused
        if after is None:
            return otherwise
        self._may_have_left = self._may_have_left or inner
        if otherwise is None:
            return after
        self._left_maybe(node)
        return guards

    def thrown(self, node: Node, guards: Guards, unless: Predicate | None = None) -> Guards | None:
        """What is thrown: a check that never holds, or that raises unless a test holds."""
        parts = ["".join(map(text_of, strings(part))) for part in _handed(node)]
        said = ": ".join(filter(None, parts)) or " ".join(text_of(node).split())
        if unless is None:
            self.uses.append(Use("check", said, self.line(node), self.surely(guards)))
            return None
        self.uses.append(Use("check", said, self.line(node), guards, test=unless))
        return under(guards, Checked(unless)) if may_ask(unless) else guards

    def surely(self, guards: Guards) -> Guards:
        """The conditions of what raises whatever it is given: what came before may have returned."""
        return under(guards, Opaque("nothing before it returns")) if self._may_have_left else guards

    def _left_maybe(self, node: Node) -> None:
        """What comes after a statement that returns under conditions which are not kept."""
        if any(below.type in _LEAVES for below in within(node)):
            self._may_have_left = True

    def loop(self, node: Node, guards: Guards) -> Guards | None:
        body = node.child_by_field_name("body")
        if node.type == "do_statement" and body is not None and _runs_once(node):
            return self.statement(body, guards)
        outer, self._broke = self._broke, None
        guards = self._settings.still(guards, node, self.line(node))
        for child in children(node):
            self.statement(child, guards)
        self._broke = outer
        self._left_maybe(node)
        return guards

    def switch(self, node: Node, guards: Guards) -> Guards | None:
        clause, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        subject = words(clause.child_by_field_name("value") if clause is not None else None)
        outer, self._broke = self._broke, False
        here: Guards | None = guards
        has_default = False
        waiting: list[Predicate] = []
        others = _none_of(body, subject)
        for case in [] if body is None else children(body):
            if case.type != "case_statement":
                self.statement(case, guards)
                continue
            value = case.child_by_field_name("value")
            waiting.append(others if value is None else condition(value, subject))
            rest = [child for child in children(case) if child != value]
            here = under(guards, either(waiting))
            for child in rest:
                if here is None:
                    break
                here = self.statement(child, here)
            has_default = has_default or value is None
            # What does not leave goes on with the next case.
            waiting = waiting if here is not None else []
        broke, self._broke = self._broke, outer
        if here is None and not broke:
            return None if has_default else under(guards, others)
        self._left_maybe(node)
        return guards

    def left(self, node: Node, guards: Guards) -> Guards | None:
        """A `break` or `continue`: in a loop what comes after stands under the loop's conditions still."""
        if self._broke is None:
            return guards
        self._broke = self._broke or node.type == "break_statement"
        return None

    def expression(self, node: Node, guards: Guards) -> Guards | None:
        """Walk an expression; give the conditions of what comes after it."""
        raise NotImplementedError


_STATEMENTS = {
    "compound_statement": Flow.block,
    "if_statement": Flow.branch,
    "for_statement": Flow.loop,
    "for_range_loop": Flow.loop,
    "while_statement": Flow.loop,
    "do_statement": Flow.loop,
    "switch_statement": Flow.switch,
    "else_clause": Flow.block,
    "break_statement": Flow.left,
    "continue_statement": Flow.left,
}


def _only_throws(node: Node) -> Node | None:
    """The `throw` that is all that an arm does."""
    inner = children(node) if node.type == "compound_statement" else [node]
    return inner[0] if len(inner) == 1 and inner[0].type == "throw_statement" else None


def _handed(node: Node) -> list[Node]:
    """What an exception is made of: the arguments of its constructor."""
    made = next((below for below in within(node) if below.type == "argument_list"), None)
    return [node] if made is None else children(made)


def _runs_once(loop: Node) -> bool:
    """Whether a loop is the `do { ... } while (0)` of a macro, which nothing leaves early."""
    test = text_of(loop.child_by_field_name("condition"))
    leaves = any(below.type in ("break_statement", "continue_statement") for below in within(loop))
    return test in ("(0)", "(false)") and not leaves


def _none_of(body: Node | None, subject: str) -> Predicate:
    """What a switch's `default` stands under."""
    cases = [child for child in children(body) if child.type == "case_statement"] if body is not None else []
    values = [case.child_by_field_name("value") for case in cases]
    tests = [condition(value, subject) for value in values if value is not None]
    return negated(either(tests)) if tests else condition(None, subject)


def under(guards: Guards, test: Predicate | Checked) -> Guards:
    return guards if test in guards else (*guards, test)
