"""The tables of a trace: what one row of each is, and which columns it has.

This file is the schema. The types name the columns; times are int64 nanoseconds, sizes int64 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import numpy as np

from trace_format import columns as c
from trace_format.columns import Column, Meaning
from trace_format.nesting import nest
from trace_format.pool import Pool
from trace_format.spill import release

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

TRACK_KINDS = (
    "other", "host_thread", "runtime", "stream", "engine", "dma_queue", "collective", "compile",
    "semaphore", "throttle", "device_annotation", "counter", "async",
)  # fmt: skip
CATEGORIES = (
    "other", "host_op", "python", "annotation", "runtime", "compute", "dma", "memcpy", "memset",
    "collective", "sync", "semaphore", "compile", "overhead",
)  # fmt: skip
SCOPES = ("thread", "process", "global")
CACHE_RESULTS = ("unknown", "hit", "miss")


class Table:
    """Equally long numpy columns with a `.to_pandas()` view. Read-only; a row's number is its id.

    A column that says nothing in any row is a constant that takes no memory.
    `ids` is None where a row's position is its id, else the `(n,)` ids of the rows of a part of a table.
    """

    NAME: ClassVar[str] = ""
    COLUMNS: ClassVar[Mapping[str, Column]] = {}

    def __init_subclass__(cls) -> None:
        hints = get_type_hints(cls, include_extras=True)
        cls.COLUMNS = {
            name: next(m for m in hint.__metadata__ if isinstance(m, Column))
            for name, hint in hints.items()
            if any(isinstance(m, Column) for m in getattr(hint, "__metadata__", ()))
        }

    def __init__(
        self, data: Mapping[str, Array], pool: Pool, *, rows: int | None = None, ids: Array | None = None
    ) -> None:
        """`data` may leave columns out (they are unknown) and may bring columns this version does not know.

        `rows` is needed only where `data` is empty and the table is not.
        """
        lengths = {len(values) for values in data.values()} | (set() if rows is None else {rows})
        if len(lengths) > 1:
            raise ValueError(f"columns of table {self.NAME!r} differ in length: {sorted(lengths)}")
        self._rows = lengths.pop() if lengths else 0
        self.pool = pool
        self.ids = ids
        self._whole: tuple[Table, Array] | None = None  # the table this is a part of, and which of its rows
        self._data: dict[str, Array] = {}
        for name, column in self.COLUMNS.items():
            if not column.derived:
                given = data.get(name)
                self._data[name] = column.filled(self._rows) if given is None else _frozen(given, column.dtype)
        for name, given in data.items():
            if name not in self._data and name not in self.COLUMNS:
                self._data[name] = _frozen(given, given.dtype)

    @classmethod
    def column(cls, name: str) -> Column | None:
        """What the column of this name holds; None where the schema does not say."""
        return cls.COLUMNS.get(name)

    def __len__(self) -> int:
        return self._rows

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._data:
            if name not in self:
                raise AttributeError(f"table {self.NAME!r} has no column {name!r}; it has {', '.join(self)}")
            if self._whole is None:
                self._derive()
            else:
                table, rows = self._whole
                self._data[name] = _frozen(getattr(table, name)[rows], self.COLUMNS[name].dtype)
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the columns in the order of the schema.

        Derived ones are among them, except in a part of a table that was read without the rest.
        """
        can_derive = self.ids is None or self._whole is not None
        yield from (name for name, column in self.COLUMNS.items() if can_derive or not column.derived)
        yield from (name for name in self._data if name not in self.COLUMNS)

    def __contains__(self, name: object) -> bool:
        return any(name == column for column in self)

    def stored(self) -> dict[str, Array]:
        """The columns that are kept in files: all but the derived ones."""
        return {name: v for name, v in self._data.items() if name not in self.COLUMNS or not self.COLUMNS[name].derived}

    def release(self) -> None:
        """Give back what memory the columns take where they lie in a file; they stay as they are."""
        release(list(self._data.values()))

    def take(self, rows: Array) -> Table:
        """The rows `rows` (indices or a mask) as a table of the same kind that remembers their ids."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        data = {
            name: c.constant_column(v[0], len(rows), v.dtype) if c.is_constant(v) else v[rows]
            for name, v in self.stored().items()
        }
        part = type(self)(data, self.pool, rows=len(rows), ids=rows if self.ids is None else self.ids[rows])
        if self.ids is None:
            part._whole = (self, rows)
        elif self._whole is not None:
            part._whole = (self._whole[0], self._whole[1][rows])
        return part

    def text(self, name: str) -> list[str]:
        """A string or choice column as Python strings, one for each row."""
        column, values = self.column(name), getattr(self, name)
        if column is not None and column.meaning is Meaning.CHOICE:
            return [column.choices[v] for v in values.tolist()]
        strings = self.pool.strings
        return [strings[v] for v in values.tolist()]

    def to_pandas(self) -> pd.DataFrame:
        """All columns as a DataFrame whose index is the row id.

        Strings, choices, stacks (frames joined with ';', outermost first) and argument sets (JSON text)
        come as categoricals.
        """
        import pandas as pd

        index = pd.RangeIndex(len(self), name="id") if self.ids is None else pd.Index(self.ids, name="id")
        return pd.DataFrame({name: self._series(name) for name in self}, index=index)

    def _series(self, name: str) -> Any:
        import pandas as pd

        values = getattr(self, name)
        column = self.column(name)
        if column is None:
            return values
        if column.meaning is Meaning.CHOICE:
            return pd.Categorical.from_codes(values.astype(np.int16), categories=pd.Index(column.choices))
        decoders = {Meaning.STRING: self._string, Meaning.STACK: self._stack, Meaning.ARGS: self._args}
        decode = decoders.get(column.meaning)
        if decode is None:
            return values
        used, codes = np.unique(values, return_inverse=True)
        texts = [decode(v) for v in used.tolist()]
        distinct = list(dict.fromkeys(texts))
        if len(distinct) != len(texts):
            place = {text: i for i, text in enumerate(distinct)}
            codes = np.array([place[text] for text in texts], dtype=np.int64)[codes]
        return pd.Categorical.from_codes(codes, categories=pd.Index(distinct, dtype=object))

    def _string(self, index: int) -> str:
        return self.pool.strings[index]

    def _stack(self, index: int) -> str:
        return ";".join(self.pool.frames(index))

    def _args(self, index: int) -> str:
        return self.pool.arg_sets[index].decode("utf-8", "surrogatepass")

    def _derive(self) -> None:
        raise AttributeError(f"table {self.NAME!r} derives no columns")


def _frozen(values: Array, dtype: np.dtype[Any]) -> Array:
    out = np.asarray(values)
    if out.dtype != dtype:
        out = out.astype(dtype)
    if out.flags.writeable:
        out = out.view()
        out.flags.writeable = False
    return out


class Tracks(Table):
    """One row is a line on the timeline, or (no slices, only children) a process that groups lines."""

    NAME = "tracks"
    parent: Annotated[Array, c.row_of("tracks")]
    name: Annotated[Array, c.string()]
    kind: Annotated[Array, c.choice(*TRACK_KINDS)]
    rank: Annotated[Array, c.integer(dtype="<i4")]
    host: Annotated[Array, c.string()]
    pid: Annotated[Array, c.integer()]  # -1: the source has none, or not a number (then see source_pid)
    tid: Annotated[Array, c.integer()]
    device: Annotated[Array, c.integer(dtype="<i4")]
    core: Annotated[Array, c.integer(dtype="<i4")]
    engine: Annotated[Array, c.string()]
    unit: Annotated[Array, c.string()]
    simulated: Annotated[Array, c.flag()]
    source_pid: Annotated[Array, c.string()]  # the source's own key where it is not a number ("Spans")
    source_tid: Annotated[Array, c.string()]
    sort_index: Annotated[Array, c.integer(unknown=0)]  # smaller is shown higher


class Slices(Table):
    """One row is something with a start and an end; the end is exclusive.

    The rows of one track are ordered by (start, longer first) as the row number grows.
    """

    NAME = "slices"
    ts_ns: Annotated[Array, c.time()]
    dur_ns: Annotated[Array, c.duration()]  # -1: did not finish
    track: Annotated[Array, Column(np.dtype("<u4"), Meaning.ROW, 0, references="tracks")]
    name: Annotated[Array, c.string()]
    category: Annotated[Array, c.choice(*CATEGORIES)]
    source_category: Annotated[Array, c.string()]
    depth: Annotated[Array, c.integer(unknown=0, dtype="<i4", derived=True)]
    self_ns: Annotated[Array, c.duration(derived=True)]  # -1: did not finish
    parent: Annotated[Array, c.row_of("slices", derived=True)]
    correlation: Annotated[Array, c.integer()]
    external_id: Annotated[Array, c.integer()]
    stack: Annotated[Array, c.stack()]
    bytes: Annotated[Array, c.integer()]
    flops: Annotated[Array, c.real()]
    args: Annotated[Array, c.args()]
    event_index: Annotated[Array, c.integer()]  # Kineto's "Ev Idx"
    record_function_id: Annotated[Array, c.integer()]
    sequence_number: Annotated[Array, c.integer()]  # autograd's, joins forward and backward
    python_id: Annotated[Array, c.integer()]
    python_parent_id: Annotated[Array, c.integer()]
    # What device traces say beyond that. -1: unknown.
    ts_ps: Annotated[Array, c.integer(dtype="<i4")]  # picoseconds of the start beyond ts_ns, 0 to 999
    dur_ps: Annotated[Array, c.integer(dtype="<i4")]  # picoseconds of the duration beyond dur_ns, 0 to 999
    wait_ns: Annotated[Array, c.integer()]  # how long the instruction waited before it began
    pc: Annotated[Array, c.integer()]  # place of the instruction in its engine's program, in instructions

    def _derive(self) -> None:
        found = nest(self.track, self.ts_ns, self.dur_ns)
        self._data["depth"] = _frozen(found.depth, found.depth.dtype)
        self._data["self_ns"] = _frozen(found.self_ns, found.self_ns.dtype)
        self._data["parent"] = _frozen(found.parent, found.parent.dtype)


class Instants(Table):
    """One row is a moment. The rows of one track are ordered by time as the row number grows."""

    NAME = "instants"
    ts_ns: Annotated[Array, c.time()]
    track: Annotated[Array, Column(np.dtype("<u4"), Meaning.ROW, 0, references="tracks")]
    name: Annotated[Array, c.string()]
    category: Annotated[Array, c.choice(*CATEGORIES)]
    source_category: Annotated[Array, c.string()]
    scope: Annotated[Array, c.choice(*SCOPES)]
    args: Annotated[Array, c.args()]
    event_index: Annotated[Array, c.integer()]


class Counters(Table):
    """One row is the value of a counter track from this time on. Ordered like instants."""

    NAME = "counters"
    ts_ns: Annotated[Array, c.time()]
    track: Annotated[Array, Column(np.dtype("<u4"), Meaning.ROW, 0, references="tracks")]
    value: Annotated[Array, c.real()]


class Samples(Table):
    """One row is a stack seen at a moment."""

    NAME = "samples"
    ts_ns: Annotated[Array, c.time()]
    track: Annotated[Array, Column(np.dtype("<u4"), Meaning.ROW, 0, references="tracks")]
    stack: Annotated[Array, c.stack()]
    weight: Annotated[Array, c.integer(unknown=1)]


class Flows(Table):
    """One row is cause -> effect between two slices. `kind` is the source's name for it ("ac2g", "fwdbwd")."""

    NAME = "flows"
    from_slice: Annotated[Array, c.row_of("slices")]
    to_slice: Annotated[Array, c.row_of("slices")]
    kind: Annotated[Array, c.string()]
    flow_id: Annotated[Array, c.integer()]  # the source's own id
    name: Annotated[Array, c.string()]
    args: Annotated[Array, c.args()]


