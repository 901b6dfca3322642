"""Any value in the place of any other costs no more than what it belongs to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neuron_system_files import runtime_events, system_profile
from odd_values import with_odd_values
from test_neuron_monitor import period

from trace_format import NeuronProfileError
from trace_format.importers.neuron_monitor import read_neuron_monitor
from trace_format.importers.neuron_system import read_runtime_json, read_system_json
from trace_format.importers.source import Source

READERS = {
    "system": (system_profile, read_system_json),
    "runtime": (runtime_events, read_runtime_json),
    "monitor": (period, read_neuron_monitor),
}


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_odd_values_open_or_are_refused_in_one_line(name: str, data: st.DataObject, tmp_path: Path):
    document, read = READERS[name]
    value: Any = data.draw(with_odd_values(document))
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(value))
    try:
        with Source(path) as source:
            trace = read(source)
    except NeuronProfileError as error:
        assert "\n" not in str(error)
    else:
        report = trace.report.to_dict()
        assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]
        assert all("\n" not in cause for cause in (*report["left_out"], *report["repaired"]))
        assert trace.time_range_ns is None or trace.slices.depth is not None
