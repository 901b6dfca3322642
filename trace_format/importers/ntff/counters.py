"""The counters of a core, from what was seen of its instructions and packets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trace_format.importers.neuron_device.activity import MOST_POINTS
from trace_format.importers.neuron_device.engines import ENGINES
from trace_format.importers.ntff.container import CoreTrace
from trace_format.importers.ntff.instructions import Instructions
from trace_format.importers.ntff.packets import Packets
from trace_format.importers.ntff.profile import Profile
from trace_format.importers.ntff.slot_columns import SlotColumns

Array = np.ndarray


def add_counters(
    profile: Profile, core: CoreTrace, seen: Instructions, packets: Packets, slots: Mapping[str, SlotColumns]
) -> None:
    """Add how busy each engine was, what DMA moved, and how many packets and transfers were under way.

    HBM throughput is there where it can be known: no transfers but those that DMA_DIRECT2D starts, each with one side
    in HBM; fetching instructions does not count, as AWS's tool does not count it.
    """
    for engine in (engine for engine in ENGINES if engine in seen.active):
        covered = seen.active[engine]
        ratio = covered.ratio()
        _add(profile, core, (f"{engine} active", "ratio"), covered.edges_ps, np.append(ratio, 0.0))
    _add(profile, core, ("DMA throughput", "B/s"), *packets.throughput.points())
    if not packets.static and all(columns.moves_one_side_in_hbm for columns in slots.values()):
        _add(profile, core, ("HBM throughput", "B/s"), *packets.dynamic_throughput.points())
    _add(profile, core, ("DMA packets under way", "packets"), *packets.under_way.points())
    # AWS's rule: nothing in the records says that such a transfer is done, unless its completion is recorded
    started = np.sort(seen.transfers)
    every = -(-len(started) // MOST_POINTS) or 1
    _add(profile, core, ("Pending DMAs", "DMAs"), started[::every], np.arange(1, len(started) + 1)[::every])


def _add(profile: Profile, core: CoreTrace, counter: tuple[str, str], at_ps: Array, value: Array) -> None:
    if len(at_ps):
        profile.builder["counters"].append(
            len(at_ps),
            ts_ns=profile.time.start(at_ps)["ts_ns"],
            track=profile.tracks.counter(core.core, *counter),
            value=value,
        )
