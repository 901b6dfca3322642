"""Tables that are carried along without being understood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_differences import differences

from trace_format import DamagedFileError, Trace, TraceBuilder, read_trace, write_trace
from trace_format.exporters import export_file
from trace_format.importers import load_file
from trace_format.merge import append_trace

ID = 2**64 - 3  # an id that no float and no int64 holds


def carried() -> Trace:
    builder = TraceBuilder()
    builder.track("thread", kind="host_thread")
    builder["slices"].append(ts_ns=[5], dur_ns=[3], track=0, name=builder.string("op"))
    builder.carry(
        "nc_mem_usage", {"usage_type": ["IO", "Weights"], "amount_bytes": np.array([10, 20], np.int32)}, rows=2
    )
    builder.carry("nc_mem_usage", {"usage_type": ["Ucode"], "id": np.array([ID], np.uint64)}, rows=1)
    builder.report.source_events = 1
    return builder.finish()


def test_parts_of_a_carried_table_are_put_together_and_what_one_lacks_is_zero_or_empty() -> None:
    frame = carried().extra["nc_mem_usage"].to_pandas()
    assert frame["usage_type"].astype(str).tolist() == ["IO", "Weights", "Ucode"]
    assert frame["amount_bytes"].tolist() == [10, 20, 0]
    assert frame["id"].tolist() == [0, 0, ID]


@pytest.mark.parametrize("name", ["t.pb", "t.json"])
def test_a_carried_table_survives_saving_and_exporting(name: str, tmp_path: Path) -> None:
    trace = carried()
    export_file(trace, tmp_path / name)
    assert differences(load_file(tmp_path / name), trace) == []


def test_a_carried_table_survives_being_appended_to_another_trace() -> None:
    builder = TraceBuilder()
    builder.string("a string that shifts the ids")
    append_trace(builder, carried(), {})
    append_trace(builder, carried(), {})
    frame = builder.finish().extra["nc_mem_usage"].to_pandas()
    assert frame["usage_type"].astype(str).tolist() == ["IO", "Weights", "Ucode"] * 2
    assert frame["id"].tolist() == [0, 0, ID] * 2


def test_a_table_of_the_schema_cannot_be_carried() -> None:
    with pytest.raises(ValueError, match="is a table of the schema"):
        TraceBuilder().carry("slices", {}, rows=0)


def test_a_carried_text_that_refers_to_no_string_is_damage(tmp_path: Path) -> None:
    trace = carried()
    tables = dict(trace.tables())
    broken = dict(tables["nc_mem_usage"].stored())
    broken["usage_type@text"] = np.array([0, 0, 10**6], "<u4")
    tables["nc_mem_usage"] = type(tables["nc_mem_usage"])(broken, trace.pool)
    write_trace(Trace.of(trace.pool, tables), tmp_path / "t.pb")
    with pytest.raises(DamagedFileError, match="refers to something the file lacks"):
        read_trace(tmp_path / "t.pb")
