"""A file that was cut or damaged opens with an intact rest, or says in one line what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from same_bits import assert_same_bits
from trace_strategies import small_trace

from trace_format import NeuronProfileError, Trace, UnsupportedFormatError, read_trace, write_trace
from trace_format.proto import trace_pb2 as pb
from trace_format.trace_pb import wire, writer

_REST = ("slices", "instants", "counters", "flows")


@pytest.fixture(scope="module")
def original() -> Trace:
    return small_trace()


@pytest.fixture(scope="module")
def whole(original: Trace, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of many blocks: 16 rows each."""
    path = tmp_path_factory.mktemp("whole") / "trace.pb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_BLOCK_ROWS", 16)
        write_trace(original, path)
    return path.read_bytes()


def rows_of(trace: Trace, table: str) -> set[tuple[object, ...]]:
    """The rows of a table as values, without the row numbers that shift when rows are lost."""
    part = trace.tables()[table]
    if table == "flows":
        ends = [
            np.where(rows >= 0, trace.slices.correlation[rows] if len(trace.slices) else -1, -9)
            for rows in (trace.flows.from_slice, trace.flows.to_slice)
        ]
        return set(zip(*[end.tolist() for end in ends], strict=True))
    columns = [getattr(part, name) for name in part.stored()]
    return set(zip(*[c.view("<u8").tolist() if c.dtype.kind == "f" else c.tolist() for c in columns], strict=True))


def assert_intact_rest(opened: Trace, original: Trace) -> None:
    """Every row that is there was there before, and the report says how many are not."""
    lost = 0
    for table in _REST:
        events = 2 if table == "flows" else 1  # a start and an end
        before, after = rows_of(original, table), rows_of(opened, table)
        if table == "flows":
            after = {row for row in after if -9 not in row}
        assert after <= before, table
        lost += events * (len(original.tables()[table]) - len(opened.tables()[table]))
    report = opened.report.to_dict()
    assert report["source_events"] == original.report.source_events
    assert sum(report["left_out"].values()) == lost
    assert report["kept"] + lost == report["source_events"]


def test_cut_anywhere_it_opens_up_to_the_last_whole_block(whole: bytes, original: Trace, tmp_path: Path) -> None:
    path = tmp_path / "cut.pb"
    ends = [r.end for r in wire.walk(whole) if r.field == wire.BLOCKS]
    first_metadata = next(r.end for r in wire.walk(whole) if r.field == wire.METADATA)
    sizes = {}
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        try:
            opened = read_trace(path)
        except NeuronProfileError as error:
            assert "\n" not in str(error)
            assert length < first_metadata
            continue
        sizes[length] = sum(len(opened.tables()[t]) for t in ("tracks", *_REST))
        assert any("cut short" in cause for cause in opened.report.repaired)
        if length >= first_metadata and len(opened.tracks):
            assert_intact_rest(opened, original)
    blocks = {end: sum(1 for e in ends if e <= end) for end in sizes}
    for length, rows in sizes.items():
        last_whole = max((end for end in ends if end <= length), default=None)
        assert rows == (sizes[last_whole] if last_whole is not None else 0), blocks[length]


def test_any_flipped_byte_gives_a_clear_error_or_an_intact_rest(whole: bytes, original: Trace, tmp_path: Path) -> None:
    path = tmp_path / "flipped.pb"
    rng = np.random.default_rng(0)
    errors = intact = 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            opened = read_trace(path)
        except NeuronProfileError as error:
            assert "\n" not in str(error)
            assert "flipped.pb" in str(error)
            errors += 1
            continue
        assert not opened.report.clean, f"byte {at} was flipped and nothing says so"
        assert opened.metadata == original.metadata
        assert opened.pool.strings.values == original.pool.strings.values
        assert_intact_rest(opened, original)
        intact += 1
    assert errors
    assert intact > errors  # most of a file is blocks, and the loss of one is not the loss of the file


def test_a_damaged_block_costs_its_rows_and_what_referred_to_them(
    whole: bytes, original: Trace, tmp_path: Path
) -> None:
    blocks = [r for r in wire.walk(whole) if r.field == wire.BLOCKS]
    second = next(r for r in blocks if pb.Block.FromString(whole[r.payload : r.end]).table == "slices")
    damaged = bytearray(whole)
    damaged[second.payload + 20] ^= 0xFF
    (tmp_path / "t.pb").write_bytes(damaged)
    opened = read_trace(tmp_path / "t.pb")
    # the first block holds rows 0-15 of the first track; flows of that track join rows 0..8 to 1..9
    assert len(opened.slices) == 120 - 16
    assert opened.slices.ts_ns[0] == 1600
    assert opened.report.to_dict()["left_out"] == {"rows in damaged or missing blocks of the file": 16}
    assert opened.report.repaired == {"reference to a slice in a damaged or missing block of the file": 18}
    assert (opened.flows.from_slice[:9] == -1).all()
    # the second track's slices began at row 40, now 24: its first flow joins its first two slices
    assert (opened.flows.from_slice[9], opened.flows.to_slice[9]) == (24, 25)


def test_damage_to_what_everything_refers_to_is_an_error_with_its_place(whole: bytes, tmp_path: Path) -> None:
    strings = next(r for r in wire.walk(whole) if r.field == wire.STRINGS)
    damaged = bytearray(whole)
    damaged[strings.payload + 9] ^= 1
    (tmp_path / "t.pb").write_bytes(damaged)
    with pytest.raises(NeuronProfileError, match=rf"t\.pb at byte {strings.offset}: .*damaged"):
        read_trace(tmp_path / "t.pb")


def test_trailing_bytes_do_not_hide_the_trace(whole: bytes, original: Trace, tmp_path: Path) -> None:
    (tmp_path / "t.pb").write_bytes(whole + b"\x00" * 100)
    opened = read_trace(tmp_path / "t.pb")
    assert len(opened.slices) == len(original.slices)
    assert not opened.report.clean


def test_an_undamaged_file_says_nothing_was_repaired(whole: bytes, original: Trace, tmp_path: Path) -> None:
    (tmp_path / "t.pb").write_bytes(whole)
    opened = read_trace(tmp_path / "t.pb")
    assert opened.report.clean
    assert_same_bits(opened, original)


@pytest.mark.parametrize(
    "content", [b"", b"\x09", b"hello", b"{}", b"\x1f\x8b\x08", b"\x09\x89NRPB\r\n\x1a\n" + b"x" * 50]
)
def test_what_is_not_a_trace_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.pb").write_bytes(content)
    with pytest.raises(UnsupportedFormatError, match=r"t\.pb: "):
        read_trace(tmp_path / "t.pb")
