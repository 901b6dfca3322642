"""Reads what AWS's tools write about the host side of a Neuron job: framework, runtime, hardware by process.

- `system_profile`: a system profile as JSON.
- `runtime_events`: the events of the runtime as JSON, as `nrt_sys_trace_fetch_events` gives them.
- `document`, `values`: the JSON of both, whole or damaged.
- `event_types`: what types of events there are.
- `tracks`, `activity`, `executions`, `usage`: where an event is shown, and the rows made of it.

Rows, in both: a call, a transfer or an execution is a slice, `source_category` its type ("nc_exec_running"),
`correlation` the number of its request (nrta_seq_id), `event_index` the source's id, `bytes` what it moved or took;
all else the source tells are its arguments. An execution on a physical core is of category `compute`; one that
several cores made together is shown once more, as `annotation`, from the first start to the last end.
"""

from trace_format.importers.neuron_system.runtime_events import read_runtime_json
from trace_format.importers.neuron_system.system_profile import read_system_json

__all__ = ["read_runtime_json", "read_system_json"]
