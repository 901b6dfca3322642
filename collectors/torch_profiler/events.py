"""Everything torch.profiler recorded in a window."""

from __future__ import annotations

import json
import math
import sys
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from collectors.base import Budget, Clock, Window
from collectors.boundary import log_once
from collectors.torch_profiler.activities import KinetoActivities
from collectors.torch_profiler.devices import device_properties
from collectors.torch_profiler.saved_results import add_saved_results
from trace_format import TraceBuilder
from trace_format.metadata import device_model
from trace_format.trace_events import TraceEventAssembler
from trace_format.trace_events.c10d import group_size

ENDED_BY_ANOTHER = "another profiler ended this window: torch.profiler lost what it had recorded until then"
ENDED_ELSEWHERE = "stopped in another thread than started: torch.profiler hands nothing over there"
NOT_UTF8 = "bytes that are not UTF-8 replaced"  # as importers call it


class TorchEvents:
    """Collects what torch.profiler recorded: the events of the window's torch.profiler object.

    Read by the fast route, `trace_activities()`: one light object per event. `prof.events()` would take longer
    than the training step that is being looked at.
    """

    name = "torch"
    budget = Budget(rows=sys.maxsize, seconds=math.inf)  # as many, and as long, as there are events

    def __init__(self, window: Window) -> None:
        profile = window.profile
        # the profile owns its session, so the session must not keep the profile alive
        self._profile = weakref.ref(profile) if profile is not None else None
        self._started_ns: int | None = None
        self._threads: set[int] = set()  # that started and stopped the window
        self.found = 0

    def start(self, clock: Clock) -> None:
        """Note when and in which thread: torch records by itself."""
        self._started_ns = clock()
        self._threads = {threading.get_ident()}

    def stop(self) -> None:
        """Note in which thread: torch stops by itself."""
        self._threads.add(threading.get_ident())

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        """Add the events of the window; none where torch has no results."""
        profile = self._profile() if self._profile is not None else None
        if profile is None:
            return
        import torch

        results = getattr(getattr(profile, "profiler", None), "kineto_results", None)
        if not self._of_this_window(results):
            cause = ENDED_BY_ANOTHER if len(self._threads) == 1 else ENDED_ELSEWHERE
            builder.report.source_events += 1
            builder.report.left_out[cause] += 1
            log_once(f"the trace lacks events: {cause}")
        if results is None:
            return
        told = _told(getattr(profile, "_trace_metadata", {}))
        if hasattr(results, "trace_activities"):
            ranks = group_size(told.get("distributedInfo"))
            self._add_activities(builder, profile, results, host=host, rank=rank, ranks=ranks)
        else:
            add_saved_results(builder, results, with_flops=profile.with_flops, host=host, rank=rank)
        devices = device_properties(profile.use_device)
        if devices:
            told["deviceProperties"] = devices
            builder.metadata["device_model"] = device_model(devices)
        if told:
            builder.metadata["source_metadata"] = told
        source = {"format": "torch.profiler live", "clock": "unix", "torch": str(torch.__version__)}
        trace_id = getattr(profile.profiler, "trace_id", "")
        if trace_id:
            source["trace_id"] = trace_id
        builder.metadata.setdefault("sources", []).append(source)

    def _of_this_window(self, results: Any) -> bool:
        """Whether these are the results of the window that we saw begin; True where we saw none begin.

        A profiler that starts inside another makes off with the other's results, and what the other has at stop
        is nothing (a window that began at 0), or what came after the inner one began.
        """
        if self._started_ns is None:
            return True
        if results is None:
            return False
        began = getattr(results, "trace_start_ns", None)
        return began is None or 0 < began() <= self._started_ns

    def _add_activities(
        self, builder: TraceBuilder, profile: Any, results: Any, *, host: str, rank: int, ranks: int | None
    ) -> None:
        import torch

        found = results.trace_activities()
        self.found = len(found)
        activities = KinetoActivities(found, device=profile.use_device, with_flops=profile.with_flops)
        assembler = TraceEventAssembler(builder, private_use_name=torch._C._get_privateuse1_backend_name())
        for batch in activities.batches():
            assembler.add(batch)
        names = activities.names()
        assembler.add(names)
        builder.report.source_events -= len(names)  # ours, not torch's
        if activities.mended:
            builder.report.repaired[NOT_UTF8] += activities.mended
        assembler.finish(rank=rank, ranks=ranks, host=host)


def _told(texts: Mapping[str, str]) -> dict[str, Any]:
    """What torch and the user told the profiler (add_metadata, distributedInfo, ...), as plain values."""
    told: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            told[key] = json.loads(text)
        except (ValueError, TypeError, RecursionError):  # add_metadata_json keeps whatever it was given
            told[key] = str(text)
    return told
