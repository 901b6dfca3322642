"""What a profile object holds for a window that was refused: nothing, in the shape that torch expects."""

from __future__ import annotations

import json
import time
from typing import Any


class NothingRecorded:
    """Stands in for torch's own results, so that what the user does with the profile afterwards still works.

    The tables are empty and `export_chrome_trace` writes a trace without events.
    """

    def __init__(self) -> None:
        self._start_ns = time.time_ns()

    def events(self) -> list[Any]:
        return []

    def trace_activities(self) -> list[Any]:
        return []

    def experimental_event_tree(self) -> list[Any]:
        return []

    def trace_start_ns(self) -> int:
        return self._start_ns

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": []}, file)


def give_empty_results(profile: Any) -> None:
    """Make `profile` (a torch.profiler.profile that must not start) look as if it had recorded nothing."""
    import torch

    profile.profiler = torch.autograd.profiler.profile(
        use_kineto=True, use_cpu=True, experimental_config=profile.experimental_config
    )
    profile.profiler.kineto_results = NothingRecorded()
