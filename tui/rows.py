"""A tree of lines that stays smooth at a hundred thousand: only what is on the screen is ever drawn."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..report.names import one_line
from ..report.text.page import ASCII, Tone
from .lines import Line, at_first, untaken
from .words import said

OPEN, SHUT, LEAF = "▼ ", "▶ ", "  "
STEP = 2
"""Columns that a level goes in."""


class Rows(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor, some of them folded away."""

    COMPONENT_CLASSES = {f"rows--{tone.name.lower()}" for tone in Tone} | {"rows--cursor"}
    DEFAULT_CSS = """
    Rows { background: $surface; color: $foreground; border: round $primary; }
    Rows:focus { border: round $accent; }
    Rows .rows--head { text-style: bold; }
    Rows .rows--dim { color: $text-muted; }
    Rows .rows--good { color: $text-success; }
    Rows .rows--bad { color: $text-error; }
    Rows .rows--doubt { color: $text-warning; }
    Rows .rows--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    Rows .rows--cursor { text-style: bold; }
    """
    cursor = reactive(0, repaint=False)
    """The number of the line that is chosen, counted in what can be seen."""

    class Chosen(Message):
        """The cursor is on another line, or other lines are shown."""

        def __init__(self, line: Line | None) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, unicode: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[Line] = []
        self.seen: list[int] = []
        """The numbers of the lines that are not folded away."""
        self.folded: set[int] = set()
        self.hides_untaken = False
        self._table = None if unicode else ASCII
        self._styles: dict[Tone, Style] = {}

    # --- what is shown

    def show(self, lines: list[Line]) -> None:
        """Show other lines; the cursor stays where a line of the same words is."""
        before = self._known_by(self.seen[self.cursor]) if self.line is not None else None
        self.lines = lines
        self.folded = {number for number, line in enumerate(lines) if at_first(line)}
        self._again()
        self.cursor = self._like(before)
        self._chosen()

    def _like(self, before: tuple[object, ...] | None) -> int:
        """Where a line is that is what the chosen one was; the first line if there is none."""
        if before is None:
            return 0
        return next((place for place, number in enumerate(self.seen) if self._known_by(number) == before), 0)

    def _known_by(self, number: int) -> tuple[object, ...]:
        """What tells a line from others, in the next report too: its chain, what it stands below, itself."""
        line, path = self.lines[number], []
        depth = line.depth + 1
        for above in range(number, -1, -1):
            if self.lines[above].depth < depth:
                depth = self.lines[above].depth
                path.append(said(self.lines[above]).text() if depth else "")
            if depth == 0:
                break
        chain = line.chain
        return type(line.about), *path, (chain.layer, chain.premises) if chain else said(line).text()

    def _again(self) -> None:
        self.seen = list(self._unfolded())
        self.virtual_size = Size(0, len(self.seen))
        self.refresh()

    def _unfolded(self) -> Iterable[int]:
        below = None
        for number, line in enumerate(self.lines):
            if below is not None and line.depth > below:
                continue
            below = None
            if self.hides_untaken and untaken(line):
                below = line.depth
                continue
            yield number
            if number in self.folded:
                below = line.depth

    @property
    def line(self) -> Line | None:
        """The chosen line."""
        return self.lines[self.seen[self.cursor]] if self.cursor < len(self.seen) else None

    def folds(self, number: int) -> bool:
        """Whether a line has others below it."""
        return number + 1 < len(self.lines) and self.lines[number + 1].depth > self.lines[number].depth

    # --- what can be done

    def move(self, by: int) -> None:
        """Go down, or up where it is negative, as far as there are lines."""
        self.cursor = max(0, min(len(self.seen) - 1, self.cursor + by))

    def page(self) -> int:
        """Lines that are on the screen at once."""
        return max(1, self.scrollable_content_region.height - 1)

    def fold(self, shut: bool | None = None) -> None:
        """Fold what is below the chosen line, or unfold it; None turns it round. From what cannot be folded
        it goes to the line above.
        """
        if not self.seen:
            return
        number = self.seen[self.cursor]
        if not self.folds(number) or (shut and number in self.folded):
            if shut:
                self._to_parent(number)
            return
        shut = number not in self.folded if shut is None else shut
        (self.folded.add if shut else self.folded.discard)(number)
        self._again()

    def _to_parent(self, number: int) -> None:
        above = (n for n in range(number - 1, -1, -1) if self.lines[n].depth < self.lines[number].depth)
        parent = next(above, None)
        if parent in self.seen:
            self.cursor = self.seen.index(parent)

    def fold_all(self) -> None:
        """Unfold everything; fold it again where nothing is folded."""
        some = {number for number in range(len(self.lines)) if self.folds(number)}
        self.folded = set() if self.folded & some else some
        self._keep()

    def hide_untaken(self) -> None:
        """Leave out what was not taken, or show it again."""
        self.hides_untaken = not self.hides_untaken
        self._keep()

    def _keep(self) -> None:
        """Draw again; the cursor stays on its line, or goes to the one that it is folded into."""
        number = self.seen[self.cursor] if self.seen else 0
        self._again()
        self.cursor = max((place for place, n in enumerate(self.seen) if n <= number), default=0)
        self._chosen()

    def find(self, text: str, step: int = 1) -> bool:
        """Go to the next line that has `text`, to the one before where `step` is -1; whether there is one."""
        text, count = text.casefold(), len(self.lines)
        start = self.seen[self.cursor] if self.seen else 0
        for away in range(1, count + 1):
            number = (start + step * away) % count
            words = said(self.lines[number])
            if text in f"{words.text()} {words.aside} {words.site or ''}".casefold():
                self.go_to(number)
                return True
        return False

    def go_to(self, number: int) -> None:
        """Choose a line, and unfold what it is in."""
        depth = self.lines[number].depth
        for above in range(number - 1, -1, -1):
            if self.lines[above].depth < depth:
                depth = self.lines[above].depth
                self.folded.discard(above)
        if self.hides_untaken and untaken(self.lines[number]):
            self.hides_untaken = False
        self._again()
        self.cursor = self.seen.index(number)
        self._chosen()

    # --- drawing

    def watch_cursor(self, before: int, after: int) -> None:
        if before != after:
            self._chosen()

    def _chosen(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)
        self.refresh()
        self.post_message(self.Chosen(self.line))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

    def render_line(self, y: int) -> Strip:
        place = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if place >= len(self.seen):
            return Strip.blank(width, self.rich_style)
        segments = self._cut(list(self._segments(self.seen[place], width)), width)
        style = self.rich_style
        if place == self.cursor:
            style = self.get_component_rich_style("rows--cursor")
            segments = [Segment("".join(segment.text for segment in segments), style)]
        return Strip(segments).adjust_cell_length(width, style)

    def _cut(self, segments: list[Segment], width: int) -> list[Segment]:
        """What fits, and a sign where not all of it does."""
        if sum(segment.cell_length for segment in segments) <= width:
            return segments
        whole = Strip(segments).crop(0, width - 1)
        return [*whole, self._segment("…", Tone.DIM)]

    def _segments(self, number: int, width: int) -> Iterable[Segment]:
        """Fold sign, mark and name, what stands beside it, and the site at the right where there is room."""
        line = self.lines[number]
        words = said(line)
        sign = (SHUT if number in self.folded else OPEN) if self.folds(number) else LEAF
        mark = f"{words.mark} " if words.mark else ""
        lead = f"{' ' * (STEP * line.depth)}{sign}"
        yield self._segment(lead, Tone.DIM)
        yield self._segment(mark, words.tone)
        used = cell_len(lead) + cell_len(mark)
        name = words.text(width - used)
        yield self._segment(name, Tone.HEAD if words.tone is Tone.HEAD else Tone.PLAIN)
        used += cell_len(name)
        aside = f"  {words.aside}" if words.aside else ""
        yield self._segment(aside, Tone.DIM)
        site = one_line(str(words.site).rpartition("/")[2]) if words.site else ""
        gap = width - used - cell_len(aside) - cell_len(site) - 1
        if site and gap >= 2:
            yield self._segment(f"{' ' * gap}{site} ", Tone.DIM)

    def _segment(self, text: str, tone: Tone) -> Segment:
        if tone not in self._styles:
            self._styles[tone] = self.get_component_rich_style(f"rows--{tone.name.lower()}")
        if self._table is not None:
            text = text.translate(self._table | {ord("▼"): "v", ord("▶"): ">"})
            text = text.encode("ascii", "backslashreplace").decode()
        return Segment(text, self._styles[tone])
