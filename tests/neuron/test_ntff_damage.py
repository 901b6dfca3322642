"""NTFF files that are cut or have bits turned over: a partial trace that says so, or an error of one line."""

from __future__ import annotations

import random
from pathlib import Path

import ntff_files as files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trace_format import TRACK_KINDS, Trace
from trace_format.errors import NeuronProfileError
from trace_format.importers.ntff import read_ntff_file
from trace_format.importers.ntff.pairing import fifo_pairs
from trace_format.limits import LATEST_NS, LONGEST_NS
from trace_format.trace_pb.reader import read_trace
from trace_format.trace_pb.writer import write_trace

START = 2_575_444_955_688_469
ADDRESS = 0x8005_0000_0000


def small_file(version: int) -> bytes:
    """One core with some of everything."""
    tag = ADDRESS >> 6 & 0x1FFFFF
    programs = {
        engine: (ADDRESS, (files.slot(0xA6, byte_36=2), files.slot(2, short_26=4), files.slot(0xB8)))
        for engine in files.ENGINES
    }
    records = {
        0: [
            part
            for place in range(6)
            for part in (
                files.started("Tensor", tag + place % 3, START + 1_000 * place, wait_cycles=place),
                files.ended("Tensor", tag + place % 3, START + 1_000 * place + 900),
            )
        ],
        1: [files.semaphore(5, value, START + 10 * value) for value in range(4)] + [files.event(4, 0xF1, START)],
        4: [files.packet(place % 2, 0, 64 * place, START + 50 * place, START + 50 * place + 70) for place in range(5)],
        5: [files.throttle(4, 8, 1, START), files.throttle(8, 8, 0, START + 500)],
    }
    core = files.Core(
        core=4, programs=programs, records=records, duration_ps=7_000, memory=[("pe", 64), ("io", 8)],
        patches={"Tensor": [(0, 1, 0), (1, 1, 2)]}, queues=[(64, 0, 2, "qPoolDynamic"), (65, 14, 0, "qDveTable")],
    )  # fmt: skip
    return files.Ntff(version, [core], executions=[(START, START + 7_000)]).to_bytes()


WHOLE = {version: small_file(version) for version in (4, 5, 6)}


def read(data: bytes, folder: Path) -> Trace | None:
    """What the bytes are read as; None for a refusal, whose message has one line."""
    path = folder / "damaged.ntff"
    path.write_bytes(data)
    try:
        return read_ntff_file(path)
    except NeuronProfileError as error:
        assert "\n" not in str(error)
        return None


def check(trace: Trace) -> None:
    """Everything that is kept is in the trace, within what times may be, and it can be saved."""
    kinds = np.array(TRACK_KINDS)[trace.tracks.kind]
    of_slice = kinds[trace.slices.track]
    pairs = int(np.isin(of_slice, ("engine", "dma_queue")).sum())
    semaphores = int((kinds[trace.counters.track] == "semaphore").sum())
    throttled = int((of_slice == "throttle").sum())
    assert trace.report.kept == 2 * pairs + semaphores + len(trace.instants) + throttled
    assert all(count > 0 for count in trace.report.to_dict()["left_out"].values())
    assert (np.abs(trace.slices.ts_ns) < LATEST_NS).all()
    assert ((trace.slices.dur_ns >= 0) & (trace.slices.dur_ns < LONGEST_NS)).all()
    assert np.isfinite(trace.counters.value).all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


@pytest.mark.parametrize("version", [4, 5, 6])
def test_the_whole_file_is_read_without_complaint(version: int, folder: Path) -> None:
    trace = read(WHOLE[version], folder)
    assert trace is not None
    check(trace)
    assert not trace.report.repaired


@settings(max_examples=300)
@given(st.sampled_from([4, 5, 6]), st.data())
def test_turned_bits_give_a_partial_trace_or_one_line(folder: Path, version: int, data: st.DataObject) -> None:
    content = bytearray(WHOLE[version])
    for place in data.draw(st.lists(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=12)):
        content[place // 8] ^= 1 << place % 8
    trace = read(bytes(content), folder)
    if trace is not None:
        check(trace)


@settings(max_examples=100)
@given(st.sampled_from([4, 5, 6]), st.data())
def test_a_cut_file_gives_a_partial_trace_or_one_line(folder: Path, version: int, data: st.DataObject) -> None:
    whole = WHOLE[version]
    trace = read(whole[: data.draw(st.integers(0, len(whole) - 1))], folder)
    if trace is not None:
        check(trace)
        assert trace.report.repaired or trace.report.left_out["record that lies beyond the end of the file"]


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_any_description_gives_a_partial_trace_or_one_line(folder: Path, description: bytes) -> None:
    header = bytes([6]) + len(description).to_bytes(8, "little") + bytes(0x80 - 9)
    trace = read(header + description + bytes(64), folder)
    if trace is not None:
        check(trace)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_a_damaged_profile_can_be_saved_and_read_again(folder: Path, seed: int) -> None:
    content = bytearray(WHOLE[6])
    for place in random.Random(seed).sample(range(8 * len(content)), 3):
        content[place // 8] ^= 1 << place % 8
    trace = read(bytes(content), folder)
    if trace is not None:
        write_trace(trace, folder / "saved.pb", force=True)
        again = read_trace(folder / "saved.pb")
        assert len(again.slices) == len(trace.slices)
        assert again.report == trace.report


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 6), st.booleans()),
        max_size=40,
    )
)
def test_pairs_are_those_of_a_queue_for_each_key(rows: list[tuple[int, int, bool]]) -> None:
    """Against one record after the other: an end closes the oldest start that is open."""
    key, time, is_end = (np.array([row[column] for row in rows]) for column in range(3))
    starts, ends, rest = fifo_pairs(key.astype(np.int64), time.astype(np.int64), is_end.astype(bool))
    expected = []
    left = []
    open_starts: dict[int, list[int]] = {}
    for row in sorted(range(len(rows)), key=lambda row: (rows[row][1], rows[row][2], row)):
        waiting = open_starts.setdefault(rows[row][0], [])
        if not rows[row][2]:
            waiting.append(row)
        elif waiting:
            expected.append((waiting.pop(0), row))
        else:
            left.append(row)
    left += [row for waiting in open_starts.values() for row in waiting]
    assert sorted(zip(starts.tolist(), ends.tolist(), strict=True)) == sorted(expected)
    assert rest.tolist() == sorted(left)
