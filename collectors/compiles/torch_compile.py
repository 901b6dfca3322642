"""What torch.compile compiles while a window is open, as it logs it."""

from __future__ import annotations

import logging
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from collectors.base import Budget, Clock, Window
from collectors.boundary import Boundary
from collectors.compiles.records import ARTIFACTS, EVENT, METRICS, START, CompileRecords, Record
from collectors.compiles.twins import without_twins

if TYPE_CHECKING:
    from trace_format import Trace, TraceBuilder

LOGGER = "torch.__trace"  # torch/_logging/_internal.py, `trace_log`: what TORCH_TRACE writes and tlparse reads
_KINDS = frozenset((EVENT, START, *METRICS))
_MOST_RECORDS, _MOST_BYTES = 500_000, 64 << 20
_LONGEST_TEXT = 4096  # in the metrics of a compile: beyond it are dumps of torch's settings
_MOST_FRAMES = 40  # between what logs and what calls the backend there are about ten
_MOST_WRAPPERS = 5  # around a backend; there are one or two
_BACKEND_CALL = "backend_compile"  # the phase in which Dynamo calls the backend


class TorchCompile:
    """Listens to torch's structured log, and is silent where nothing is compiled.

    Kept are the phases, caches, metrics, graph breaks, recompile reasons and errors of each compile; graphs and
    generated code, which torch writes out while anybody listens, are not. A compile takes 2 to 3 % longer for it (torch
    2.13, measured); torch's own figure is `structured_logging_overhead_s` among its arguments.
    """

    name = "compile"
    budget = Budget()

    def __init__(self, window: Window) -> None:
        self._tap: _Tap | None = None
        self._level = logging.NOTSET

    @property
    def found(self) -> int:
        """How many records were kept."""
        return len(self._tap.records) if self._tap else 0

    def start(self, clock: Clock) -> None:
        if "torch" not in sys.modules:
            return
        self._tap = _Tap(clock)
        logger = logging.getLogger(LOGGER)
        self._level = logger.level
        logger.setLevel(logging.DEBUG)
        # In front: torch's own handler leaves the list at the first record, and the one behind it would miss that.
        logger.handlers.insert(0, self._tap)

    def stop(self) -> None:
        if self._tap is not None:
            logger = logging.getLogger(LOGGER)
            logger.removeHandler(self._tap)
            if logger.level == logging.DEBUG:  # else it was changed meanwhile, and not by us
                logger.setLevel(self._level)
            self._tap.close()

    def collect(self, builder: TraceBuilder, *, host: str, rank: int) -> None:
        if self._tap is None:
            return
        records = CompileRecords(builder, host=host, rank=rank, strings=_interned())
        for record in self._tap.records:
            records.take(record)
        records.finish()
        for cause, count in (self._tap.left_out + self._tap.boundary.losses).items():
            builder.report.source_events += count
            builder.report.left_out[cause] += count
        builder.metadata["sources"] = [
            {"format": "torch-structured-log", "clock": "unix", "entries_of_other_kinds": self._tap.others}
        ]

    def refine(self, trace: Trace) -> Trace:
        """The trace in which the operators that torch records around the phases told here are annotations."""
        return without_twins(trace)


class _Tap(logging.Handler):
    """Keeps the records that say something about a compile; the rest is counted in `others`."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[Record] = []
        self.others = 0
        self.left_out: Counter[str] = Counter()
        self.boundary = Boundary()
        self._clock = clock
        self._bytes = 0

    def emit(self, record: logging.LogRecord) -> None:
        said: Any = getattr(record, "metadata", None)
        payload: Any = getattr(record, "payload", None)
        kind = _kind_of(said) if isinstance(said, dict) else ""
        if not kind:
            self.others += 1
            return
        if kind in METRICS:
            said = {**said, kind: _without_dumps(said[kind])}
        text = payload if isinstance(payload, str) else ""
        self._bytes += len(text) + 1000
        if len(self.records) >= _MOST_RECORDS or self._bytes > _MOST_BYTES:
            self.left_out["entry of torch.compile's log beyond what is kept of a window"] += 1
            return
        backend = ""
        if kind == EVENT and f'"{_BACKEND_CALL}"' in text and '"B"' in text:
            with self.boundary.around("the name of a torch.compile backend"):
                backend = _backend_called(sys._getframe())
        self.records.append(Record(self._clock(), threading.get_native_id(), kind, said, text, backend))


def _kind_of(said: Mapping[str, Any]) -> str:
    """What an entry is, "" where it is none of those that are kept."""
    artifact = said.get("artifact")
    if isinstance(artifact, dict):
        return "artifact" if artifact.get("name") in ARTIFACTS else ""
    return next((key for key in said if key in _KINDS), "")


def _without_dumps(metrics: Any) -> Any:
    if not isinstance(metrics, dict):
        return {}
    return {key: value for key, value in metrics.items() if not (isinstance(value, str) and len(value) > _LONGEST_TEXT)}


def _backend_called(frame: FrameType | None) -> str:
    """The name of the backend that Dynamo is about to call, told from its frames: its log does not have it."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return ""
        if frame.f_code.co_name == "call_user_compiler":  # torch/_dynamo/output_graph.py, OutputGraph
            backend: Any = getattr(frame.f_locals.get("self"), "compiler_fn", None)
            for _ in range(_MOST_WRAPPERS):  # Dynamo wraps it, for debugging
                backend = getattr(backend, "_torchdynamo_orig_backend", backend)
            name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", "")
            return name if isinstance(name, str) else ""
        frame = frame.f_back
    return ""


def _interned() -> dict[int, str]:
    """The file names that torch's log has as numbers. It tells each only once in a process, maybe before the window."""
    structured = sys.modules.get("torch._logging.structured")
    table: Mapping[str, int] = getattr(structured, "INTERN_TABLE", {})
    return {number: text for text, number in table.copy().items()} if isinstance(table, dict) else {}
