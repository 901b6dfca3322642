"""JSON for other programs."""

from __future__ import annotations

import json
from typing import Any, TextIO


def write_json(value: Any, stream: TextIO) -> None:
    """Write `value` and a newline; in ASCII, so that no name in a trace depends on the reader's encoding.

    Raises ValueError for NaN and the infinities, which JSON does not have.
    """
    json.dump(value, stream, indent=2, allow_nan=False)
    stream.write("\n")
