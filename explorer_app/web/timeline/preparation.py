"""Prepares the timeline of a trace in the background, and gives what there is of it meanwhile."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any, Final

from explorer_app.lod import is_in_order_of_track
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData, keep_lanes_at, pyramid_of_before
from explorer_app.web.timeline.overview import overview
from explorer_app.web.timeline.sketch import Sketch
from trace_format import NeuronProfileError, Trace

# Fewer slices are laid out in full in less time than a second picture would take.
LEAST_SLICES: Final = 1 << 20
# Instants and counter values are prepared before the first picture, as long as they do not keep it waiting.
_MOST_OTHERS: Final = 1 << 20
STAGES: Final = ("sketch", "whole")
_log = logging.getLogger(__name__)


class Preparation:
    """The timeline of a trace as far as it is worked out. Get it with `numbers.once(Preparation, trace)`.

    The stages come in order: a sketch, then the whole. A small trace has no sketch.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._is_whole = threading.Event()
        threading.Thread(target=self._prepare, name="timeline", daemon=True).start()

    def _prepare(self) -> None:
        try:
            if self._is_sketched:
                self.overview("sketch")
            self.overview("whole")
            self._is_whole.set()
            # lanes that were kept say nothing of parents, for which the details of a slice will ask
            _ = self._trace.slices.parent
        except NeuronProfileError as error:
            _log.debug("the timeline could not be prepared; whoever asks for it is told: %s", error)
        finally:
            self._is_whole.set()

    @property
    def _is_sketched(self) -> bool:
        return once(is_sketched, self._trace)

    def whole(self) -> TimelineData:
        """All of it, waiting until it is there. Raises what preparing it raised."""
        return once(TimelineData, self._trace)

    @property
    def is_whole(self) -> bool:
        """Whether nothing has to be waited for."""
        return self._is_whole.is_set()

    @property
    def stage_now(self) -> str:
        """The stage that is there."""
        return "sketch" if self._is_sketched and not self.is_whole else "whole"

    def now(self) -> TimelineData | Sketch:
        """The best there is."""
        return self.stage(self.stage_now)

    def stage(self, name: str) -> TimelineData | Sketch:
        """A stage by its name, one of `STAGES`; the whole where the trace has no sketch."""
        return once(Sketch, self._trace) if name == "sketch" and self._is_sketched else self.whole()

    def overview(self, stage: str) -> dict[str, Any]:
        """What there is to draw at a stage (see `overview.overview`)."""
        return once(_overview_of_sketch if stage == "sketch" and self._is_sketched else _overview_of_whole, self._trace)


def _overview_of_sketch(trace: Trace) -> dict[str, Any]:
    return overview(once(Sketch, trace))


def _overview_of_whole(trace: Trace) -> dict[str, Any]:
    return overview(once(TimelineData, trace))


def is_sketched(trace: Trace) -> bool:
    """Whether a trace is shown as a sketch first: a large one that was not laid out before."""
    return (
        len(trace.slices) > LEAST_SLICES
        and once(pyramid_of_before, trace) is None
        and len(trace.instants) + len(trace.counters) <= _MOST_OTHERS
        and is_in_order_of_track(trace)
    )


def sketch_ahead(trace: Trace, *, place: Path | None = None) -> None:
    """Begin a sketch, if the trace has one, before anybody asks for it.

    `place`: where its lanes are kept for the next time (see `explorer_app.lod.kept`).
    """
    keep_lanes_at(trace, place)

    def begin() -> None:
        if once(is_sketched, trace):
            once(_overview_of_sketch, trace)

    threading.Thread(target=begin, name="sketch", daemon=True).start()
