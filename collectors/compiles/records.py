"""What the records of torch.compile's log say, as rows of a trace."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trace_format.importers.torch_trace.compiles import Compile, innermost_frame
from trace_format.json_object import json_object
from trace_format.tables import CACHE_RESULTS, CATEGORIES

if TYPE_CHECKING:
    from trace_format import TraceBuilder

EVENT, START, METRICS = "chromium_event", "dynamo_start", ("compilation_metrics", "bwd_compilation_metrics")
_RECOMPILE, _BREAK, _ERROR = "recompile_reasons", "dynamo_graph_break_reason", "dynamo_error"
_CACHES = ("fx_graph_cache", "aotautograd_cache")
ARTIFACTS = frozenset(
    (_RECOMPILE, _BREAK, _ERROR, *(f"{cache}_{result}" for cache in _CACHES for result in ("hit", "miss", "bypass")))
)
# The phases that span one compile (torch/_dynamo: convert_frame.py, utils.py; torch/_functorch/_aot_autograd).
_FORWARD, _BACKWARD = ("dynamo", "entire_frame_compile"), ("entire_backward_compile",)
_COMPILE = CATEGORIES.index("compile")
_ABOVE_THREADS = -1  # whose Python stacks may be a hundred deep
_LONGEST_TEXT = 2000  # of a reason or an argument
_LOOKUP = re.compile(r"(?:fx_graph|autograd)_cache_\w+")  # events of lookups in caches, which an artifact tells of, too
_PLACE = re.compile(r"Graph break in user code at (?P<place>\S+:\d+)")
# What stands before it says only that there was a break, what comes after it is torch's own state.
_REASON = re.compile(
    r"Graph Break Reason: (?:Encountered graph break when attempting to trace [^\n]*\n)?\s*"
    r"(?P<reason>.+?)\s*(?:Developer debug context|For more details about|User code traceback|\Z)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Record:
    """One record: when and in which thread (the OS's number) it was written, its metadata, and what came with it.

    `backend`: the backend that is about to be called, "" where none is.
    """

    ts_ns: int
    thread: int
    kind: str
    said: Mapping[str, Any]
    payload: str
    backend: str = ""


@dataclass(slots=True)
class _Phase:
    name: str
    ts_ns: int
    args: dict[str, Any]
    compile: _Compile | None = None  # the compile that it spans


@dataclass(slots=True)
class _Compile:
    """One compile of one frame in one direction."""

    compile_id: str
    is_backward: bool
    span: tuple[_Phase, int, int] | None = None  # with its duration and thread; None where it began before the window
    function: str = ""
    backend: str = ""
    trigger: str = ""
    graph_breaks: int = 0
    caches: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Any] | None = None

    @property
    def what(self) -> str:
        return " ".join(filter(None, (self.function, self.compile_id, "backward" * self.is_backward)))

    @property
    def cache(self) -> str:
        """hit, miss or unknown; a compile that missed once was a miss."""
        results = set(self.caches.values())
        return "miss" if "miss" in results else "hit" if results == {"hit"} else "unknown"

    def args(self) -> dict[str, Any]:
        """What is shown with its slice."""
        told = self.metrics or {}
        failure = ": ".join(str(told[key]) for key in ("fail_type", "fail_reason") if told.get(key))
        return {
            "compile_id": self.compile_id,
            "function": self.function,
            "direction": "backward" if self.is_backward else "forward",
            "backend": self.backend,
            "cache": self.cache,
            **{f"{cache}_key": key for cache, key in self.keys.items()},
            "trigger": self.trigger,
            "operators": told.get("graph_op_count"),
            "guards": told.get("guard_count"),
            "graph_breaks": self.graph_breaks or None,
            "structured_logging_overhead_s": told.get("structured_logging_overhead_s"),
            "failure": failure[:_LONGEST_TEXT],
        }


class CompileRecords:
    """Takes records in the order in which they were written; `finish` adds what they amount to.

    Each thread that compiles has a track. A compile is one slice, "compile <function> <graph>", around its phases,
    which keep torch's names; graph breaks, recompile reasons, lookups in caches and errors are instants.
    """

    def __init__(self, builder: TraceBuilder, *, host: str, rank: int, strings: Mapping[int, str]) -> None:
        self._builder = builder
        self._host, self._rank = host, rank
        self._strings = strings
        self._tracks: dict[int, int] = {}
        self._open: dict[int, list[_Phase]] = {}
        self._compiles: list[_Compile] = []
        self._forwards: dict[str, _Compile] = {}  # by compile id, for what the backward of it does not tell

    def take(self, record: Record) -> None:
        self._builder.report.source_events += 1
        if record.kind == EVENT:
            self._event(record)
        elif record.kind in METRICS:
            self._metrics(record, record.said[record.kind])
        elif record.kind == START:
            self._start(record)
        else:
            self._artifact(record, str(record.said["artifact"]["name"]))

    def finish(self) -> None:
        """Add the compiles, and the phases that did not end."""
        for thread, phases in self._open.items():
            for phase in phases:
                self._end(phase, -1, thread)
        for compile_ in self._compiles:
            self._add_compile(compile_)
        self._compiles.clear()

    def _event(self, record: Record) -> None:
        event = json_object(record.payload.encode("utf-8", "surrogatepass"))
        name, letter, ts_us = event.get("name"), event.get("ph"), event.get("ts")
        args = _scalars(event.get("args"))
        phases = self._open.setdefault(record.thread, [])
        if not isinstance(name, str) or not isinstance(ts_us, int | float):
            self._leave_out("event of torch.compile without a name or time")
        elif letter == "B":
            phases.append(self._begun(record, _Phase(name, round(ts_us * 1000), args)))
        elif letter == "E":
            if not any(phase.name == name for phase in phases):
                self._leave_out("end of a compile phase that began before the window")
                return
            while phases[-1].name != name:
                self._end(phases.pop(), -1, record.thread)
            phase = phases.pop()
            phase.args |= args
            self._end(phase, max(round(ts_us * 1000) - phase.ts_ns, 0), record.thread)
        elif not _LOOKUP.fullmatch(name):
            self._instant(record, name, args, ts_ns=round(ts_us * 1000))

    def _begun(self, record: Record, phase: _Phase) -> _Phase:
        inside = self._of_thread(record.thread)
        if phase.name in (*_FORWARD, *_BACKWARD):
            new = _Compile(str(phase.args.get("compile_id") or ""), phase.name in _BACKWARD)
            if inside is None or (inside.compile_id, inside.is_backward) != (new.compile_id, new.is_backward):
                forward = self._forwards.get(new.compile_id)
                if new.is_backward and forward is not None:
                    new.function, new.backend = forward.function, forward.backend
                phase.compile = new
                self._compiles.append(new)
        elif inside is not None and record.backend:
            inside.backend = record.backend
        return phase

    def _of_thread(self, thread: int) -> _Compile | None:
        """The compile that a thread is in; the inner one of two."""
        return next((phase.compile for phase in reversed(self._open.get(thread, ())) if phase.compile), None)

    def _start(self, record: Record) -> None:
        """Note which frame is compiled."""
        compile_ = self._of_thread(record.thread)
        said = record.said[START]
        if compile_ is None or not isinstance(said, Mapping):
            self._leave_out("entry about a compile that began before the window")
            return
        frame = innermost_frame(said.get("stack"), self._strings)
        compile_.trigger = compile_.trigger or frame
        compile_.function = compile_.function or frame.rpartition(" ")[2]

    def _metrics(self, record: Record, metrics: Mapping[str, Any]) -> None:
        is_backward = record.kind == METRICS[1]
        compile_id = metrics.get("compile_id")
        compile_ = self._of_thread(record.thread)
        if compile_ is None or compile_.is_backward != is_backward:  # those of a backward come when it has ended
            waiting = (c for c in reversed(self._compiles) if c.is_backward == is_backward and c.metrics is None)
            compile_ = next((c for c in waiting if c.compile_id == compile_id), None)
        if compile_ is None:
            compile_ = _Compile(str(compile_id or ""), is_backward)
            self._compiles.append(compile_)
        compile_.metrics = metrics
        compile_.function = str(metrics.get("co_name") or compile_.function)
        if not is_backward:
            self._forwards[compile_.compile_id] = compile_

    def _artifact(self, record: Record, name: str) -> None:
        compile_ = self._of_thread(record.thread) or _Compile("", is_backward=False)
        args: dict[str, Any] = {"compile_id": compile_.compile_id}
        cache, _, result = name.rpartition("_")
        if cache in _CACHES:
            key = json_object(record.payload.encode("utf-8", "surrogatepass")).get("key")
            if compile_.caches.get(cache) != "miss":
                compile_.caches[cache] = result
            if isinstance(key, str):
                compile_.keys[cache] = args["key"] = key
        elif name == _RECOMPILE:
            reason = " ".join(record.payload.split())[:_LONGEST_TEXT]
            compile_.trigger = f"recompile: {reason}"
            args["reason"] = reason
        else:
            place = _PLACE.search(record.payload)
            if name == _BREAK:
                compile_.graph_breaks += 1
            told = _REASON.search(record.payload)
            # an error ends with what went wrong
            reason = " ".join(told["reason"].split())[:_LONGEST_TEXT] if told else record.payload[-_LONGEST_TEXT:]
            args |= {"place": place["place"] if place else "", "reason": reason}
        self._instant(record, name, args)

    def _end(self, phase: _Phase, dur_ns: int, thread: int) -> None:
        """Add a phase that is over; that of a whole compile waits for `finish`: its metrics may be still to come."""
        if phase.compile is not None:
            phase.compile.span = (phase, dur_ns, thread)
        else:
            self._slice(phase, dur_ns, thread, phase.name, "dynamo_timed", phase.args)

    def _slice(
        self, phase: _Phase, dur_ns: int, thread: int, name: str, source: str, args: Mapping[str, Any]
    ) -> int:  # fmt: skip
        builder = self._builder
        return builder["slices"].append(
            1,
            ts_ns=phase.ts_ns,
            dur_ns=dur_ns,
            track=self._track(thread),
            name=builder.string(name),
            category=_COMPILE,
            source_category=builder.string(source),
            args=self._arg_set(args),
        )

    def _instant(self, record: Record, name: str, args: Mapping[str, Any], *, ts_ns: int | None = None) -> None:
        builder = self._builder
        builder["instants"].append(
            1,
            ts_ns=record.ts_ns if ts_ns is None else ts_ns,
            track=self._track(record.thread),
            name=builder.string(name),
            category=_COMPILE,
            args=self._arg_set(args),
        )

    def _add_compile(self, compile_: _Compile) -> None:
        builder, row = self._builder, -1
        told = Compile.of(compile_.metrics or {}, compile_.compile_id, compile_.trigger)
        compile_.backend = compile_.backend or told.backend
        if compile_.span is not None:
            phase, dur_ns, thread = compile_.span
            row = self._slice(phase, dur_ns, thread, f"compile {compile_.what}", phase.name, compile_.args())
        builder["compiles"].append(
            1,
            slice=row,
            what=builder.string(compile_.what),
            backend=builder.string(compile_.backend),
            cache=CACHE_RESULTS.index(compile_.cache),
            trigger=builder.string(compile_.trigger),
            exit_status=-1 if compile_.metrics is None else int(told.failed),
            phases=self._arg_set(told.phases_ns),
        )

    def _track(self, thread: int) -> int:
        row = self._tracks.get(thread)
        if row is None:
            row = self._tracks[thread] = self._builder.track(
                "torch.compile" if not self._tracks else f"torch.compile (thread {thread})",
                kind="compile", host=self._host, rank=self._rank, pid=os.getpid(), tid=thread,
                sort_index=_ABOVE_THREADS,
            )  # fmt: skip
        return row

    def _arg_set(self, args: Mapping[str, Any]) -> int:
        known = {key: value for key, value in args.items() if value is not None and value != ""}
        return self._builder.pool.arg_sets.id(json.dumps(known).encode("ascii")) if known else 0

    def _leave_out(self, cause: str) -> None:
        self._builder.report.left_out[cause] += 1


def _scalars(args: Any) -> dict[str, Any]:
    """The arguments that say something and are no lists or objects and no dumps of settings."""
    items = args.items() if isinstance(args, dict) else ()
    return {
        key: value
        for key, value in items
        if isinstance(value, int | float)
        or (isinstance(value, str) and value != "None" and len(value) <= _LONGEST_TEXT)
    }
