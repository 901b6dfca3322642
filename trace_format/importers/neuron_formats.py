"""Tells the files of AWS's Neuron tools apart by how they begin."""

from __future__ import annotations

import re

from trace_format.importers.format import Format

_NEFF_HEADER_BYTES = 1024  # a gzipped tar archive follows
_NTFF_VERSIONS, _NTFF_HEADER_BYTES = (4, 5, 6), 0x80  # version, length of the protobuf (8 bytes); the protobuf follows
_PARQUET_MAGIC = b"PAR1"
# The sections of a device profile, each a list of objects.
_DEVICE_SECTION = re.compile(
    rb'\{\s*"(?:instruction|dma|active_time|semaphore_update|pending_dma|dma_throughput|instruction_usage|ham|'
    rb"layer_summary|neff_node|neff_header|dma_queues_info|nc_mem_usage|metadata|model_info|profile_info|summary|"
    rb'summary_groups|summary_group_order|terminology|warnings|cc_ops?|error)"\s*:\s*\[\s*[{\]]'
)
_SYSTEM_SECTION = re.compile(
    rb'\{\s*"(?:trace_events?|cpu_util|mem_usage|device_mem_usage|system_profile_metadata|device_profile_list)"\s*:\s*'
    rb"[\[{]"
)
_RUNTIME_EVENTS = re.compile(rb'\{\s*"(?:data_version"\s*:\s*\d|events"\s*:\s*\[\s*(?:\{[^{}]*"event_type"|\]))')
_MONITOR_PERIOD = re.compile(
    rb'\{\s*"(?:neuron_runtime_data|system_data|instance_info|neuron_hardware_info)"\s*:\s*[\[{]'
)
_CC_LOG_LINE = re.compile(
    rb"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* +(?:DEBUG|INFO|USER|WARNING|ERROR|CRITICAL) +\d+ +\[[^\]\n]+\]:|"
    rb"\|\|NEURON_CC_WRAPPER\|\|",
    re.MULTILINE,
)
_CC_METRICS = re.compile(rb'\{\s*"(?:Average|Count|Sum|all|sg\d+)"\s*:\s*\{|\[\s*\{\s*"MetricName"\s*:')


def neuron_format(head: bytes, text: bytes) -> Format | None:
    """The format of a file that begins with `head`, without a BOM and white space `text`; None for any other file."""
    if head.startswith(_PARQUET_MAGIC):
        return Format.PARQUET
    if _is_ntff(head):
        return Format.NTFF
    if head[_NEFF_HEADER_BYTES : _NEFF_HEADER_BYTES + 2] == b"\x1f\x8b":
        return Format.NEFF
    for pattern, found in (
        (_DEVICE_SECTION, Format.NEURON_DEVICE_JSON),
        (_SYSTEM_SECTION, Format.NEURON_SYSTEM_JSON),
        (_RUNTIME_EVENTS, Format.NEURON_RUNTIME_JSON),
        (_MONITOR_PERIOD, Format.NEURON_MONITOR),
        (_CC_METRICS, Format.NEURONX_CC_METRICS),
    ):
        if pattern.match(text):
            return found
    return Format.NEURONX_CC_LOG if _CC_LOG_LINE.search(head) and text[:1] not in (b"{", b"[") else None


def _is_ntff(head: bytes) -> bool:
    first_field = head[_NTFF_HEADER_BYTES : _NTFF_HEADER_BYTES + 1]
    return head[0] in _NTFF_VERSIONS and head[6:9] == bytes(3) and first_field == b"\x0a"
