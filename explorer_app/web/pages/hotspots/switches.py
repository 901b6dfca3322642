"""The two switches above the grid, and how its parts are laid out."""

from __future__ import annotations

from typing import Any

from explorer_app.web.links import page_href
from explorer_app.web.pages.hotspots.groupings import FIRST_GROUPING, GROUPINGS
from explorer_app.web.pages.hotspots.shape import SHOWN, Shape
from explorer_app.web.pages.hotspots.tree import PATH
from explorer_app.web.switch import switch_links
from explorer_app.web.view import View


def parts_class(shape: Shape) -> str:
    """The class of the place that holds grid and tree."""
    beside = " np-beside" if shape.show == "grid" and shape.is_wide else ""
    return f"np-hotspots-parts np-show-{shape.show}{beside}"


def by_links(view: View, by: str, shape: Shape) -> list[Any]:
    """What a row may stand for."""
    headings = {value: grouping.heading for value, grouping in GROUPINGS.items()}
    return switch_links(headings, by, lambda value: _href(view, value, shape.query()))


def shown_links(view: View, by: str, shape: Shape) -> list[Any]:
    """How the operations may be shown."""

    def href(value: str) -> str:
        rest = {name: said for name, said in shape.query().items() if name != "show"}
        return _href(view, by, rest if value == "grid" else {"show": value, **rest})

    return switch_links(SHOWN, shape.show, href)


def _href(view: View, by: str, query: dict[str, str]) -> str:
    return page_href(view, PATH, **{} if by == FIRST_GROUPING else {"by": by}, **query)
