"""What the keyboard and the mouse do on the timeline (assets/timeline/timeline_input.js does it)."""

from __future__ import annotations

from typing import Final

# What a newcomer needs; the details panel shows these until a slice is selected.
FIRST_KEYS: Final = (
    ("W  S", "zoom in and out at the pointer"),
    ("A  D", "move to earlier, to later"),
    ("Click", "select a slice: everything about it is shown"),
    ("Double click", "zoom to a slice"),
    ("Shift + drag", "sum up a range; so does dragging on the ruler"),
    ("/", "find slices by name, duration, category or track"),
    ("M", "write a note at the pointer, on the measured range, or on the slice walked to by keys"),
)
MORE_KEYS: Final = (
    ("Ctrl + wheel", "zoom at the pointer"),
    ("Drag", "move; the wheel scrolls the tracks"),
    ("← →", "the slice before and the next on the same row"),
    ("↑ ↓", "the slice around it, the first one inside"),
    ("[ ]  Alt + ↑ ↓", "the nearest slice on the track above, on the track below"),
    ("F", "fit the selected slice, or the range"),
    ("0", "show the whole trace"),
    ("T", "keep the track under the pointer, or of the slice walked to, on top, or put it back; so does its pin"),
    ("Shift + ↑ ↓", "move the track under the pointer; so does dragging its name"),
    ("H", "change the height of the rows"),
    ("Shift + click", "on a region: choose it as the range; on a heading: fold all like it"),
    ("N  P", "the next find, the one before; Enter and Shift + Enter while typing"),
    ("Esc", "drop the range, then the slice, then what is looked for"),
)
KEYS: Final = FIRST_KEYS + MORE_KEYS
