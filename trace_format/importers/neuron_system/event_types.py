"""The types of events that the Neuron runtime records: where each is shown and what category it is.

The names are those of AWS's public header nrt_sys_trace.h and of the Neuron docs' pages on filters; a type that is
not among them is an event of the runtime.
"""

from __future__ import annotations

import re

EXECUTION = "nc_exec_running"
COLLECTIVE = "cc_running"
# AWS Neuron docs, NEURON_RT_INSPECT_EVENT_FILTER_TYPE: the group "hardware"
HARDWARE = frozenset(
    {
        EXECUTION, COLLECTIVE, "cc_exec_barrier", "numerical_err", "nrt_model_switch", "timestamp_sync_point",
        "hw_notify",
    }
)  # fmt: skip
_CATEGORIES = {
    EXECUTION: "compute",
    COLLECTIVE: "collective", "cc_exec_barrier": "collective", "hostcc_exec": "collective",
    "tensor_read": "memcpy", "tensor_write": "memcpy", "tensor_read_batch": "memcpy", "tensor_write_batch": "memcpy",
    "dmem_buf_copyin": "memcpy", "dmem_buf_copyout": "memcpy",
    "dmem_buf_copyin_batch": "memcpy", "dmem_buf_copyout_batch": "memcpy",
    "async_sema_wait": "sync", "kbl_exec_wait": "sync", "hostcc_wait": "sync", "tensor_block_while_exec": "sync",
}  # fmt: skip
_OTHER_NAMES = {
    "device_exec": EXECUTION, "cc_exec": COLLECTIVE, "nc_model_switch": "nrt_model_switch",
    "execute_api": "nrt_execute",
}  # fmt: skip
_OPS = (
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter", "send",
    "recv", "barrier",
)  # fmt: skip
_OP_BY_LETTERS = {op.replace("_", ""): op for op in _OPS}
# Fields that say how many bytes an event is about.
BYTES_KEYS = ("size", "total_size", "allocated_bytes", "freed_bytes")


def event_type(name: str) -> str:
    """The type under which this file knows an event of this name; the name in lower case where it knows none."""
    plain = name.strip().lower()
    return _OTHER_NAMES.get(plain, plain)


def category(kind: str) -> str:
    """The category (one of `tables.CATEGORIES`) of an event of this type."""
    return _CATEGORIES.get(kind, "other" if kind in HARDWARE else "runtime")


def collective_op(name: object) -> str:
    """The operation, by the names that the table of collectives has; "" for what is no name of one."""
    return _OP_BY_LETTERS.get(re.sub(r"[^a-z]", "", name.lower()), "") if isinstance(name, str) else ""
