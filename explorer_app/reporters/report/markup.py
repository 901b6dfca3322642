"""HTML and SVG as text in which nothing foreign is markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from explorer_app.reporters.visible import visible

LONGEST_NAME: Final = 160
_LONGEST_TOOLTIP: Final = 1000
_NO_NAME: Final = "(no name)"
_VOID: Final = frozenset({"meta", "rect", "line", "circle", "path"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Markup


def element(tag: str, /, *content: Content, **attributes: object) -> Markup:
    """An element; text in it and its attributes are escaped, Markup is not.

    In the names of attributes "_" stands for "-", save in front of a name that Python keeps for itself (`_class`).
    An attribute that is None is left out.
    """
    said = "".join(
        f' {name.removeprefix("_").replace("_", "-")}="{escape(visible(str(value)))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{said}/>") if tag in _VOID else Markup(f"<{tag}{said}>{joined(content)}</{tag}>")


def joined(content: Iterable[Content]) -> Markup:
    """The contents one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(visible(part)) for part in content))


def lines(text: str) -> Markup:
    """Text of several lines, as it is but for what is invisible in it."""
    return Markup("\n".join(escape(visible(line)) for line in text.split("\n")))


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """A name that is never empty and never endless."""
    if not text.strip():
        return _NO_NAME
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def named(text: str, longest: int = LONGEST_NAME) -> Markup:
    """A name from a trace; what does not fit is in its tooltip."""
    short = shortened(text, longest)
    return element("span", short, title=shortened(text, _LONGEST_TOOLTIP) if short != text else None)


def told(text: str, exact: str) -> Markup:
    """A number with its exact value as a tooltip."""
    return element("span", text, title=exact)
