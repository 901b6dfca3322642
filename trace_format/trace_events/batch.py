"""Trace events as plain columns: what an importer or a live collector hands to the assembler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
Key = int | str

NO_DURATION = -1  # in `dur_ns`: the event names no duration
NO_TIME = np.iinfo(np.int64).min  # in `ts_ns`: the event names no time
OUT_OF_RANGE = np.iinfo(np.int64).max  # in `ts_ns` and `dur_ns`: a time that no int64 nanosecond can hold


class Arrow(NamedTuple):
    """A flow that a slice itself takes part in: `bind_id` names it, `incoming` and `outgoing` say which end."""

    bind_id: Key
    incoming: bool
    outgoing: bool


@dataclass(slots=True)
class EventBatch:
    """`n` events of the Trace Event Format (Chrome's, torch.profiler's) as equally long columns, in source order.

    - `ph`: the phase, one character each ("X", "i", "s", "f", "M", ...).
    - `name`, `cat`: text; "" where absent.
    - `ts_ns`: `(n,) int64` on the trace's clock, `NO_TIME` where absent.
    - `dur_ns`: `(n,) int64`, `NO_DURATION` where absent; a negative source duration comes as anything below that.
    - `pid`, `tid`: numbers or text, as the source has them.
    - `args`: the argument object of each event as JSON text in UTF-8, b"" for none.
    - `id`: the id of flows and async events; None where absent. The column may be left out, as may the rest:
    - `bp`: a flow end's binding point, "e" (the slice around it) or "" (the next slice).
    - `scope`: an instant's, "t", "p" or "g"; "" means "t".
    - `arrows`: the flow each event takes part in by itself (`bind_id`, `flow_in`, `flow_out`); None where it does not.
    - `args_row`: `(n,)` the row of `args` of each event, where events share their arguments; None: one row each.
    - `columns`: columns of the slices table, `(n,)` with that table's unknowns; they go before the same among the
      arguments.
    """

    ph: Sequence[str]
    name: Sequence[str]
    cat: Sequence[str]
    ts_ns: Array
    dur_ns: Array
    pid: Sequence[Key]
    tid: Sequence[Key]
    args: Sequence[bytes]
    id: Sequence[Key | None] | None = None
    bp: Sequence[str] | None = None
    scope: Sequence[str] | None = None
    arrows: Sequence[Arrow | None] | None = None
    args_row: Array | None = None
    columns: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ph)

    @classmethod
    def joined(cls, batches: Sequence[EventBatch]) -> EventBatch:
        """The events of all batches, in order; none of them may have `columns` or shared arguments."""
        if len(batches) == 1:
            return batches[0]

        def all_of(name: str, absent: object) -> list[Any]:
            parts = (getattr(batch, name) for batch in batches)
            return [
                value
                for batch, part in zip(batches, parts, strict=True)
                for value in ([absent] * len(batch) if part is None else part)
            ]

        return cls(
            ph=all_of("ph", ""),
            name=all_of("name", ""),
            cat=all_of("cat", ""),
            ts_ns=np.concatenate([batch.ts_ns for batch in batches]),
            dur_ns=np.concatenate([batch.dur_ns for batch in batches]),
            pid=all_of("pid", 0),
            tid=all_of("tid", 0),
            args=all_of("args", b""),
            id=all_of("id", None),
            bp=all_of("bp", ""),
            scope=all_of("scope", ""),
            arrows=all_of("arrows", None),
        )
