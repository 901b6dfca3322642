"""Files of trace.pb whose checksums hold and whose content lies."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import zstandard
from google.protobuf.message import DecodeError
from hypothesis import strategies as st

from trace_format.columns import Column
from trace_format.proto import trace_pb2 as pb
from trace_format.tables import TABLES
from trace_format.trace_pb import wire
from trace_format.trace_pb.encoding import DTYPES, Encoder

Record = tuple[int, bytes]
Change = Callable[[list[Record], random.Random], None]

_MESSAGES: dict[int, Any] = {
    wire.HEADER: pb.Header, wire.STRINGS: pb.Values, wire.STACKS: pb.Values, wire.ARG_SETS: pb.Values,
    wire.BLOCKS: pb.Block, wire.METADATA: pb.Metadata,
}  # fmt: skip
_COLUMNS = {name for kind in TABLES.values() for name in kind.COLUMNS}
_NUMBERS = (0, 1, 2, 3, 7, 8, 9, 15, 100, 255, 65_535, 65_536, 65_537, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
_WIDE = (*_NUMBERS, 2**32, 2**48, 2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)
_TEXTS = (
    b"", b"null", b"[]", b"{", b'{"a":' * 2000, b'{"sources":5}', b'{"sources":[5]}', b'{"rank":"x"}', b"\xff",
    b'{"slices":-1}', b'{"slices":99999999999999999999}', b'{"\\ud800":1}',
    b'{"source_events":-1,"left_out":{"x":1},"repaired":{}}',
)  # fmt: skip


def records_of(data: bytes) -> list[Record]:
    """The records of a file: field number and message without checksum, the index left out."""
    found = [(record.field, wire.unseal(data[record.payload : record.end])) for record in wire.walk(data)]
    return [(field, message) for field, message in found if message is not None and field != wire.INDEX]


def file_of(records: list[Record], *, index: pb.Index | None, magic: bytes = wire.MAGIC) -> bytes:
    """A file of these records, with true checksums; with an index whose offsets fit if one is given."""
    out = bytearray(magic)
    for field, message in records:
        sealed = wire.seal(field, message)
        if index is not None:
            index.field.append(field)
            index.offset.append(len(out))
            index.size.append(len(sealed))
        out += sealed
    if index is not None:
        at = len(out)
        out += wire.seal(wire.INDEX, index.SerializeToString()) + wire.trailer(at)
    return bytes(out)


def index_of(records: list[Record], random_: random.Random, *, lying: bool) -> pb.Index:
    """What an index says about blocks: the truth, or now and then a lie."""
    index = pb.Index()
    for field, message in records:
        if field != wire.BLOCKS:
            continue
        block = pb.Block.FromString(message)
        if block.table not in index.table_names:
            index.table_names.append(block.table)
        place = list(index.table_names).index(block.table)
        lie = lying and random_.random() < 0.3
        index.table.append(random_.choice(_NUMBERS) if lie and random_.random() < 0.2 else place)
        index.rows.append(random_.choice(_NUMBERS) if lie and random_.random() < 0.3 else block.rows)
        index.track.append(random_.choice(_NUMBERS) if lie else 0)
        index.ts_min.append(random_.choice((0, -(2**63), 2**63 - 1)) if lie else 0)
        index.ts_max.append(random_.choice((0, -(2**63), 2**63 - 1)) if lie else 2**63 - 1)
    return index


def _message_changed(records: list[Record], random_: random.Random) -> None:
    """Give one field of one message another value."""
    at = random_.randrange(len(records))
    field, encoded = records[at]
    if field in _MESSAGES:
        message = _MESSAGES[field].FromString(encoded)
        _change_field(message, random_)
        records[at] = (field, message.SerializeToString())


def _change_field(message: Any, random_: random.Random) -> None:
    described = random_.choice([f for f in message.DESCRIPTOR.fields if f.name not in ("columns", "crc32")])
    if described.type == described.TYPE_BYTES:
        setattr(message, described.name, _other_bytes(getattr(message, described.name), random_))
    elif described.type == described.TYPE_STRING:
        setattr(message, described.name, random_.choice([*TABLES, *sorted(_COLUMNS), "", "later"]))
    else:
        wide = described.cpp_type == described.CPPTYPE_UINT64
        most = 2**31 if described.type == described.TYPE_ENUM else 2**64
        setattr(message, described.name, random_.choice([n for n in (_WIDE if wide else _NUMBERS) if n < most]))


def _other_bytes(data: bytes, random_: random.Random) -> bytes:
    if data and random_.random() < 0.4:
        out = bytearray(data)
        out[random_.randrange(len(out))] ^= 1 << random_.randrange(8)
        return bytes(out)
    return random_.choice(
        [*_TEXTS, data[: len(data) // 2], data * 2, zstandard.compress(bytes(random_.choice(_NUMBERS[:-4])))]
    )


def _column_changed(records: list[Record], random_: random.Random) -> None:
    """Give one field of one column of one block another value."""

    def change(block: pb.Block) -> None:
        if block.columns:
            _change_field(random_.choice(block.columns), random_)

    _in_a_block(records, random_, change)


def _column_values(records: list[Record], random_: random.Random) -> None:
    """Put well-stored values of any size in place of one column: ids, rows, times, parents in a circle."""

    def change(block: pb.Block) -> None:
        kind = TABLES.get(block.table)
        if kind is None or not 0 < block.rows <= 65_536:
            return
        stored = {name: spec for name, spec in kind.COLUMNS.items() if not spec.derived}
        name = random_.choice(sorted(stored))
        kept = [column for column in block.columns if column.name != name]
        column = Encoder().column(name, _values(stored[name], block.rows, random_), stored[name])
        del block.columns[:]
        block.columns.extend(kept if column is None else [*kept, column])

    _in_a_block(records, random_, change)


def _values(spec: Column, rows: int, random_: random.Random) -> np.ndarray:
    if spec.dtype.kind == "f":
        return np.array(random_.choices([0.0, -1.0, np.inf, -np.inf, np.nan, 1e308, 5e-324], k=rows))
    if spec.dtype.kind == "b":
        return np.array(random_.choices([True, False], k=rows))
    some = random_.choice(
        [(-1, 0, 1, 2, 3), (0, 1, 2, 3, 5, 8, 60), (-1, 0, 2**31 - 1), (-(2**63), -(2**62), -2, 0, 2**61, 2**63 - 1)]
    )
    bounds = np.iinfo(spec.dtype)
    values = [min(max(value, int(bounds.min)), int(bounds.max)) for value in some]
    return np.array(
        sorted(random_.choices(values, k=rows)) if random_.random() < 0.5 else random_.choices(values, k=rows),
        spec.dtype,
    )


def _bomb(records: list[Record], random_: random.Random) -> None:
    """Many rows or many values out of few bytes."""
    at = random_.randrange(len(records))
    rows = random_.choice([65_536, 65_536, 40_000])
    if random_.random() < 0.6:
        block = pb.Block(table=random_.choice([*TABLES, "later"]), rows=rows)
        step = pb.Column(name="ts_ns", type=pb.I64, transform=pb.DELTA, step=random_.choice([0, 1, 2**40, 2**63]))
        wide = pb.Column(
            name=random_.choice(sorted(_COLUMNS)), type=random_.choice(list(DTYPES)), transform=pb.DELTA, step=1
        )
        block.columns.extend([step, wide])
        for number in range(random_.choice([1, 20])):
            block.first_row = number * rows
            records.insert(at, (wire.BLOCKS, block.SerializeToString()))
    else:
        size = random_.choice([1 << 20, 1 << 26])
        values = pb.Values(first_id=random_.choice(_NUMBERS), count=size // 4, raw_size=size, codec=pb.ZSTD)
        values.lengths = values.data = zstandard.compress(bytes(size))
        records.insert(at, (random_.choice((wire.STRINGS, wire.STACKS, wire.ARG_SETS)), values.SerializeToString()))


def _record_moved(records: list[Record], random_: random.Random) -> None:
    records.insert(random_.randrange(len(records)), records.pop(random_.randrange(len(records))))


def _record_repeated(records: list[Record], random_: random.Random) -> None:
    records.insert(random_.randrange(len(records)), random_.choice(records))


def _record_lost(records: list[Record], random_: random.Random) -> None:
    if len(records) > 1:
        records.pop(random_.randrange(len(records)))


def _another_field(records: list[Record], random_: random.Random) -> None:
    at = random_.randrange(len(records))
    records[at] = (random_.choice([1, *_MESSAGES, 8, 13, wire.INDEX, 15, 100]), records[at][1])


def _in_a_block(records: list[Record], random_: random.Random, change: Callable[[pb.Block], None]) -> None:
    blocks = [at for at, (field, _) in enumerate(records) if field == wire.BLOCKS]
    if blocks:
        at = random_.choice(blocks)
        try:
            block = pb.Block.FromString(records[at][1])
        except DecodeError:
            return
        change(block)
        records[at] = (wire.BLOCKS, block.SerializeToString())


_CHANGES: tuple[Change, ...] = (
    _message_changed, _column_changed, _column_changed, _column_values, _column_values, _column_values, _bomb,
    _record_moved, _record_repeated, _record_lost, _another_field,
)  # fmt: skip


@st.composite
def lying_files(draw: st.DrawFn, files: Sequence[bytes]) -> bytes:
    """A file after up to five changes, with an index that fits, one that lies, or none."""
    random_ = random.Random(draw(st.integers(0, 2**32)))
    records = records_of(draw(st.sampled_from(files)))
    for change in draw(st.lists(st.sampled_from(_CHANGES), min_size=1, max_size=5)):
        change(records, random_)
    kind = draw(st.sampled_from(["none", "true", "lying"]))
    try:
        index = None if kind == "none" else index_of(records, random_, lying=kind == "lying")
    except DecodeError:  # a block that protobuf cannot read has no entry to be made for it
        index = None
    return file_of(records, index=index)
