"""Formats memory records as torch.profiler writes them, many at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from trace_format.exporters.event_text import CHUNK_ROWS, SCOPE_LETTERS, SEPARATOR
from trace_format.exporters.lanes import Lanes
from trace_format.exporters.text_rows import TextRows, joined
from trace_format.trace import Trace
from trace_format.trace_events import memory

Array = np.ndarray

_DEVICE_TYPES = {name: number for number, name in enumerate(memory.DEVICE_TYPES)}
_OTHER_DEVICE = len(memory.DEVICE_TYPES) - 1


def memory_events(trace: Trace, lanes: Lanes, base_ns: int) -> Iterator[bytes]:
    """Memory records as torch.profiler writes them. Those that say the same things are made together."""
    table = trace.memory
    spare = max([999_999, *lanes.process, *lanes.tid]) + 1
    optional = [
        (b'"Total Reserved":', table.reserved_bytes), (b'"Total Allocated":', table.total_bytes),
        (b'"Ev Idx":', table.event_index),
    ]  # fmt: skip
    for first in range(0, len(table), CHUNK_ROWS):
        chunk = slice(first, first + CHUNK_ROWS)
        track, device = table.track[chunk].astype(np.int64), table.device[chunk].astype(np.int64)
        keys, place = np.unique((track + 1) << 32 | device, return_inverse=True)
        place = place << len(optional)
        for bit, (_, values) in enumerate(optional):
            place |= (values[chunk] >= 0).astype(np.int64) << bit
        out = np.empty(len(track), object)
        for found in np.unique(place).tolist():
            which = np.flatnonzero(place == found)
            key = int(keys[found >> len(optional)])
            line = lanes.first[(key >> 32) - 1] if key >> 32 else -1
            pid, tid = (lanes.pid[line], lanes.tid[line]) if line >= 0 else (spare, spare)
            head = f'"cat":"cpu_instant_event","s":"{SCOPE_LETTERS[0]}","name":"{memory.NAME}","pid":{pid},"tid":{tid}'
            pieces = TextRows(len(which))
            pieces.put(f'{SEPARATOR}{{"ph":"i",{head},"ts":'.encode())
            pieces.microseconds(table.ts_ns[chunk][which] - base_ns)
            pieces.put(b',"args":{"Bytes":')
            pieces.integers(table.delta_bytes[chunk][which])
            pieces.put(b',"Addr":')
            pieces.naturals(table.address[chunk][which])
            for bit, (name, values) in enumerate(optional):
                if found >> bit & 1:
                    pieces.put(b"," + name)
                    pieces.integers(values[chunk][which])
            pieces.put(_device(trace.pool.strings[key & 0xFFFFFFFF]))
            out[which] = pieces.finish()
        yield joined(out.tolist())


def _device(name: str) -> bytes:
    kind, _, number = name.partition(":")
    which = int(number) if re.fullmatch("[0-9]{1,9}", number) else -1
    return f',"Device Id":{which},"Device Type":{_DEVICE_TYPES.get(kind, _OTHER_DEVICE)}}}}}'.encode()
