"""Names from a trace as the pages show them: never empty, never endless, nothing invisible in them.

assets/np_names.js does the same in the browser; tests/web/test_names.py holds the two together.
"""

from __future__ import annotations

from typing import Final

from dash import html

from explorer_app.reporters.visible import visible

NO_NAME: Final = "(no name)"
LONGEST_LABEL: Final = 400
_LONGEST_IN_SENTENCE: Final = 60
_LONGEST_TOOLTIP: Final = 2000
_BLANK: Final = " \xa0\u3000"


def label(text: str, *, longest: int = LONGEST_LABEL) -> str:
    """`text` cut to `longest` characters, an ellipsis being the last, and what is invisible in it as an escape."""
    return visible(text if len(text) <= longest else text[: longest - 1] + "…")


def named(text: str, *, longest: int = LONGEST_LABEL) -> str:
    """The label of something whose name is `text`; `NO_NAME` for a name that shows nothing."""
    return label(text, longest=longest) if text.strip(_BLANK) else NO_NAME


def tooltip(text: str) -> str:
    """A name for a tooltip: as much of it as anyone reads there."""
    return named(text, longest=_LONGEST_TOOLTIP)


def in_sentence(text: str) -> html.Span:
    """A name within a sentence, short; its tooltip has it whole."""
    return html.Span(named(text, longest=_LONGEST_IN_SENTENCE), title=tooltip(text), className="np-named")


def lines(text: str) -> str:
    """Text of several lines, as it is but for what is invisible in it."""
    return "\n".join(map(visible, text.split("\n")))
