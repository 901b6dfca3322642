"""Reads back a file this project exported: its events and its `neuronProfile` section together are the trace."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.categories import Classifier
from trace_format.metadata import checked
from trace_format.nesting import has_circle
from trace_format.report import ImportReport
from trace_format.tables import CATEGORIES, TABLES, Table
from trace_format.trace import Trace
from trace_format.trace_events import EventBatch
from trace_format.trace_events.arguments import INSTANT_ARGUMENTS, OWN_SLICE_ARGUMENTS, ArgumentSplitter
from trace_format.trace_events.batch import Key
from trace_format.trace_events.section import EVENT_TABLES, VERSION, decode_table, digest
from trace_format.trace_events.view import SCOPE_CODES, BatchView, NamedBatch, Naming

Array = np.ndarray


class StaleSectionError(ValueError):
    """The section is not that of these events: the file was edited since, or the section is of a later version."""


class Restorer:
    """Builds the trace of which the events and the section are halves.

    Use: `add` every batch, then `finish`. Both raise StaleSectionError where the halves do not match.
    """

    def __init__(self, section: bytes) -> None:
        try:
            found = json.loads(section)
            # where it holds lone surrogates, the section is its own text in base64
            self._section: dict[str, Any] = json.loads(base64.b64decode(found)) if isinstance(found, str) else found
            version = self._section["version"]
            lanes: dict[tuple[Key, Key], int] = {
                (int(pid), int(tid)): int(track) for pid, tid, track in self._section["lanes"]
            }
            self._instants_to_come = int(self._section["digest"]["instants"][0])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StaleSectionError(str(error)) from error
        if version != VERSION:
            raise StaleSectionError(f"version {version}")
        self._lanes = lanes
        self._phases: Counter[str] = Counter()
        self._builder = TraceBuilder()
        self._naming = Naming(self._builder.pool, Classifier())
        self._arguments = ArgumentSplitter(self._builder.pool, ImportReport().repaired)

    def add(self, batch: EventBatch) -> None:
        """Take in a batch of events; slices and instants are read, the section has the rest, which is counted."""
        named = NamedBatch(batch, self._naming)
        self._phases.update(batch.ph)
        phases = np.array(batch.ph)
        rows = np.flatnonzero((phases == "X") | (phases == "B"))
        if len(rows):
            view = named.view(rows)
            self._builder["slices"].append(
                len(rows), dur_ns=batch.dur_ns[rows], **self._columns(view), **self._arguments_of(view)
            )
        rows = np.flatnonzero(phases == "i")[: self._instants_to_come]  # memory records come after the instants
        self._instants_to_come -= len(rows)
        if len(rows):
            view = named.view(rows)
            scope = [SCOPE_CODES.get(s, 0) for s in view.pick(batch.scope)] if batch.scope is not None else 0
            said = self._arguments.split(view.pick(batch.args), INSTANT_ARGUMENTS)
            self._builder["instants"].append(
                len(rows), scope=scope, args=said.args, **said.columns, **self._columns(view)
            )

    def _columns(self, view: BatchView) -> dict[str, Any]:
        places = zip(view.pick(view.batch.pid), view.pick(view.batch.tid), strict=True)
        track = [self._lanes.get(place, -1) for place in places]
        if min(track) < 0:
            raise StaleSectionError("an event on a line that the section does not know")
        return {
            "ts_ns": view.ts_ns, "track": track, "name": view.name,
            "source_category": view.source_category, "category": view.categories(),
        }  # fmt: skip

    def _arguments_of(self, view: BatchView) -> dict[str, Array]:
        said = self._arguments.split(view.pick(view.batch.args), OWN_SLICE_ARGUMENTS)
        return {"args": said.args, **said.columns}

    @property
    def time_range_ns(self) -> tuple[int, int] | None:
        """First and last time in the events, before a base is added."""
        return self._trace.time_range_ns

    @cached_property
    def _trace(self) -> Trace:
        return self._builder.finish()

    def finish(self, base_ns: int) -> Trace:
        """The trace; `base_ns` is added to the times of the events."""
        trace, pool = self._trace, self._builder.pool
        try:
            tables: dict[str, Table] = {
                name: decode_table(data, name, pool) for name, data in self._section["tables"].items()
            }
            for name in EVENT_TABLES:
                tables[name] = self._completed(getattr(trace, name), base_ns)
            for name, kind in TABLES.items():
                tables.setdefault(name, kind({}, pool))
            if digest(tables) != self._section["digest"]:
                raise StaleSectionError("the events have been changed")
            _check_rows(tables)
            self._check_counts(tables)
            later = tuple((int(field), base64.b64decode(data)) for field, data in self._section["later_records"])
            report = ImportReport.from_dict(self._section["report"])
            metadata = checked(self._section["metadata"])
            return Trace.of(pool, tables, metadata=metadata, report=report, later_records=later)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
            raise StaleSectionError(str(error)) from error

    def _check_counts(self, tables: Mapping[str, Table]) -> None:
        """Raises StaleSectionError where events of other kinds than slices were added or taken away."""
        flows = tables["flows"]
        joined = int(((flows.from_slice >= 0) & (flows.to_slice >= 0)).sum()) if len(flows) else 0
        wanted = {
            "i": len(tables["instants"]) + len(tables["memory"]),
            "C": int(np.isfinite(tables["counters"].value).sum()) if len(tables["counters"]) else 0,
            "s": joined, "f": joined,
        }  # fmt: skip
        others = {phase: count for phase, count in self._phases.items() if phase not in ("X", "B", "M")}
        if others != {phase: count for phase, count in wanted.items() if count}:
            raise StaleSectionError("events have been added or taken away")

    def _completed(self, table: Table, base_ns: int) -> Table:
        """An event table with what its events do not say."""
        columns = {name: values.copy() for name, values in table.stored().items()}
        if len(table):
            columns["ts_ns"] += np.int64(base_ns)
        runs: Mapping[str, list[int]] = self._section["categories"][table.NAME]
        for first, count, category in zip(runs["first"], runs["count"], runs["category"], strict=True):
            if not 0 <= category < len(CATEGORIES):
                raise StaleSectionError("an unknown category")
            columns["category"][first : first + count] = category
        odd = self._section["rows"][table.NAME]
        part = decode_table(odd["table"], table.NAME, table.pool)
        for name, values in part.stored().items():
            if odd["rows"]:
                columns.setdefault(name, table.COLUMNS[name].filled(len(table)).copy())[odd["rows"]] = values
        return type(table)(columns, table.pool)


def _check_rows(tables: Mapping[str, Table]) -> None:
    """Raises StaleSectionError where a column refers to rows that are not there, or tracks lie in each other."""
    for table in tables.values():
        for name, spec in table.COLUMNS.items():
            if spec.references and not spec.derived and len(table):
                values = getattr(table, name)
                if int(values.max()) >= len(tables[spec.references]) or int(values.min()) < -1:
                    raise StaleSectionError(f"{table.NAME}.{name} refers to rows that are not there")
    if has_circle(tables["tracks"].parent):
        raise StaleSectionError("the parents of tracks go in a circle")
