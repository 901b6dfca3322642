"""What is damaged in a device profile costs no more than itself, and is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from device_json_files import instruction, packet, write_profile
from hypothesis import given
from hypothesis import strategies as st

from trace_format.errors import NeuronProfileError
from trace_format.importers import load_file
from trace_format.trace import Trace


def ids(trace: Trace) -> list[int]:
    return sorted(number for number in trace.slices.external_id.tolist() if number >= 0)


def test_a_row_of_the_wrong_types_is_counted_and_the_others_stay(tmp_path: Path) -> None:
    rows: list[Any] = [
        instruction(id=1),
        instruction(id=2, timestamp="soon"),
        instruction(id=3, timestamp=None),
        instruction(id=4, timestamp=2**70),
        instruction(id=5, duration=-7, pc="x", evt_wait_time=[], elements={}, predecessors=7, timestamp="400"),
        "no row",
        None,
    ]
    trace = load_file(write_profile(tmp_path / "p.json", instruction=rows))
    assert ids(trace) == [1, 5]
    assert trace.report.left_out == {
        "row of instruction without a time that can be read": 3,
        "row of instruction that is no JSON object": 2,
    }
    assert trace.report.repaired == {"row of instruction without a duration that can be read": 1}
    odd = trace.slices.external_id.tolist().index(5)
    assert trace.slices.ts_ns[odd] == 400  # written as text
    assert (trace.slices.dur_ns[odd], trace.slices.pc[odd], trace.slices.wait_ns[odd]) == (-1, -1, -1)


def test_a_file_that_was_cut_off_keeps_its_whole_rows(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "p.json", dma=[packet(id=n) for n in range(20)], ham=[])
    text = path.read_bytes()
    path.write_bytes(text[: text.index(b'"id": 12')])
    trace = load_file(path)
    assert ids(trace) == list(range(12))
    assert trace.report.left_out == {"row that is cut off or damaged": 1}
    assert any("damaged or cut off" in cause for cause in trace.report.repaired)
    assert set(trace.tracks.core.tolist()) == {4}  # what the sections before told still counts


def test_a_damaged_byte_costs_its_row(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "p.json", instruction=[instruction(id=n) for n in range(10)], dma=[packet(id=99)])
    text = path.read_bytes()
    path.write_bytes(text.replace(b'"id": 4', b'"id": }4', 1))
    trace = load_file(path)
    assert ids(trace) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 99]
    assert trace.report.source_events == trace.report.kept + sum(trace.report.left_out.values())
    assert sum(trace.report.left_out.values()) >= 1


def test_the_rows_after_a_damaged_one_stay_in_their_section(tmp_path: Path) -> None:
    lists = {"source": [["unknown"]], "dest": ["unknown"], "predecessors": [{"id": 1}, {"id": 2}], "z": [{"a": 1}]}
    rows = [packet(id=n) | lists for n in range(6)]
    path = write_profile(tmp_path / "p.json", dma=rows, ham=[{"timestamp": 1, "duration": 2, "k": 1, "n": 2}])
    path.write_bytes(path.read_bytes().replace(b'"id": 3,', b'"id": ?"3,', 1))
    trace = load_file(path)
    assert ids(trace) == [0, 1, 2, 4, 5]
    assert trace.slices.text("name").count("limit 1/2") == 1


def test_a_gzip_that_was_cut_off_says_so(tmp_path: Path) -> None:
    import gzip

    path = write_profile(tmp_path / "p.json", dma=[packet(id=n, crc=n * 7919 % 65536) for n in range(500)])
    packed = gzip.compress(path.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    trace = load_file(path)
    found = ids(trace)
    assert found == list(range(len(found)))
    assert 50 < len(found) < 500
    assert any("gzip stream ends early" in cause for cause in trace.report.repaired)


@pytest.mark.parametrize("text", [b'{"instruction": [{', b'{"dma": [{"timestamp": 1', b'{"ham":[{"a'])
def test_a_file_without_a_whole_row_is_one_line(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(text)
    with pytest.raises(NeuronProfileError) as raised:
        load_file(path)
    assert "\n" not in str(raised.value)
    assert "no row can be read" in str(raised.value)


def test_text_that_is_no_unicode_is_kept_in_other_rows(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "p.json", instruction=[instruction(id=1, layer="L"), instruction(id=2)])
    path.write_bytes(path.read_bytes().replace(b'"L"', b'"\xff\xfe"'))
    trace = load_file(path)
    assert 2 in ids(trace)
    assert trace.report.source_events == 4


def test_lone_surrogates_and_numbers_beyond_64_bits_do_no_harm(tmp_path: Path) -> None:
    path = write_profile(
        tmp_path / "p.json",
        summary=[{"total_time": 1e-6, "odd": 2**80, "text": "\ud800", "\udc00": 1}],
        neff_header=[{"network_name": "\ud800net", "uuid": 5}],
        instruction=[instruction(id=2**70, operands="\ud800", layer="\ud801", elements=10**400)],
        warnings=[{"message": "\udfff"}],
    )
    trace = load_file(path)
    assert trace.report.kept == 6
    assert trace.report.left_out == {}


def test_numbers_that_are_none_cost_nothing_else(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "p.json", dma=[packet(id=1, transfer_rate=float("nan")), packet(id=2)])
    trace = load_file(path)
    assert ids(trace) == [1, 2]
    assert trace.report.source_events == trace.report.kept == 4


def test_more_tracks_than_any_device_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trace_format.importers.neuron_device_tables import context

    monkeypatch.setattr(context, "_MOST_TRACKS", 50)
    rows = [{"timestamp": n, "id": str(n), "value": 1} for n in range(100)]
    with pytest.raises(NeuronProfileError, match="more than 50 queues and semaphores"):
        load_file(write_profile(tmp_path / "p.json", semaphore_update=rows))


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["sg00", "sg01", "yes", "Tensor", "MATMUL", "64"]), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
COLUMNS = st.sampled_from([
    "timestamp", "duration", "subgraph", "subgroup", "opcode", "id", "predecessors", "pc", "elements", "dma_engine",
    "dma_queue", "aggregated", "transfer_size", "value", "k", "n", "type", "start_ts", "end_ts", "engine", "pcore_idx",
    "start", "end", "name", "usage_avg", "sg_name", "nc_idx", "nc", "nd_idx", "total_time", "variable_name", "shape",
    "size", "uuid", "stream_id", "operation", "input_size", "message", "num_physical_cores", "last_hw_timestamp",
])  # fmt: skip
SECTIONS = st.sampled_from([
    "instruction", "dma", "active_time", "semaphore_update", "pending_dma", "dma_throughput", "instruction_usage",
    "ham", "layer_summary", "neff_node", "neff_header", "nc_mem_usage", "metadata", "model_info",
    "profile_info", "summary", "summary_groups", "terminology", "warnings", "cc_ops", "unheard_of",
])  # fmt: skip
ROWS = st.one_of(st.lists(st.dictionaries(COLUMNS, SCALARS, max_size=6), max_size=4), SCALARS)
DOCUMENTS = st.dictionaries(SECTIONS, ROWS, max_size=6)


@given(document=DOCUMENTS)
def test_any_values_are_kept_or_counted(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    document = {"dma_queues_info": [{"q_name": "q"}]} | document
    path = tmp_path_factory.mktemp("any") / "p.json"
    path.write_text(json.dumps(document))
    trace = load_file(path)
    report = trace.report.to_dict()
    assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]
    expected = sum(len(rows) if isinstance(rows, list) else 1 for rows in document.values())
    assert report["source_events"] == expected


@given(cut=st.integers(0, 3000), flips=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=4))
def test_damaged_bytes_give_a_trace_or_one_line(
    cut: int, flips: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write_profile(
        tmp_path_factory.mktemp("damaged") / "p.json",
        instruction=[instruction(id=n, predecessors=[{"id": n - 1, "type": "ORDERED"}]) for n in range(4)],
        dma=[packet(id=10 + n) for n in range(3)],
        summary=[{"total_time": 1e-6}],
    )
    text = bytearray(path.read_bytes())
    for place, value in flips:
        text[place % len(text)] = value
    path.write_bytes(text[: len(text) - cut % len(text)])
    try:
        trace = load_file(path)
    except NeuronProfileError as error:
        assert "\n" not in str(error)
    else:
        report = trace.report.to_dict()
        assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]
