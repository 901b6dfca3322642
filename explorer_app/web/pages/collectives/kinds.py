"""What a kind of collective is called, and the colour that its operation has in the charts of this page."""

from __future__ import annotations

from typing import Final

from explorer_app import format as fmt
from explorer_app.web.names import named

# Far apart among the theme's sixteen hues, so that neighbours in the legend are told apart.
_HUES: Final = (0, 10, 4, 12, 6, 14, 2, 8)
_LONGEST: Final = 40


def kind_text(op: str, message_bytes: int) -> str:
    """ "all_reduce of 25.2 MB", "barrier" for what moves nothing."""
    if message_bytes == 0:
        return named(op, longest=_LONGEST)
    size = f"of {fmt.size(message_bytes)}" if message_bytes > 0 else "of unknown size"
    return f"{named(op, longest=_LONGEST)} {size}"


def op_colors(ops: list[str]) -> dict[str, str]:
    """A colour for each operation, by its place in this list."""
    return {op: f"var(--np-hue-{_HUES[i % len(_HUES)]})" for i, op in enumerate(dict.fromkeys(ops))}