class Collectives(Table):
    """One row is one collective on one rank; the sizes are this rank's own buffers."""

    NAME = "collectives"
    slice: Annotated[Array, c.row_of("slices")]
    op: Annotated[Array, c.string()]
    dtype: Annotated[Array, c.string()]
    in_bytes: Annotated[Array, c.integer()]
    out_bytes: Annotated[Array, c.integer()]
    group: Annotated[Array, c.string()]
    group_ranks: Annotated[Array, c.string()]  # a JSON list
    rank: Annotated[Array, c.integer(dtype="<i4")]
    peer: Annotated[Array, c.integer(dtype="<i4")]
    seq: Annotated[Array, c.integer()]
    algorithm: Annotated[Array, c.string()]
    reduce_op: Annotated[Array, c.string()]
    is_async: Annotated[Array, c.flag()]
    source: Annotated[Array, c.string()]


class Compiles(Table):
    """One row is one compile."""

    NAME = "compiles"
    slice: Annotated[Array, c.row_of("slices")]
    what: Annotated[Array, c.string()]
    backend: Annotated[Array, c.string()]
    cache: Annotated[Array, c.choice(*CACHE_RESULTS)]
    neff: Annotated[Array, c.row_of("neffs")]
    trigger: Annotated[Array, c.string()]
    exit_status: Annotated[Array, c.integer(dtype="<i4")]
    phases: Annotated[Array, c.args()]  # {phase: nanoseconds}


