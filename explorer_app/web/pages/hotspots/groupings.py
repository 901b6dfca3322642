"""What a row of the grid may stand for."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Grouping(NamedTuple):
    """What the rows stand for: in the switch and the heading of the column, and in the question."""

    heading: str
    plural: str


FIRST_GROUPING: Final = "name"
GROUPINGS: Final = {
    "name": Grouping("Operation", "operations"),
    "category": Grouping("Category", "categories"),
    "op": Grouping("Operator and shapes", "operators and shapes"),
    "module": Grouping("Module", "modules"),
    "source": Grouping("Source line", "source lines"),
    "track": Grouping("Track", "tracks"),
}


def grouping_of(asked: Any) -> str:
    """The grouping that the browser asks for; the first for what names none."""
    return asked if isinstance(asked, str) and asked in GROUPINGS else FIRST_GROUPING
