"""What neuronx-cc measured, as a carried table and as phases of a compile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_format import Trace
from trace_format.errors import DamagedFileError, NeuronProfileError
from trace_format.importers import load_file

STORE = {
    "Average": {},
    "Count": {},
    "Sum": {"compiletime": {"hlo-mac-count": 1.5, "A": 0.25}, "note": "text"},
    "all": {"compiletime": {"hlo-mac-count": 1.5}},
    "sg0000": {
        "compiletime": {"A": 0.25},
        "hilo": {"HloMacCount": 1160, "Traffic": 2328, "ArithmeticIntensity": 0.99656355},
        "tensorizer": {"StaticProfiler::DDRTransferBytes": 1 << 40},
    },
}


def load(tmp_path: Path, value: Any) -> Trace:
    path = tmp_path / "global_metric_store.json"
    path.write_text(json.dumps(value))
    return load_file(path)


def rows(trace: Trace) -> list[list[Any]]:
    return trace.extra["neuronx_cc_metrics"].to_pandas()[["scope", "group", "name", "value"]].to_numpy().tolist()


def test_a_metric_store_is_carried_number_by_number(tmp_path: Path) -> None:
    trace = load(tmp_path, STORE)
    assert rows(trace) == [
        ["Sum", "compiletime", "hlo-mac-count", 1.5],
        ["Sum", "compiletime", "A", 0.25],
        ["all", "compiletime", "hlo-mac-count", 1.5],
        ["sg0000", "compiletime", "A", 0.25],
        ["sg0000", "hilo", "HloMacCount", 1160.0],
        ["sg0000", "hilo", "Traffic", 2328.0],
        ["sg0000", "hilo", "ArithmeticIntensity", 0.99656355],
        ["sg0000", "tensorizer", "StaticProfiler::DDRTransferBytes", float(1 << 40)],
    ]
    assert trace.report.to_dict()["left_out"] == {"value that is no number": 1}
    assert trace.report.kept == 8


def test_times_are_the_phases_of_a_compile_and_counted_once(tmp_path: Path) -> None:
    (row,) = load(tmp_path, STORE).compiles.to_pandas().to_dict("records")
    assert json.loads(row["phases"]) == {"hlo-mac-count": 1_500_000_000, "A": 250_000_000}
    assert (row["slice"], row["exit_status"], row["backend"]) == (-1, -1, "neuronx-cc")
    scopes = {name: value for name, value in STORE.items() if name != "Sum"} | {"sg0001": {"compiletime": {"A": 0.5}}}
    (row,) = load(tmp_path, scopes).compiles.to_pandas().to_dict("records")
    assert json.loads(row["phases"]) == {"hlo-mac-count": 1_500_000_000, "A": 750_000_000}


def test_the_smaller_files_are_read_too(tmp_path: Path) -> None:
    trace = load(tmp_path, [{"MetricName": "HloMacCount", "Value": 12, "Unit": "Count"}, {"MetricName": "x"}])
    assert rows(trace) == [["", "", "HloMacCount", 12.0]]
    assert trace.report.left_out == {"value that is no number": 1}
    trace = load(tmp_path, {"AliasedOutputSize": 0, "ArithmeticIntensity": 0.5, "HloMacCount": 1160})
    assert rows(trace)[2] == ["", "", "HloMacCount", 1160.0]
    assert len(trace.compiles) == 0


def test_a_cut_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "global_metric_store.json"
    path.write_text(json.dumps(STORE)[:60])
    with pytest.raises(DamagedFileError, match="no valid JSON"):
        load_file(path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_any_values_are_read_and_counted(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "odd-metrics.json"
    path.write_text(json.dumps({"all": {"compiletime": value, "x": value}}))
    try:
        trace = load_file(path)
    except NeuronProfileError as error:
        assert "\n" not in str(error)
        return
    found = trace.extra.get("neuronx_cc_metrics")
    assert trace.report.kept == (0 if found is None else len(found))
