"""How much a file may make a reader allocate, checked before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

# A block's rows: fixed by the format, so that places fit in 16 bits.
BLOCK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for reading one file. A file beyond them is refused with a message that names the bound.

    The defaults are far above any real trace and far below what would hurt a machine by itself.
    """

    record_bytes: int = 1 << 30  # one record, before or after decompression
    decoded_bytes: int = 64 << 30  # all columns asked for together
    pool_values: int = 1 << 28  # strings, stacks or argument sets
    rows: int = 1 << 32  # of one table
