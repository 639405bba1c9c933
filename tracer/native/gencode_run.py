"""A CMake build followed as its text goes: where a condition is not known, both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...report.predicate import Site
from .gencode_conditions import holds
from .gencode_lists import keyworded
from .gencode_scope import ON, OPEN, Flow, Scope, items, texts
from .gencode_text import DEPTH, Block, Body, Command, UnreadableError, Word, tree

if TYPE_CHECKING:
    from ..sources import Source

_SETTING = ("set", "unset", "list")
_LEAVING = ("return", "break", "continue")


def _on() -> Flow:
    return ON


class Run:
    """One run of a build's text, by a table of the commands that mean something here."""

    def __init__(self, source: Source, known: Mapping[str, str], table: Mapping[str, Means]) -> None:
        self.source = source
        self.scope = Scope(known)
        self.site = Site("", 0)
        """Where the command stands that is being run, of nested ones the outermost."""
        self.sites: dict[str, Site] = {}
        """Of what is told of files, where it stands."""
        self._table = table
        self._outputs: dict[str, set[str]] = {}
        self._functions: dict[str, Block | None] = {}
        self._depth = self._calls = self._doubts = 0
        self._path = ""

    def file(self, path: str) -> Flow:
        """Run a file of the source."""
        body = tree(self.source.text(path) or "")
        self._note(body)
        for name in (*_SETTING, *self._functions):
            self.scope.own |= self._outputs.get(name, set())
        outer, self._path = self._path, path
        self.scope.bound.append({})
        flow = self._block(body)
        self.scope.bound.pop()
        self._path = outer
        return flow - {"return"} | ON if "return" in flow and outer else flow

    def _note(self, body: Body) -> None:
        """Collect what commands name first: variables of this text's own, where the command sets that one."""
        for node in body:
            if isinstance(node, Block):
                for _, inner in node.arms:
                    self._note(inner)
            elif len(node.words) > (at := int(node.name == "list")):
                self._outputs.setdefault(node.name, set()).add(node.words[at].text)

    def _block(self, body: Body) -> Flow:
        self._depth += 1
        if self._depth > DEPTH:
            raise UnreadableError("calls within calls")
        left: Flow = frozenset()
        for at, node in enumerate(body):
            flow = self._node(node)
            if "on" not in flow:
                left |= flow
                break
            if flow != ON:
                # It may have left here, so what follows stands under a condition that is not known.
                rest = body[at + 1 :]
                left |= flow | self._perhaps(partial(self._block, rest), _on)
                break
        else:
            left = ON
        self._depth -= 1
        return left

    def _node(self, node: Command | Block) -> Flow:
        if isinstance(node, Command):
            return self._command(node)
        name = node.head.name
        if name == "if":
            return self._arms(node.arms)
        if name in ("function", "macro"):
            called = node.head.words[0].text.lower() if node.head.words else ""
            self._functions[called] = None if self._doubts else node
            self.scope.own |= self._outputs.get(called, set())
            return ON
        return self._loop(node)

    def _arms(self, arms: list[tuple[Command, Body]]) -> Flow:
        for at, (head, body) in enumerate(arms):
            test = head.name == "else" or holds(head.words, self.scope)
            if test:
                return self._block(body)
            if test is None:
                rest = arms[at + 1 :]
                return self._perhaps(partial(self._block, body), partial(self._arms, rest))
        return ON

    def _perhaps(self, *ways: Callable[[], Flow]) -> Flow:
        self._doubts += 1
        self._depth += 1
        if self._depth > DEPTH:
            raise UnreadableError("conditions within conditions")
        flow = self.scope.perhaps(*ways)
        self._depth -= 1
        self._doubts -= 1
        return flow

    def _loop(self, block: Block) -> Flow:
        words = self.scope.expanded(block.head.words)
        name, body = (words[0].text if words else ""), block.arms[0][1]
        values = self._items(words[1:]) if block.head.name == "foreach" else None
        if values is not None:
            return self._each(name, body, values)
        flow: Flow = ON
        while True:
            before = (self.scope.frames, self.scope.facts)
            flow |= self._perhaps(partial(self._each, name, body, [OPEN]), _on)
            if before == (self.scope.frames, self.scope.facts):
                return flow

    def _items(self, words: Sequence[Word]) -> list[str] | None:
        """What a loop goes over; None where that is not known."""
        plain = texts(words)
        if plain[:1] == ["IN"]:
            under = keyworded(plain[1:], {"LISTS", "ITEMS", "ZIP_LISTS"})
            lists = [item for name in under.get("LISTS", ()) for item in items(self.scope.value(name))]
            plain = [*lists, *under.get("ITEMS", ()), *([OPEN] if "ZIP_LISTS" in under else ())]
        elif plain[:1] == ["RANGE"]:
            return None
        return None if any(OPEN in item for item in plain) else plain

    def _each(self, name: str, body: Body, values: Sequence[str]) -> Flow:
        left: Flow = frozenset()
        for at, value in enumerate(values):
            self.scope.set(name, value)
            flow = self._block(body)
            left |= flow & {"return"}
            if not flow & {"on", "continue"}:
                return left | (ON if "break" in flow else frozenset())
            if flow & {"break", "return"}:
                rest = values[at + 1 :]
                return left | self._perhaps(partial(self._each, name, body, rest), _on)
        return left | ON

    def _command(self, command: Command) -> Flow:
        self.scope.spend(1)
        if not self._calls:
            self.site = Site(self._path, command.line)
        words = self.scope.expanded(command.words)
        if command.name in _LEAVING:
            return frozenset((command.name,))
        if command.name == "message":
            # A build that stops here is none that anybody has.
            return frozenset() if words and words[0].text == "FATAL_ERROR" else ON
        if command.name in self._table:
            flow = self._table[command.name](self, words) if words else None
            return ON if flow is None else flow
        if command.name in self._functions:
            return self._call(self._functions[command.name], words)
        self.scope.forget(words)
        return ON

    def _call(self, block: Block | None, words: Sequence[Word]) -> Flow:
        if block is None:
            raise UnreadableError("a function that may be another one")
        names = [word.text for word in block.head.words[1:]]
        given = [word.text for word in words]
        # Nobody knows how many words stand where an unquoted one is open: what follows may be moved.
        sure = next((at for at, w in enumerate(words) if OPEN in w.text and not w.quoted), len(names))
        bound = {name: given[at] if at < min(sure, len(given)) else "" for at, name in enumerate(names)}
        bound |= dict.fromkeys(names[sure:], OPEN)
        bound["ARGV"] = ";".join(given)
        bound["ARGN"] = ";".join(given[len(names) :]) if sure >= len(names) else OPEN
        self._calls += 1
        is_macro = block.head.name == "macro"
        self.scope.bound.append(bound if is_macro else {})
        if not is_macro:
            self.scope.spend(len(self.scope.frames[-1]))
            self.scope.frames.append(self.scope.frames[-1] | bound)
        flow = self._block(block.arms[0][1])
        if not is_macro:
            self.scope.frames.pop()
        self.scope.bound.pop()
        self._calls -= 1
        return flow if is_macro or not flow else ON


Means = Callable[[Run, Sequence[Word]], Flow | None]
"""What a command does; None: the run goes on behind it."""
