"""For terminals that show ASCII alone: how frames are drawn, and how keys are called."""

from __future__ import annotations

CSS = """
Rows, Beside, WhatIf, Help VerticalScroll { border: ascii $primary; }
Rows:focus, WhatIf:focus { border: ascii $accent; }
Toast { border-left: none; border-right: none; }
CommandPalette #--input, CommandPalette CommandList, CommandPalette LoadingIndicator { border: none; }
CommandPalette SearchIcon { display: none; }
Screen Rows, Screen VerticalScroll, Screen OptionList { scrollbar-size: 0 0; }
"""

KEYS = {
    "right": "Right",
    "left": "Left",
    "up": "Up",
    "down": "Down",
    "enter": "Enter",
    "backspace": "Backspace",
    "escape": "Esc",
}
"""Keys that textual draws with signs beyond ASCII."""
