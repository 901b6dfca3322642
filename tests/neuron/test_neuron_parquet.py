"""A profile in Parquet files becomes the same rows as the same profile in JSON."""

from __future__ import annotations

import builtins
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq
from parquet_files import Rows, tables_of, write_table

from trace_format.errors import NeuronProfileError, UnsupportedFormatError
from trace_format.importers import load_file
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.neuron_parquet import read_parquet_directory
from trace_format.trace import Trace

JSON_FILE = "neuron_json/T178_fused_exec_2_profile_full.json"
# What JSON says of an instruction and the published tables have no column for.
ONLY_JSON = {"fully_qualified_subgraph", "is_psum_read_sbuf_write"}
ONLY_JSON_PACKET = {"source", "dest", "op", "semaphore_id", "is_cc_dma", "duplicate"}


@pytest.fixture(scope="module")
def document(corpus: Path) -> dict[str, Rows]:
    return json.loads((corpus / JSON_FILE).read_text())


@pytest.fixture(scope="module")
def from_json(corpus: Path) -> Trace:
    return load_file(corpus / JSON_FILE)


@pytest.fixture(scope="module")
def folder(document: dict[str, Rows], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profile") / "fused@latest"
    for table, rows in tables_of(document).items():
        write_table(folder, table, rows, row_group_size=100)
    return folder


@pytest.fixture(scope="module")
def from_parquet(folder: Path) -> Trace:
    return read_parquet_directory(folder)


def track_key(trace: Trace, track: int) -> tuple[str, str, int, int, str]:
    tracks = trace.tracks
    return (
        tracks.text("kind")[track], tracks.text("name")[track], int(tracks.core[track]), int(tracks.device[track]),
        tracks.text("engine")[track],
    )  # fmt: skip


def slices(trace: Trace, *, drop: set[str] = frozenset()) -> Counter:
    """All slices but executions and layers, with every column that a device profile fills."""
    keys = [track_key(trace, track) for track in range(len(trace.tracks))]
    frame = trace.slices.to_pandas()[
        ["ts_ns", "dur_ns", "track", "name", "category", "source_category", "external_id", "bytes", "flops", "args",
         "ts_ps", "dur_ps", "wait_ns", "pc"]
    ].astype(object)  # fmt: skip
    out: Counter = Counter()
    for row in frame.fillna("nan").to_dict("records"):
        key = keys[row.pop("track")]
        if key[0] != "device_annotation":
            args = {name: value for name, value in json.loads(row.pop("args") or "{}").items() if name not in drop}
            out[key, tuple(row.items()), json.dumps(args, sort_keys=True)] += 1
    return out


def counters(trace: Trace) -> Counter:
    keys = [track_key(trace, track) for track in range(len(trace.tracks))]
    return Counter(
        (keys[track], ts, value)
        for track, ts, value in zip(
            trace.counters.track.tolist(), trace.counters.ts_ns.tolist(), trace.counters.value.tolist(), strict=True
        )
    )


def flows(trace: Trace) -> Counter:
    ids = trace.slices.external_id
    return Counter(
        zip(ids[trace.flows.from_slice].tolist(), ids[trace.flows.to_slice].tolist(), trace.flows.text("kind"),
            strict=True)
    )  # fmt: skip


def execution(trace: Trace) -> Execution:
    row = trace.slices.track.tolist().index(trace.tracks.text("name").index("Executions"))
    return execution_of(trace.pool.arg_sets[int(trace.slices.args[row])])


def test_instructions_packets_and_throttling_are_those_of_the_json(from_json: Trace, from_parquet: Trace) -> None:
    expected = slices(from_json, drop=ONLY_JSON | ONLY_JSON_PACKET)
    assert expected.total() == 436 + 977 + 2
    assert slices(from_parquet) == expected


def test_semaphores_and_counters_are_those_of_the_json(from_json: Trace, from_parquet: Trace) -> None:
    assert counters(from_parquet) == counters(from_json)


def test_edges_between_instructions_are_flows(from_json: Trace, from_parquet: Trace) -> None:
    assert flows(from_parquet).total() == 757
    assert flows(from_parquet) == flows(from_json)


def test_the_facts_of_the_run_are_those_of_the_json(from_json: Trace, from_parquet: Trace) -> None:
    expected, found = execution(from_json), execution(from_parquet)
    for name in ("total_time_ps", "neff", "neff_uuid", "nd_idx", "physical_cores", "instance_type", "ntff_version",
                 "runtime_version", "driver_version", "compiler_version", "profiler_version", "pe_rows",
                 "pe_clock_ghz", "others_clock_ghz", "hbm_bytes_per_s", "dma_bytes_per_s", "event_count",
                 "weight_size_bytes", "hlo_macs", "knows_transposes", "warnings"):  # fmt: skip
        assert getattr(found, name) == getattr(expected, name), name
    assert found.reported == {name: value for name, value in expected.reported.items() if not isinstance(value, str)}
    assert found.physical_cores == [4, 5]


def test_tensors_and_neffs_are_those_of_the_json(from_json: Trace, from_parquet: Trace) -> None:
    def texts(trace: Trace) -> list[Any]:
        return [trace.tensors.text(name) for name in ("name", "kind", "shape")] + [trace.tensors.bytes.tolist()] + [
            trace.neffs.text(name) for name in ("uuid", "hash", "name", "compiler_version")
        ] + [trace.neffs.lnc.tolist()]  # fmt: skip

    assert texts(from_parquet) == texts(from_json)


def test_every_row_is_counted(from_parquet: Trace, document: dict[str, Rows]) -> None:
    assert from_parquet.report.source_events == sum(map(len, tables_of(document).values()))
    assert from_parquet.report.clean
    assert from_parquet.metadata["device_time_zero_ns"] == 0
    assert from_parquet.metadata["sources"][0]["clock"] == "device"


@pytest.mark.parametrize(
    "parts",
    [
        ("Instruction_0", "Instruction_1"), ("Instruction.0", "Instruction.1"), ("Instruction", "Instruction_1"),
        ("Instruction-00000-of-00002", "Instruction-00001-of-00002"), ("Instruction.part-0", "Instruction.part-1"),
        ("Instruction/part-0", "Instruction/part-1"), ("Instruction.parquet/0", "Instruction.parquet/1"),
    ],
)  # fmt: skip
def test_a_table_in_numbered_parts_is_read_as_one(parts: tuple[str, str], document: dict[str, Rows], tmp_path: Path,
                                                  from_parquet: Trace) -> None:  # fmt: skip
    tables = tables_of(document)
    for name, rows in zip(parts, (tables["Instruction"][:200], tables["Instruction"][200:]), strict=True):
        path = tmp_path / f"{name}.parquet"
        write_table(path.parent, path.stem, rows)
    write_table(tmp_path, "HbmUsageSummaryByType", tables["HbmUsageSummaryByType"])
    write_table(tmp_path, "Metadata", tables["Metadata"])
    trace = read_parquet_directory(tmp_path)
    kinds = np.array([kind == "engine" for kind in trace.tracks.text("kind")])
    assert kinds[trace.slices.track].sum() == 436
    assert slices(trace) == Counter({key: n for key, n in slices(from_parquet).items() if key[0][0] == "engine"})


def test_one_file_alone_opens(folder: Path) -> None:
    trace = load_file(folder / "Throttle.parquet")
    assert [row for row in trace.slices.text("name") if row.startswith("limit")] == ["limit 8/8", "limit 4/8"]


def test_a_table_is_known_by_its_columns_where_its_file_is_named_otherwise(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "export.parquet"
    path.write_bytes((folder / "Instruction.parquet").read_bytes())
    assert (load_file(path).slices.pc >= 0).sum() == 436


def test_ids_beyond_63_bits_stay_exact(tmp_path: Path) -> None:
    row = {"start_ts": 1, "end_ts": 5, "duration_ns": 4, "engine": "tensor", "opcode": "NOP", "pc": 1, "operands": ""}
    table = pa.table({
        **{name: pa.array([value, value]) for name, value in row.items()},
        "id": pa.array([2**64 - 1, 2**63 - 1], pa.uint64()),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "Instruction.parquet")
    trace = load_file(tmp_path / "Instruction.parquet")
    assert trace.extra["neuron_instruction"].id.tolist() == [2**64 - 1, 2**63 - 1]
    assert sorted(trace.slices.external_id.tolist()) == [-1, -1, 2**63 - 1]
    assert trace.tracks.text("engine").count("Tensor") == 1


def test_packets_summed_up_are_instants_and_unknown_tables_and_columns_are_carried(tmp_path: Path) -> None:
    write_table(tmp_path, "DmaPacketAggregated", [
        {"start_ts": 3, "end_ts": 9, "duration_ns": 6, "id": 5, "queue_name": "qSyncIO0", "queue_type": "data",
         "transfer_bytes": 777, "source": "a", "dest": "b", "pcore_idx": 0, "colour": "red"},
    ])  # fmt: skip
    write_table(tmp_path, "SbufAllocation", [{"start_ts": 1, "end_ts": 2, "tensor_name": "t", "sizes": [1, 2]}])
    write_table(tmp_path, "Flow", [{"in_id": 5, "out_id": 6, "in_table": "HloInstruction", "out_table": "Nowhere"}])
    trace = read_parquet_directory(tmp_path)
    [summed] = trace.instants.to_pandas().to_dict("records")
    assert json.loads(summed["args"])["transfer_size"] == 777
    assert trace.extra["neuron_dma"].to_pandas()["colour"].tolist() == ["red"]
    carried = trace.extra["neuron_SbufAllocation"].to_pandas()
    assert carried["tensor_name"].tolist() == ["t"]
    assert carried["sizes"].tolist() == ["[1,2]"]
    assert trace.extra["neuron_Flow"].to_pandas()["out_table"].tolist() == ["Nowhere"]
    assert trace.report.source_events == trace.report.kept == 3


def test_a_system_profile_has_host_runtime_and_hardware_joined_by_their_flow_ids(tmp_path: Path) -> None:
    zero = 1_700_000_000_000_000_000
    event = {"instance_id": "host-a", "process_id": 77, "thread_id": 9, "worker_gid": 0}
    write_table(tmp_path, "SystemProfileEvents", [
        event | {"id": 1, "name": "aten::mm", "start_ts": zero, "end_ts": zero + 50, "duration_ns": 50,
                 "trace_event_source": "framework", "flow_id": ["4"]},
        event | {"id": 2, "name": "nrt_execute", "start_ts": zero + 10, "end_ts": zero + 90, "duration_ns": 80,
                 "trace_event_source": "neuron_rt", "flow_id": ["4"], "nc_idx": 0,
                 "extra_attributes_json": '{"model_id": 12}'},
        event | {"id": 3, "name": "nc_exec_running", "start_ts": zero + 20, "end_ts": zero + 80, "duration_ns": 60,
                 "trace_event_source": "neuron_hw", "flow_id": ["4"], "nc_idx": 0, "pcore_idx": 1},
    ])  # fmt: skip
    write_table(tmp_path, "CpuUsage", [
        {"timestamp": zero + 5, "util_percent": 0.5, "cpu_id": "0", "instance_id": "host-a"},
    ])  # fmt: skip
    write_table(tmp_path, "HostMemUsage", [
        {"timestamp": zero + 5, "used_bytes": 1000, "used_percent": 0.25, "instance_id": "host-a"},
    ])  # fmt: skip
    write_table(tmp_path, "SystemProfileHbmUsage", [
        {"timestamp": zero + 5, "total_bytes": 4096, "device_idx": 0, "hbm_idx": 1, "instance_id": "host-a"},
    ])  # fmt: skip
    write_table(tmp_path, "SystemProfileMetadata", [{"first_ts_ns": str(zero), "hbm_capacity_bytes": 5}])
    trace = read_parquet_directory(tmp_path)
    frame = trace.slices.to_pandas().set_index("name")
    kinds = trace.tracks.text("kind")
    assert kinds[frame.loc["aten::mm", "track"]] == "host_thread"
    assert kinds[frame.loc["nrt_execute", "track"]] == "runtime"
    assert json.loads(frame.loc["nrt_execute", "args"])["model_id"] == 12
    names = trace.slices.text("name")
    joined = {(names[a], names[b]) for a, b in zip(trace.flows.from_slice, trace.flows.to_slice, strict=True)}
    assert joined == {("aten::mm", "nrt_execute"), ("nrt_execute", "nc_exec_running")}
    values = dict(zip([trace.tracks.text("name")[t] for t in trace.counters.track.tolist()],
                      trace.counters.value.tolist(), strict=True))  # fmt: skip
    assert sorted(values.values()) == [0.25, 0.5, 1000, 4096]
    assert trace.metadata["sources"][0]["clock"] == "unix"
    assert trace.report.source_events == 7
    assert trace.report.kept == 7


def test_the_id_of_an_ec2_instance_is_not_kept(tmp_path: Path) -> None:
    name = "i-0123456789abcdef0_pid_7_nc_0_session_1"
    write_table(tmp_path, "DeviceProfileList", [{"device_profile_name": name, "instance_id": name[:19], "nc_id": 0}])
    trace = read_parquet_directory(tmp_path)
    assert trace.extra["neuron_DeviceProfileList"].to_pandas()["device_profile_name"].tolist() == [
        "instance_pid_7_nc_0_session_1"
    ]
    assert not [text for text in trace.pool.strings.values if "0123456789" in text]


def test_a_device_profile_beside_a_system_profile_begins_where_its_events_do(folder: Path, tmp_path: Path) -> None:
    zero = 1_700_000_000_000_000_000
    (tmp_path / "Throttle.parquet").write_bytes((folder / "Throttle.parquet").read_bytes())
    write_table(tmp_path, "SystemProfileEvents", [
        {"id": 1, "name": "nrt_execute", "start_ts": zero, "end_ts": zero + 50, "duration_ns": 50, "instance_id": "a",
         "trace_event_source": "neuron_rt", "process_id": 1, "thread_id": 1},
    ])  # fmt: skip
    trace = read_parquet_directory(tmp_path)
    assert trace.metadata["device_time_zero_ns"] == zero
    starts = dict(zip(trace.slices.text("name"), trace.slices.ts_ns.tolist(), strict=True))
    assert starts["limit 8/8"] == zero + 28559
    assert trace.metadata["sources"][0]["clock"] == "unix"


def test_a_damaged_file_is_reported_and_the_others_open(folder: Path, tmp_path: Path) -> None:
    for name in ("Throttle", "PendingDma"):
        (tmp_path / f"{name}.parquet").write_bytes((folder / f"{name}.parquet").read_bytes())
    (tmp_path / "Instruction.parquet").write_bytes(b"PAR1 and no more")
    trace = read_parquet_directory(tmp_path)
    assert trace.report.left_out == {"file that is no Parquet: Instruction.parquet": 1}
    assert trace.report.kept == 2 + 6
    with pytest.raises(NeuronProfileError, match="cannot be read as Parquet") as raised:
        load_file(tmp_path / "Instruction.parquet")
    assert "\n" not in str(raised.value)


def test_damaged_bytes_give_a_trace_or_one_line(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "Instruction.parquet").read_bytes()
    random = np.random.default_rng(1)
    path = tmp_path / "Instruction.parquet"
    for _ in range(60):
        text = bytearray(whole)
        for place in random.integers(4, len(text), 8):
            text[place] ^= 1 << random.integers(0, 8)
        path.write_bytes(text[: random.integers(8, len(text) + 1)] if random.random() < 0.3 else text)
        try:
            report = load_file(path).report.to_dict()
        except NeuronProfileError as error:
            assert "\n" not in str(error)
        else:
            assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]


def test_a_folder_without_parquet_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormatError, match="holds no Parquet files"):
        read_parquet_directory(tmp_path)


def test_without_pyarrow_the_error_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NeuronProfileError, match=r"pip install 'neuron-profile\[parquet\]'") as raised:
        read_parquet_directory(folder)
    assert "\n" not in str(raised.value)
