"""The console that the reporters write tables to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer_app.reporters.visible import visible

# What is piped into a file or a pager has no width of its own.
_WIDTH_WITHOUT_TERMINAL = 120
_NARROWEST_NAME = 16
_GAP = 2


def console(stream: TextIO) -> Console:
    """A console on `stream` that takes no text for markup, and has no colour where `stream` is no terminal."""
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def table(
    out: Console, columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", folds: bool = False
) -> Table:
    """A table of these rows as wide as `out`; an empty row is a blank line.

    The first column holds foreign names and is cut off where the others, which are shown whole, leave no room; if it
    `folds` it goes on in the next line.
    The others are numbers and right-aligned, unless their name starts with "<".
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    names = [name.removeprefix("<") for name in columns]
    widths = [max(map(cell_len, column)) for column in zip(names, *filter(None, cells), strict=True)]
    room = out.width - sum(widths[1:]) - _GAP * len(widths)
    made = Table(
        box=None, pad_edge=False, padding=(0, _GAP, 0, 0), title=title or None, title_justify="left",
        title_style="bold", header_style="dim",
    )  # fmt: skip
    for position, (name, width) in enumerate(zip(columns, widths, strict=True)):
        made.add_column(
            name.removeprefix("<"), justify="left" if position == 0 or name.startswith("<") else "right",
            width=min(width, max(room, _NARROWEST_NAME)) if position == 0 else width,
            no_wrap=not (folds and position == 0), overflow="fold" if folds else "ellipsis",
        )  # fmt: skip
    for row in cells:
        made.add_row(*map(Text, row))
    return made
