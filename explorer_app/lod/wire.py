"""The bytes in which blocks, ticks and counters travel to the browser.

All numbers are little-endian; each column stands whole, one after the other, so that the browser can lay typed
arrays over them without copying. `x` is a time relative to the window asked for: 0 at its start, 1 at its
end, smaller or larger outside. Single precision then resolves a 16-millionth of the window, at any zoom.

Blocks, 4 + 24 n bytes:

    u32 n
    f32 x0[n]         start
    f32 x1[n]         end
    u32 name[n]       id of the name of the longest slice
    u32 count[n]      how many slices the block stands for
    u32 slice[n]      row of the longest slice
    u16 lane[n]       index into the lanes asked for, ascending; x0 ascends within a lane
    u8  busy[n]       busy share, 255 is all
    u8  category[n]   category of the longest slice; + 128 where that slice did not finish

and behind them, each only where the request asks for it:

    u32 found[n]      how many of its slices fit what is looked for
    u8  color[n]      number of the colour of the longest slice in its palette, 255 for none

Ticks, 4 + 19 n bytes:

    u32 n
    f32 x[n]          moment of the first instant
    u32 name[n]       id of its name
    u32 count[n]      how many instants the tick stands for
    u32 instant[n]    row of the first instant
    u16 track[n]      index into the tracks asked for, ascending; x ascends within a track
    u8  category[n]

Counters, 8 + 8 n w bytes, the tracks in the order in which they were asked for:

    u32 n, u32 w      tracks, pixels
    f32 low[n][w]     smallest value on the pixel, NaN for no value
    f32 high[n][w]    largest value on the pixel
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer_app.lod.blocks import Blocks
from explorer_app.lod.moments import Ticks
from explorer_app.lod.window import Window
from trace_format.tables import Instants, Slices

Array = np.ndarray

UNFINISHED = 128


def encode_blocks(
    blocks: Blocks, window: Window, slices: Slices, *, found: Array | None = None, color: Array | None = None
) -> bytes:
    """The blocks as described above; names and categories are looked up in the trace's slices.

    `found`, `color`: the columns of these names, None for one that was not asked for.
    """
    row = blocks.row
    unfinished = (slices.dur_ns[row] < 0) * np.uint8(UNFINISHED)
    return _joined(
        len(blocks),
        ("<f4", _relative(blocks.start_ns, window)),
        ("<f4", _relative(blocks.end_ns, window)),
        ("<u4", slices.name[row]),
        ("<u4", blocks.count),
        ("<u4", row),
        ("<u2", blocks.lane),
        ("u1", np.clip(255 * blocks.busy_ratio, 0, 255)),
        ("u1", slices.category[row] | unfinished),
        *([] if found is None else [("<u4", found)]),
        *([] if color is None else [("u1", color)]),
    )


def encode_ticks(ticks: Ticks, window: Window, instants: Instants) -> bytes:
    """The ticks as described above; names and categories are looked up in the trace's instants."""
    return _joined(
        len(ticks),
        ("<f4", _relative(ticks.ts_ns, window)),
        ("<u4", instants.name[ticks.row]),
        ("<u4", ticks.count),
        ("<u4", ticks.row),
        ("<u2", ticks.track),
        ("u1", instants.category[ticks.row]),
    )


def encode_counters(envelopes: Sequence[tuple[Array, Array]], width_px: int) -> bytes:
    """The (low, high) columns of some counters as described above."""
    low = [low for low, _ in envelopes]
    high = [high for _, high in envelopes]
    head = np.array([len(envelopes), width_px], "<u4").tobytes()
    return head + b"".join(column.astype("<f4").tobytes() for column in (*low, *high))


def _relative(ts_ns: Array, window: Window) -> Array:
    return (ts_ns - window.start_ns) / window.span_ns


def _joined(n: int, *columns: tuple[str, Array]) -> bytes:
    head = np.array([n], "<u4").tobytes()
    return head + b"".join(values.astype(dtype, copy=False).tobytes() for dtype, values in columns)
