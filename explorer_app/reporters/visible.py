"""Foreign text made safe for a terminal."""

from __future__ import annotations

import re

# Control characters drive a terminal, line breaks break a table, bidirectional controls reorder what is read, and
# lone surrogates cannot be encoded.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""The text with every character that could do more than be read written as an escape: "\x1b", "\u202e"."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)
