"""Tells the files of AWS's Neuron tools apart by how they begin."""

from __future__ import annotations

import re

from trace_format.importers.format import Format

_NEFF_HEADER_BYTES = 1024  # a gzipped tar archive follows
# Version, length of the protobuf (8 bytes); the protobuf follows. Versions 4 to 6 are known; a later one says so.
_NTFF_VERSIONS, _NTFF_HEADER_BYTES = range(1, 32), 0x80
_PARQUET_MAGIC = b"PAR1"
# The sections of a device profile, each a list of objects, in any order.
_DEVICE_NAMES = (
    rb"instruction|dma|active_time|semaphore_update|pending_dma|dma_throughput|instruction_usage|ham|layer_summary|"
    rb"neff_node|neff_header|dma_queues_info|nc_mem_usage|model_info|profile_info|summary_groups|summary_group_order|"
    rb"terminology|cc_ops?"
)
_DEVICE_SECTION = re.compile(rb'\{\s*"(?:' + _DEVICE_NAMES + rb'|metadata|summary)"\s*:\s*\[\s*[{\]]')
# One that begins with a section which is not its own alone, or which is not known: another section tells.
_SOME_SECTION = re.compile(rb'\{\s*"(?!traceEvents")\w+"\s*:\s*\[\s*[{\]]')
_LATER_DEVICE_SECTION = re.compile(rb'\]\s*,\s*"(?:' + _DEVICE_NAMES + rb')"\s*:\s*\[\s*[{\]]')
_LATER_TRACE_EVENTS = re.compile(rb'\]\s*,\s*"traceEvents"\s*:\s*\[')
_SYSTEM_NAMES = rb"trace_events?|cpu_util|mem_usage|device_mem_usage|system_profile_metadata|device_profile_list"
_SYSTEM_SECTION = re.compile(rb'\{\s*"(?:' + _SYSTEM_NAMES + rb')"\s*:\s*[\[{]')
_LATER_SYSTEM_SECTION = re.compile(rb'\]\s*,\s*"(?:' + _SYSTEM_NAMES + rb')"\s*:\s*[\[{]')
_RUNTIME_EVENTS = re.compile(rb'\{\s*"(?:data_version"\s*:\s*\d|events"\s*:\s*\[\s*(?:\{[^{}]*"event_type"|\]))')
_MONITOR_PERIOD = re.compile(
    rb'\{\s*"(?:neuron_runtime_data|system_data|instance_info|neuron_hardware_info)"\s*:\s*[\[{]'
)
_CC_LOG_LINE = re.compile(
    rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +(?:(?:DEBUG|INFO|USER|WARNING|ERROR|CRITICAL|FATAL) +\d+ +\[[^\]\n]+\]:|"
    rb"\S{1,200} finished after [\d.]+ seconds)|"
    rb"\|\|(?:NEURON_CC_WRAPPER|NCC_WRAPPER|NEURON_CACHE)\|\|",
    re.MULTILINE,
)
_CC_METRICS = re.compile(
    rb'\{\s*"(?:Average|Count|Sum|all|sg\d+)"\s*:\s*\{|\[\s*\{\s*"MetricName"\s*:|'
    rb'\{\s*"(?:AliasedOutputSize|ArithmeticIntensity|HloMacCount)"\s*:\s*[-\d]'
)


def neuron_format(head: bytes, text: bytes) -> Format | None:
    """The format of a file that begins with `head`, without a BOM and white space `text`; None for any other file."""
    if head.startswith(_PARQUET_MAGIC):
        return Format.PARQUET
    if _is_ntff(head):
        return Format.NTFF
    if head[_NEFF_HEADER_BYTES : _NEFF_HEADER_BYTES + 2] == b"\x1f\x8b":
        return Format.NEFF
    of_profile = _profile_format(text)
    if of_profile is not None:
        return of_profile
    for pattern, found in (
        (_SYSTEM_SECTION, Format.NEURON_SYSTEM_JSON),
        (_RUNTIME_EVENTS, Format.NEURON_RUNTIME_JSON),
        (_MONITOR_PERIOD, Format.NEURON_MONITOR),
        (_CC_METRICS, Format.NEURONX_CC_METRICS),
    ):
        if pattern.match(text):
            return found
    return Format.NEURONX_CC_LOG if _CC_LOG_LINE.search(head) and text[:1] not in (b"{", b"[") else None


def _profile_format(text: bytes) -> Format | None:
    if not _SOME_SECTION.match(text) or _LATER_TRACE_EVENTS.search(text):
        return None
    if _DEVICE_SECTION.match(text) or _LATER_DEVICE_SECTION.search(text):
        return Format.NEURON_DEVICE_JSON
    return Format.NEURON_SYSTEM_JSON if _LATER_SYSTEM_SECTION.search(text) else None


def _is_ntff(head: bytes) -> bool:
    first_field = head[_NTFF_HEADER_BYTES : _NTFF_HEADER_BYTES + 1]  # none where the file is cut off before it
    return head[0] in _NTFF_VERSIONS and head[6:9] == bytes(3) and first_field in (b"\x0a", b"")
