"""Level of detail: what a window of a trace looks like at a given width, in milliseconds at any zoom."""

from __future__ import annotations

from explorer_app.lod.activity import busy_ratio
from explorer_app.lod.blocks import Blocks, blocks_in_window
from explorer_app.lod.chosen import chosen_in_blocks
from explorer_app.lod.counter_envelope import CounterEnvelopes
from explorer_app.lod.lanes import Lanes
from explorer_app.lod.moments import Moments
from explorer_app.lod.outline import Outline, first_rows, is_in_order_of_track
from explorer_app.lod.pyramid import Pyramid
from explorer_app.lod.window import Window

__all__ = [
    "Blocks",
    "CounterEnvelopes",
    "Lanes",
    "Moments",
    "Outline",
    "Pyramid",
    "Window",
    "blocks_in_window",
    "busy_ratio",
    "chosen_in_blocks",
    "first_rows",
    "is_in_order_of_track",
]
