"""Real traces survive every export, and Perfetto's own engine loads all of what is exported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from perfetto_engine import in_perfetto
from trace_differences import differences

from trace_format import TraceBuilder
from trace_format.exporters import export_file
from trace_format.importers import load_file

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("NPROF_CORPUS", ROOT.parent / "shared" / "corpus"))
KINETO = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.glob("kineto/*"))
OTHERS = sorted(
    str(p.relative_to(FOLDER))
    for pattern in ("kineto_multirank/T290*", "accel_other/T016*", "accel_other/T094*", "chrome_trace/T2*",
                    "viztracer/T24*", "rocm_rpd/*.json", "broken/T2[36]*")
    for p in FOLDER.glob(pattern)
    if "T268" not in p.name and "T269" not in p.name  # speedscope profiles
)  # fmt: skip


@pytest.mark.parametrize("name", [*KINETO, *OTHERS])
def test_json_to_pb_to_json_to_pb_changes_nothing(name: str, corpus: Path, tmp_path: Path) -> None:
    trace = load_file(corpus / name)
    for step in ("1.pb", "2.json.gz", "3.pb"):
        path = tmp_path / step
        export_file(trace, path)
        again = load_file(path)
        assert differences(trace, again) == [], step
        trace = again


@pytest.mark.parametrize("name", KINETO)
def test_perfetto_loads_all_of_an_exported_trace(name: str, corpus: Path, tmp_path: Path) -> None:
    trace = load_file(corpus / name)
    total, flows = "select sum(dur) from slice where dur > 0", "select count(*) from flow"
    export_file(trace, tmp_path / "t.json")
    found = in_perfetto(tmp_path / "t.json", total, flows)
    assert (found["error"], found["problems"]) == (None, {})
    assert found["slices"] == len(trace.slices) + len(trace.instants) + len(trace.memory)
    dur_ns, starts = trace.slices.dur_ns, trace.slices.ts_ns
    queries = found["queries"]
    assert int(queries[total] or 0) == int(dur_ns[dur_ns > 0].sum())
    # Perfetto draws no arrow back in time
    forward = starts[trace.flows.from_slice] <= starts[trace.flows.to_slice]
    assert int(queries[flows]) == int(forward.sum())


def test_perfetto_loads_what_is_unfinished_empty_or_crosses(tmp_path: Path) -> None:
    from test_export_chrome import awkward_trace

    trace = awkward_trace()
    export_file(trace, tmp_path / "t.json")
    found = in_perfetto(tmp_path / "t.json")
    assert (found["error"], found["problems"]) == (None, {})
    assert found["slices"] == len(trace.slices) + len(trace.instants) + len(trace.memory)


def test_perfetto_draws_flows_between_slices_that_begin_at_one_moment(tmp_path: Path) -> None:
    builder = TraceBuilder()
    process = builder.track("python", pid=3)
    one, two = (builder.track(f"t{tid}", kind="host_thread", parent=process, pid=3, tid=tid) for tid in (4, 5))
    # on either track two slices that begin together; flows from and to the inner ones, in both directions
    names = [builder.string(name) for name in ("outer one", "one", "outer two", "two")]
    builder["slices"].append(ts_ns=[9, 9, 9, 9], dur_ns=[5, 2, 5, 0], track=[one, one, two, two], name=names)
    builder["flows"].append(from_slice=[1, 3], to_slice=[3, 1])
    export_file(builder.finish(), tmp_path / "t.json")
    flows = "select o.name, i.name from flow join slice o on o.id=slice_out join slice i on i.id=slice_in order by 1"
    assert in_perfetto(tmp_path / "t.json", flows)["queries"][flows] == "one|two|two|one"
