"""How many of some chosen slices the blocks of a window hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer_app.lod.blocks import Blocks
from explorer_app.lod.lanes import Lanes
from explorer_app.lod.window import Window

Array = np.ndarray


def chosen_in_blocks(lanes: Lanes, blocks: Blocks, window: Window, which: Sequence[int], chosen: Array) -> Array:
    """How many of the slices at the positions `chosen` (ascending) each block holds, `(n,) uint32`.

    `blocks` are those of the window on the lanes `which` (see `blocks_in_window`): those of a lane follow each other
    without a gap from the first position of the window on.
    """
    if not len(blocks):
        return np.zeros(0, np.uint32)
    begin = [lanes.positions(lane, window.start_ns, window.end_ns, window.shift)[0] for lane in which]
    count = blocks.count.astype(np.int64)
    before = np.cumsum(count) - count
    of_lane = np.searchsorted(blocks.lane, np.arange(len(which)))[blocks.lane]
    first = np.array(begin, np.int64)[blocks.lane] + before - before[of_lane]
    edges = np.searchsorted(chosen, np.stack([first, first + count]).astype(chosen.dtype))
    return (edges[1] - edges[0]).astype(np.uint32)
