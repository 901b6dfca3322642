"""Real traces survive every export, and Perfetto's own engine loads all of what is exported."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from trace_differences import differences

from trace_format import Trace
from trace_format.exporters import export_file
from trace_format.importers import load_file

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("NPROF_CORPUS", ROOT.parent / "shared" / "corpus"))
CHECK = Path(os.environ.get("NPROF_PERFETTO_CHECK", ROOT.parent / "shared" / "tools" / "perfetto_check.py"))
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


def _in_perfetto(trace: Trace, path: Path, *queries: str) -> dict[str, object]:
    if not CHECK.is_file():
        pytest.skip(f"PERFETTO WAS NOT ASKED: no {CHECK}; set NPROF_PERFETTO_CHECK")
    if shutil.which("node") is None:
        pytest.skip("PERFETTO WAS NOT ASKED: Node.js is not installed")
    export_file(trace, path)
    run = subprocess.run(
        [sys.executable, str(CHECK), str(path), *queries],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "INITMS": os.environ.get("INITMS", "2500")},
    )  # fmt: skip
    return dict(json.loads(run.stdout))


@pytest.mark.parametrize("name", KINETO)
def test_perfetto_loads_all_of_an_exported_trace(name: str, corpus: Path, tmp_path: Path) -> None:
    trace = load_file(corpus / name)
    total, flows = "select sum(dur) from slice where dur > 0", "select count(*) from flow"
    found = _in_perfetto(trace, tmp_path / "t.json", total, flows)
    assert (found["error"], found["problems"]) == (None, {})
    assert found["slices"] == len(trace.slices) + len(trace.instants) + len(trace.memory)
    dur_ns, starts = trace.slices.dur_ns, trace.slices.ts_ns
    queries = found["queries"]
    assert isinstance(queries, dict)
    assert int(queries[total] or 0) == int(dur_ns[dur_ns > 0].sum())
    # Perfetto draws no arrow back in time
    forward = starts[trace.flows.from_slice] <= starts[trace.flows.to_slice]
    assert int(queries[flows]) == int(forward.sum())


def test_perfetto_loads_what_is_unfinished_empty_or_crosses(tmp_path: Path) -> None:
    from test_export_chrome import awkward_trace

    trace = awkward_trace()
    found = _in_perfetto(trace, tmp_path / "t.json")
    assert (found["error"], found["problems"]) == (None, {})
    assert found["slices"] == len(trace.slices) + len(trace.instants) + len(trace.memory)
