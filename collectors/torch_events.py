"""Everything torch.profiler recorded in a window."""

from __future__ import annotations

import json
import weakref
from collections.abc import Mapping
from typing import Any

from collectors.kineto_activities import KinetoActivities
from collectors.saved_results import add_saved_results
from trace_format import TraceBuilder
from trace_format.trace_events import TraceEventAssembler


class TorchEvents:
    """Collects what torch.profiler recorded; `profile` is the torch.profiler object of the window.

    Read by the fast route, `trace_activities()`: one light object per event. `prof.events()` would take longer
    than the training step that is being looked at.
    """

    name = "torch"

    def __init__(self, profile: Any) -> None:
        # the profile owns its session, so the session must not keep the profile alive
        self._profile = weakref.ref(profile) if profile is not None else None

    def start(self) -> None:
        """Nothing: torch records by itself."""

    def stop(self) -> None:
        """Nothing: torch stops by itself."""

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        """Add the events of the window; none where torch has no results."""
        profile = self._profile() if self._profile is not None else None
        results = getattr(getattr(profile, "profiler", None), "kineto_results", None)
        if profile is None or results is None:
            return
        import torch

        if hasattr(results, "trace_activities"):
            _add_activities(builder, profile, results, host=host, rank=rank)
        else:
            add_saved_results(builder, results, with_flops=profile.with_flops, host=host, rank=rank)
        told = _told(getattr(profile, "_trace_metadata", {}))
        if told:
            builder.metadata["source_metadata"] = told
        source = {"format": "torch.profiler live", "clock": "unix", "torch": str(torch.__version__)}
        builder.metadata.setdefault("sources", []).append(source)


def _add_activities(builder: TraceBuilder, profile: Any, results: Any, *, host: str, rank: int) -> None:
    import torch

    activities = KinetoActivities(results.trace_activities(), device=profile.use_device, with_flops=profile.with_flops)
    assembler = TraceEventAssembler(builder, private_use_name=torch._C._get_privateuse1_backend_name())
    for batch in activities.batches():
        assembler.add(batch)
    names = activities.names()
    assembler.add(names)
    builder.report.source_events -= len(names)  # ours, not torch's
    assembler.finish(rank=rank, host=host)


def _told(texts: Mapping[str, str]) -> dict[str, Any]:
    """What torch and the user told the profiler (add_metadata, distributedInfo, ...), as plain values."""
    told: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            told[key] = json.loads(text)
        except ValueError:  # add_metadata_json takes any text
            told[key] = text
    return told
