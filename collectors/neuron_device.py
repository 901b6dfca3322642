"""What the runtime of a Neuron device recorded of a window, in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.base import Budget, Clock, Window

if TYPE_CHECKING:
    from trace_format import Trace, TraceBuilder

# A record in an NTFF file has 16 bytes, so this is eight million, read in about 3 s; a NEFF gives few rows.
_MOST_BYTES, _MOST_NEFF_BYTES = 128 << 20, 128 << 20


class NeuronDevice:
    """Joins the files of the runtime's folder with the trace of the window: device profiles, events of the runtime.

    They are read after the window, and with their clocks where the host's are (see
    `trace_format.importers.neuron_session`). Files of more than 128 MiB in all, or NEFFs of more than that, are left
    to whoever opens the folder.
    """

    name = "device"
    budget = Budget(rows=8_000_000, seconds=20.0)

    def __init__(self, window: Window) -> None:
        self.found = 0
        self._folder = window.runtime_folder
        self._neff_cache_dir = window.neff_cache_dir

    def start(self, clock: Clock) -> None:
        """The runtime records by itself, as long as torch.profiler does."""

    def stop(self) -> None:
        """Its files are there when torch.profiler has stopped."""

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        """Nothing stands alone: all of it is joined with what the others recorded."""

    def refine(self, trace: Trace) -> Trace:
        """The trace with what the device did; as it is where the runtime left nothing."""
        folder = self._folder()
        if folder is None:
            return trace
        from trace_format.importers.neuron_session import LiveLimits, join_live_session

        limits = LiveLimits(_MOST_BYTES, _MOST_NEFF_BYTES)
        return join_live_session(trace, folder, limits=limits, neff_folder=self._neff_cache_dir)
