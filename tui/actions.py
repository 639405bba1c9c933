"""Everything that can be done, in one table: it feeds the keys, the footer, the palette and the help."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Action(NamedTuple):
    """One thing that can be done."""

    keys: str
    """Separated by commas, as textual names them."""
    name: str
    """The method `action_<name>` of the screen that `place` names."""
    title: str
    """For footer and palette."""
    help: str
    place: str = "report"
    shown: bool = False
    """Whether the footer has room for it."""


ACTIONS = (
    Action("1", "chain", "Chain", "the chain from the flag to the kernel", "app", True),
    Action("2", "findings", "Findings", "what the rules found", "app", True),
    Action("w", "what_if", "What if", "change device, flag or environment, see what changes", "app", True),
    Action("d", "diff", "Diff", "the same question at another pin, hop by hop", "app", True),
    Action("slash", "find", "Find", "go to the next line that has a text", "report", True),
    Action("n", "find_next", "Next", "the next line with that text"),
    Action("N", "find_previous", "Previous", "the line before with that text"),
    Action("down,j", "down(1)", "Down", "one line down"),
    Action("up,k", "up(1)", "Up", "one line up"),
    Action("pagedown,ctrl+d", "down(0)", "Page down", "a page down"),
    Action("pageup,ctrl+u", "up(0)", "Page up", "a page up"),
    Action("home,g", "top", "Top", "the first line"),
    Action("end,G", "bottom", "Bottom", "the last line"),
    Action("enter", "enter", "Open", "unfold, fold; from the overview or a finding to the chain"),
    Action("right,l", "unfold", "Unfold", "show what is below"),
    Action("left,b", "fold", "Fold", "fold what is below, or go to the line above"),
    Action("e", "fold_all", "Unfold all", "unfold everything, or fold everything"),
    Action("h", "hide_untaken", "Hide untaken", "leave out what was not taken, or show it", "report", True),
    Action("o", "editor", "Editor", "open the source in $VISUAL or $EDITOR"),
    Action("y", "copy", "Copy site", "copy path:line to the clipboard"),
    Action("x", "export", "Export", "write the report: .json, .md or .txt", "app"),
    Action("s", "split", "Source", "show or hide the source beside the chain"),
    Action("t", "theme", "Light/dark", "a light or a dark screen", "app"),
    Action("question_mark", "help", "Help", "all keys", "app", True),
    Action("ctrl+p", "command_palette", "Palette", "everything by name", "app"),
    Action("down,j", "field(1)", "Next field", "the next field", "what_if"),
    Action("up,k", "field(-1)", "Field before", "the field before", "what_if"),
    Action("right,l", "value(1)", "Next value", "the next value that it may have", "what_if", True),
    Action("left,b", "value(-1)", "Value before", "the value before", "what_if", True),
    Action("enter", "type", "Type", "type a value", "what_if", True),
    Action("backspace,delete", "unknown", "Unknown", "leave it unknown", "what_if", True),
    Action("escape", "close", "Close", "back to the lines", "what_if", True),
    Action("q", "quit", "Quit", "leave", "app", True),
)  # fmt: skip


def bindings(place: str) -> list[Binding]:
    """The keys of a screen, or of the app."""
    return [
        Binding(a.keys, a.name, a.title, show=a.shown, tooltip=a.help) for a in ACTIONS if a.place == place
    ]


def key_names(action: Action) -> str:
    """The keys as people call them."""
    names = {"slash": "/", "question_mark": "?", "pagedown": "PgDn", "pageup": "PgUp"}
    return " ".join(
        names.get(k, k.capitalize() if len(k) > 1 and "+" not in k else k) for k in action.keys.split(",")
    )
