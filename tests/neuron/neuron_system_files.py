"""Synthetic system profiles and runtime events, to the layout that AWS documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

T0 = 1_700_000_000_000_000_000  # a unix time
INSTANCE = "i-0123456789abcdef0"


def system_event(name: str, at_ns: int, dur_ns: int | None, **fields: Any) -> dict[str, Any]:
    """An event `at_ns` after T0 of process 77 on the usual instance."""
    event = {"name": name, "timestamp": T0 + at_ns, "duration": dur_ns, "timestamp_unit": "ns",
             "instance_id": INSTANCE, "process_id": "77", **fields}  # fmt: skip
    return {key: value for key, value in event.items() if value is not None}


def system_profile() -> dict[str, Any]:
    """One step: the framework hands over, the runtime executes, two physical cores of NC 0 run."""
    return {
        "trace_event": [
            system_event("aten::mm", 0, 500, thread_id=9, type=99999, group="framework-9", id=1, nrta_seq_id=41),
            system_event("nrt_execute", 600, 9_000, thread_id=12, nc_idx=0, type=11, group="nrt-nc-000", id=2,
                         nrta_seq_id=41, model_name="model.neff"),
            system_event("tensor_read", 10_000, 50, thread_id=12, nc_idx=0, type=11, group="nrt-nc-000", id=3,
                         size=4096, tensor_id=5, tensor_name="out"),
            system_event("nc_exec_running", 1_000, 7_000, nc_idx=0, device_core_idx=4, exec_id=3, id=4, parent_id=2,
                         nrta_seq_id=41, model_name="model.neff", type=11),
            system_event("cc_running", 2_000, 800, nc_idx=0, exec_id=3, id=5, algorithm="Ring", op="AllReduce"),
        ],
        "cpu_util": [
            {"timestamp": T0, "duration": 1000, "cpu_id": 0, "util": 25.0, "instance_id": INSTANCE},
            {"timestamp": T0 + 1000, "duration": 1000, "cpu_id": 0, "util": 75.0, "instance_id": INSTANCE},
        ],
        "mem_usage": [
            {"timestamp": T0, "duration": 1000, "percent_usage": 0.5, "usage": 1 << 33, "instance_id": INSTANCE},
        ],
        "device_mem_usage": [{"timestamp": T0, "hbm_idx": 1, "total_bytes": 1000, "dram_spill_bytes": 24}],
        "system_profile_metadata": {"first_ts_ns": T0, "last_ts_ns": T0 + 10_050, "hbm_capacity_bytes": 1 << 34},
        "device_profile_list": [],
        "warnings": [{"message": "DGE notifications were off", "category": "capture"}],
    }  # fmt: skip


def runtime_event(kind: str, phase: str, at_ns: int, tracking: int, **fields: Any) -> dict[str, Any]:
    """An event of worker 0 for NC 0, `at_ns` after T0; `data` is the field of that name."""
    return {"event_type": kind, "phase": phase, "id": tracking, "tracking_id": tracking, "thread_id": 12, "nc_idx": 0,
            "nc_local_id": 0, "worker_gid": 0, "timestamp_ns": T0 + at_ns, "data": {}, **fields}  # fmt: skip


def execution_events(at_ns: int, end_ns: int, tracking: int, core: int, exec_id: int, **data: Any) -> list[Any]:
    """Start and stop of an execution on a physical core; the host saw both 50 ns later."""
    start = {"device_core_idx": core, "exec_id": exec_id, "nc_timestamp_ns": T0 + at_ns, "model_id": 10001, **data}
    return [
        runtime_event("nc_exec_running", "start", at_ns + 50, tracking, data=start),
        runtime_event("nc_exec_running", "stop", end_ns + 50, tracking, data={"nc_timestamp_ns": T0 + end_ns}),
    ]


def runtime_events() -> dict[str, Any]:
    """An execution with a transfer before it, on two physical cores of NC 0."""
    return {
        "events": [
            runtime_event("tensor_write", "start", 0, 1, data={"tensor_id": 5, "size": 512}),
            runtime_event("tensor_write", "stop", 40, 1),
            runtime_event("nrt_execute", "start", 100, 2, nrta_seq_id=41, data={"model_id": 10001}),
            *execution_events(1_000, 8_000, 3, 4, 7),
            *execution_events(1_200, 8_100, 4, 5, 7),
            runtime_event("nrt_execute", "stop", 9_000, 2),
            runtime_event("hw_notify", "instant", 5_000, 9, data={"hint": 1}),
        ],
        "data_version": 2,
    }


def saved(path: Path, value: Any) -> Path:
    """The path, with the value written to it as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path
