"""Files made to be too much, each for a process of its own: `python hostile.py NAME SIZE`.

Prints what became of the file: how many slices it has, or the error.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import campaign
import zstandard
from trace_records import file_of

from trace_format.proto import trace_pb2 as pb
from trace_format.trace_pb import wire

PREFIX, SUFFIX = b'{"traceEvents":[', b"]}"
EVENT = b'{"ph":"X","name":"%b","pid":1,"tid":%d,"ts":%d,"dur":%d}'


def _file_of_events(events: Iterator[bytes]) -> bytes:
    return PREFIX + b",".join(events) + SUFFIX


def gzip_of_spaces(size: int) -> bytes:
    return gzip.compress(PREFIX + b" " * size + SUFFIX, 1)


def zstandard_of_brackets(size: int) -> bytes:
    return zstandard.compress(b"[" * size)


def one_huge_string(size: int) -> bytes:
    return gzip.compress(PREFIX + b'{"ph":"X","name":"' + b"n" * size, 1)


def nested_arrays(size: int) -> bytes:
    return b"[" * size


def nested_arguments(size: int) -> bytes:
    good = EVENT % (b"good", 1, 1, 1)
    deep = b'{"ph":"X","name":"deep","ts":1,"dur":1,"args":' + b'{"a":' * size + b"1" + b"}" * size + b"}"
    return PREFIX + deep + b"," + good + SUFFIX


def long_names(size: int) -> bytes:
    return _file_of_events(EVENT % (b"%d" % i * 200_000, 1, i, 1) for i in range(size))


def distinct_names(size: int) -> bytes:
    return _file_of_events(EVENT % (b"name %d" % i, 1, i, 1) for i in range(size))


def distinct_arguments(size: int) -> bytes:
    events = (b'{"ph":"X","name":"n","ts":%d,"dur":1,"args":{"key %d":%d}}' % (i, i, i) for i in range(size))
    return _file_of_events(events)


def many_tracks(size: int) -> bytes:
    return _file_of_events(EVENT % (b"n", i, i, 1) for i in range(size))


def many_processes(size: int) -> bytes:
    return _file_of_events(b'{"ph":"X","name":"n","pid":%d,"tid":1,"ts":1,"dur":1}' % i for i in range(size))


def all_overlap(size: int) -> bytes:
    return _file_of_events(EVENT % (b"n", 1, i, 10**9) for i in range(size))


def never_ended(size: int) -> bytes:
    return _file_of_events(b'{"ph":"B","name":"n","pid":1,"tid":1,"ts":%d}' % i for i in range(size))


_LOG_LINE = b'V0728 16:17:28.000000 1 a.py:1] {"artifact":{"name":"a"},"rank":%d}\n'


def log_of_one_payload(size: int) -> bytes:
    return gzip.compress(_LOG_LINE % 0) + gzip.compress((b"\t" + b"x" * 63) * 10_000, 1) * (size // 640_000)


def log_of_many_lines(size: int) -> bytes:
    return gzip.compress(_LOG_LINE % 0) + gzip.compress(b"\t\n" * 10_000, 1) * (size // 10_000)


def log_of_many_ranks(size: int) -> bytes:
    return b"".join(_LOG_LINE % rank for rank in range(size))


def timeline_of_many_rows(size: int) -> bytes:
    return gzip.compress(b"[[1,1,1,1]") + gzip.compress(b",[2,2,2,2]" * 10_000, 1) * (size // 10_000)


def timeline_of_brackets(size: int) -> bytes:
    return gzip.compress(b"[[1,1,1,1]" + b"[" * size, 1)


def blocks_out_of_nothing(size: int) -> bytes:
    blocks = []
    for number in range(size):
        block = pb.Block(table="slices", rows=65_536, first_row=65_536 * number)
        block.columns.append(pb.Column(name="ts_ns", type=pb.I64, transform=pb.DELTA, step=1))
        blocks.append((wire.BLOCKS, block.SerializeToString()))
    return file_of([(wire.HEADER, pb.Header(major=1).SerializeToString()), *blocks], index=None)


def values_out_of_nothing(size: int) -> bytes:
    """Chunks of one string of 256 MiB each."""
    length, text = 1 << 28, zstandard.compress(bytes(1 << 28))
    records = [(wire.HEADER, pb.Header(major=1).SerializeToString())]
    for number in range(1, size + 1):
        values = pb.Values(first_id=number, count=1, raw_size=length, codec=pb.ZSTD, data=text)
        values.lengths = zstandard.compress(length.to_bytes(4, "little"))
        records.append((wire.STRINGS, values.SerializeToString()))
    return file_of(records, index=None)


def many_tables(size: int) -> bytes:
    blocks = [(wire.BLOCKS, pb.Block(table=f"table {i}", rows=1).SerializeToString()) for i in range(size)]
    return file_of([(wire.HEADER, pb.Header(major=1).SerializeToString()), *blocks], index=None)


MAKERS: dict[str, Callable[[int], bytes]] = {
    maker.__name__: maker
    for maker in (
        gzip_of_spaces, zstandard_of_brackets, one_huge_string, nested_arrays, nested_arguments, long_names,
        distinct_names, distinct_arguments, many_tracks, many_processes, all_overlap, never_ended,
        log_of_one_payload, log_of_many_lines, log_of_many_ranks, timeline_of_many_rows, timeline_of_brackets,
        blocks_out_of_nothing, values_out_of_nothing, many_tables,
    )
}  # fmt: skip


def main(name: str, size: int, seconds: int) -> None:
    from trace_format import NeuronProfileError, read_trace
    from trace_format.exporters import export_file
    from trace_format.importers import load_file

    data = MAKERS[name](size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(data)
        del data
        campaign.limit(seconds)
        try:
            trace = load_file(path)
        except NeuronProfileError as error:
            print(json.dumps({"error": str(error), "kind": type(error).__name__}))
            return
        for suffix in campaign.SUFFIXES:
            export_file(trace, Path(folder, f"again{suffix}"))
        again = read_trace(Path(folder, "again.pb"))
        print(json.dumps({"slices": len(trace.slices), "again": len(again.slices), "report": trace.report.to_dict()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
