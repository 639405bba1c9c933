"""The statements of one function's body in order: which conditions each of them stands under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....report.predicate import Predicate
from ....report.settle import negated
from ..syntax import children
from .conditions import Checked, Guards, condition, either, words
from .spelled import Given, designated
from .stale import Settings
from .uses import Use

if TYPE_CHECKING:
    from tree_sitter import Node

Lines = tuple[int, int]
"""The first and the last."""


_LEAVES = ("return_statement", "throw_statement", "goto_statement")


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
        after = self.statement(then, under(guards, test)) if then is not None else guards
        refused = under(guards, negated(test))
        # The other arm is walked even where it is empty: what comes after may hang on the test alone.
        otherwise = self.block(other, refused) if other is not None else refused
        if after is None:
            return otherwise
        return after if otherwise is None else guards

    def loop(self, node: Node, guards: Guards) -> Guards | None:
        outer, self._broke = self._broke, None
        guards = self._settings.still(guards, node, self.line(node))
        for child in children(node):
            self.statement(child, guards)
        self._broke = outer
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
        ends = has_default and here is None and not self._broke
        self._broke = outer
        return None if ends else guards

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


def _none_of(body: Node | None, subject: str) -> Predicate:
    """What a switch's `default` stands under."""
    cases = [child for child in children(body) if child.type == "case_statement"] if body is not None else []
    values = [case.child_by_field_name("value") for case in cases]
    tests = [condition(value, subject) for value in values if value is not None]
    return negated(either(tests)) if tests else condition(None, subject)


def under(guards: Guards, test: Predicate | Checked) -> Guards:
    return guards if test in guards else (*guards, test)
