"""The statements of one function's body in order: which conditions each of them stands under."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ....report.predicate import Opaque, Predicate
from ....report.settle import negated
from ..syntax import children, text_of, within
from .conditions import Checked, Ended, Guard, Guards, condition, either, words
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
        self._doubt: str | None = None
        """Why what is walked may not be come to, where its conditions do not tell."""
        self._caught = False
        """Whether the function goes on where something raises here."""
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

    def _opens_within(self, node: Node) -> bool:
        """Whether some of a statement's lines may not be compiled, and the statement itself is."""
        first, last = self.line(node), self.first + node.end_point[0]
        return any(first < lines[0] <= last for lines in self._opened)

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
        before = self._doubt
        after = self.statement(then, under(guards, test)) if then is not None else guards
        ends = then is not None and other is None and _only_ends(then)
        refused = under(guards, Ended(negated(test)) if ends else negated(test))
        self._doubt, inner = before, self._doubt
        # The other arm is walked even where it is empty: what comes after may hang on the test alone.
        otherwise = self.block(other, refused) if other is not None else refused
        if after is None:
            return otherwise
        self._doubt = self._doubt or inner
        if otherwise is None:
            return after
        self._left_maybe(node)
        return guards

    def thrown(self, node: Node, guards: Guards, unless: Predicate | None = None) -> Guards | None:
        """What is thrown: a check that never holds, or that raises unless a test holds."""
        parts = ["".join(map(text_of, strings(part))) for part in _handed(node)]
        said = ": ".join(filter(None, parts)) or " ".join(text_of(node).split())
        self.checked(said, self.line(node), guards, unless)
        return None if unless is None else under(guards, Checked(unless))

    def checked(self, said: str, line: int, guards: Guards, test: Predicate | None) -> None:
        """Note a check; one whose exception the function catches raises nothing for its caller."""
        if self._caught:
            return
        held = guards if self._doubt is None else under(guards, Opaque(self._doubt))
        self.uses.append(Use("check", said, line, held, test=test, doubt=self._doubt is not None))

    def aside(self, walk: Callable[[], object], doubt: str, caught: bool | None = None) -> None:
        """Walk what may not be come to."""
        kept = self._doubt, self._caught, self._broke
        self._doubt, self._broke = doubt, None
        self._caught = self._caught if caught is None else caught
        walk()
        self._doubt, self._caught, self._broke = kept

    def attempt(self, node: Node, guards: Guards) -> Guards | None:
        """A `try`: what raises in it goes on in a handler."""
        body = node.child_by_field_name("body")
        if body is not None:
            kept, self._caught = self._caught, True
            self.block(body, guards)
            self._caught = kept
        for handler in children(node):
            inner = handler.child_by_field_name("body") if handler.type == "catch_clause" else None
            if inner is not None:
                raised = Opaque(f"the `try` of line {self.line(node)} raises")
                self.aside(partial(self.block, inner, under(guards, raised)), "an exception is caught")
        self._left_maybe(node)
        return guards

    def _left_maybe(self, node: Node) -> None:
        """What comes after a statement that returns under conditions which are not kept."""
        if any(below.type in _LEAVES for below in within(node)):
            self._doubt = self._doubt or "nothing before it returns"

    def loop(self, node: Node, guards: Guards) -> Guards | None:
        body = node.child_by_field_name("body")
        if node.type == "do_statement" and body is not None and _runs_once(node):
            return self.statement(body, guards)
        guards = self._settings.still(guards, node, self.line(node))

        def rounds() -> None:
            for child in children(node):
                self.statement(child, guards)

        self.aside(rounds, f"the loop of line {self.line(node)} comes to it")
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
        if here is None and not broke and not self._opens_within(node):
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
    "try_statement": Flow.attempt,
    "break_statement": Flow.left,
    "continue_statement": Flow.left,
}


def _only_ends(node: Node) -> bool:
    """Whether an arm does nothing but return, and computes nothing for that."""
    inner = children(node) if node.type == "compound_statement" else [node]
    is_return = len(inner) == 1 and inner[0].type == "return_statement"
    return is_return and not any(below.type == "call_expression" for below in within(inner[0]))


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


def under(guards: Guards, test: Guard) -> Guards:
    return guards if test in guards else (*guards, test)
