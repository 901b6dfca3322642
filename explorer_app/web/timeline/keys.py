"""What the keyboard and the mouse do on the timeline (assets/timeline_input.js does it)."""

from __future__ import annotations

from typing import Final

# What a newcomer needs; the details panel shows these until a slice is selected.
FIRST_KEYS: Final = (
    ("W  S", "zoom in and out at the pointer"),
    ("A  D", "move to earlier, to later"),
    ("Click", "select a slice: everything about it is shown"),
    ("Double click", "zoom to a slice"),
    ("Shift + drag", "sum up a range; so does dragging on the ruler"),
    ("/", "find slices by name"),
)
MORE_KEYS: Final = (
    ("Ctrl + wheel", "zoom at the pointer"),
    ("Drag", "move; the wheel scrolls the tracks"),
    ("← →", "the slice before and the next on the same row"),
    ("↑ ↓", "the slice around it, the first one inside"),
    ("F", "fit the selected slice, or the range"),
    ("0", "show the whole trace"),
    ("N  P", "the next hit of the search, the one before"),
    ("Esc", "drop the range, then the slice, then the search"),
)
KEYS: Final = FIRST_KEYS + MORE_KEYS