class Memory(Table):
    """One row is one allocation (delta > 0) or free (delta < 0). In order of time."""

    NAME = "memory"
    ts_ns: Annotated[Array, c.time()]
    device: Annotated[Array, c.string()]  # "cpu", "cuda:0"
    delta_bytes: Annotated[Array, c.integer(unknown=0)]
    total_bytes: Annotated[Array, c.integer()]
    address: Annotated[Array, Column(np.dtype("<u8"), Meaning.NUMBER, 0)]
    category: Annotated[Array, c.string()]
    track: Annotated[Array, c.row_of("tracks")]  # the thread that asked
    reserved_bytes: Annotated[Array, c.integer()]
    event_index: Annotated[Array, c.integer()]


class Neffs(Table):
    """One row is a NEFF (Neuron executable)."""

    NAME = "neffs"
    uuid: Annotated[Array, c.string()]
    hash: Annotated[Array, c.string()]
    name: Annotated[Array, c.string()]
    path: Annotated[Array, c.string()]
    compiler_version: Annotated[Array, c.string()]
    lnc: Annotated[Array, c.integer(dtype="<i4")]
    sizes: Annotated[Array, c.args()]  # {part: bytes}


class Tensors(Table):
    """One row is a tensor in a NEFF."""

    NAME = "tensors"
    neff: Annotated[Array, c.row_of("neffs")]
    name: Annotated[Array, c.string()]
    kind: Annotated[Array, c.string()]
    shape: Annotated[Array, c.string()]  # a JSON list
    dtype: Annotated[Array, c.string()]
    bytes: Annotated[Array, c.integer()]


class Extra(Table):
    """A table that is carried along without being understood: its columns are those its source has.

    Columns hold numbers; one whose name ends in `TEXT_SUFFIX` holds string ids, and `to_pandas` shows it without that.
    """

    @classmethod
    def column(cls, name: str) -> Column | None:
        return c.string() if name.endswith(TEXT_SUFFIX) else None

    def to_pandas(self) -> pd.DataFrame:
        frame = super().to_pandas()
        return frame.rename(columns={name: name.removesuffix(TEXT_SUFFIX) for name in frame.columns})


TEXT_SUFFIX = "@text"

TABLES: dict[str, type[Table]] = {
    t.NAME: t
    for t in (Tracks, Slices, Instants, Counters, Samples, Flows, Collectives, Compiles, Memory, Neffs, Tensors)
}
# Tables whose blocks on disk hold rows of one track only, in order of time.
BY_TRACK = ("slices", "instants", "counters")
