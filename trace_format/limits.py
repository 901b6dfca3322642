"""How much a file may make a reader allocate, checked before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass

# A block's rows: fixed by the format, so that places fit in 16 bits.
BLOCK_ROWS = 65_536
# So that the length of any trace, and the sum of a thousand of the longest slices, fit int64.
LATEST_NS = 2**62  # 146 years: how far from the clock's zero a time may lie, and how long a trace may be
LONGEST_NS = 2**53  # 104 days


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for reading one file. A file beyond them is refused with a message that names the bound.

    The defaults are far above any real trace and far below what would hurt a machine by itself.
    """

    record_bytes: int = 1 << 30  # one record, before or after decompression
    decoded_bytes: int = 64 << 30  # all columns asked for together
    pool_bytes: int = 64 << 30  # all interned values
    always_bytes: int = 1 << 30  # of each of these two, what any file may ask for
    expansion: int = 2000  # beyond that, for each byte of the file; real files ask for less than a hundred
    pool_values: int = 1 << 28  # strings, stacks or argument sets
    rows: int = 1 << 32  # of one table
