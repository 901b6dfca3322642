"""Trace events as plain columns: what an importer or a live collector hands to the assembler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray
Key = int | str

NO_DURATION = -1  # in `dur_ns`: the event names no duration
NO_TIME = np.iinfo(np.int64).min  # in `ts_ns`: the event names no time
OUT_OF_RANGE = np.iinfo(np.int64).max  # in `ts_ns` and `dur_ns`: a time that no int64 nanosecond can hold


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
    args_row: Array | None = None
    columns: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ph)
