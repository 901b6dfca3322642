"""The promises of trace.proto: versions, limits, and what a reader in another language relies on."""

from __future__ import annotations

import importlib.util
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from google.protobuf import descriptor_pb2
from trace_strategies import small_trace

from trace_format import (
    LimitExceededError,
    NeuronProfileError,
    TraceBuilder,
    TraceReader,
    UnsupportedFormatError,
    read_trace,
    write_trace,
)
from trace_format.limits import Limits
from trace_format.proto import trace_pb2 as pb
from trace_format.trace_pb import wire, writer

ROOT = Path(__file__).resolve().parents[2]


def test_a_whole_file_is_one_protobuf_message(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    message = pb.Trace.FromString((tmp_path / "trace.pb").read_bytes())
    assert message.magic == 0x0A1A0A4250524E89
    assert (message.header.major, message.header.minor) == (1, 0)
    assert [b.table for b in message.blocks if b.table == "slices"] == ["slices"] * 3
    assert message.metadata[0].json == b'{"host":"here"}'


def test_a_reader_made_from_the_document_alone_gets_the_times(tmp_path: Path) -> None:
    """Decodes one column with nothing but struct, zlib, zstandard and the text of docs/trace_format.md."""
    write_trace(small_trace(), tmp_path / "trace.pb")
    data = (tmp_path / "trace.pb").read_bytes()
    message = pb.Trace.FromString(data)
    (index_at,) = struct.unpack("<Q", data[-8:])
    assert data[index_at] == (14 << 3) | 2
    block = next(b for b in message.blocks if b.table == "slices")
    sealed = block.SerializeToString(deterministic=True)
    assert zlib.crc32(sealed[:-5]) == block.crc32
    column = next(c for c in block.columns if c.name == "correlation")
    raw = zstandard.ZstdDecompressor().decompress(column.data) if column.codec == pb.ZSTD else column.data
    value, values = column.base, [column.base]
    for i in range(block.rows - 1):
        stored = sum(raw[plane * (block.rows - 1) + i] << (8 * plane) for plane in range(column.width))
        value = (value + column.step + stored) % 2**64
        values.append(value)
    assert column.transform == pb.DELTA
    assert values == [3 * i for i in range(40)]


def test_a_newer_major_version_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAJOR", 2)
    write_trace(small_trace(), tmp_path / "trace.pb")
    with pytest.raises(
        UnsupportedFormatError, match=r"format 2\.0, written by neuron-profile; this one reads 1\.x: upgrade"
    ):
        read_trace(tmp_path / "trace.pb")


def test_a_newer_minor_version_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MINOR", 7)
    write_trace(small_trace(), tmp_path / "trace.pb")
    assert len(read_trace(tmp_path / "trace.pb").slices) == 120


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (Limits(rows=119), "table 'slices' has 120 rows"),
        (Limits(decoded_bytes=900), "table 'slices' needs"),
        (Limits(record_bytes=30), "more than the 30 allowed"),
    ],
)
def test_a_limit_is_refused_before_anything_is_allocated(limits: Limits, what: str, tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with pytest.raises(LimitExceededError, match=what):
        read_trace(tmp_path / "trace.pb", limits=limits)


def test_a_small_file_that_claims_to_be_huge_allocates_nothing(tmp_path: Path) -> None:
    """A bomb: a column whose 20 compressed bytes claim to become a gigabyte."""
    column = pb.Column(name="ts_ns", type=pb.I64, transform=pb.DELTA, width=8, codec=pb.ZSTD)
    column.data = zstandard.ZstdCompressor().compress(bytes(1 << 26))
    block = pb.Block(table="slices", rows=60_000, columns=[column])
    with writer.TraceWriter(tmp_path / "trace.pb") as bomb:
        bomb._index.table_names.append("slices")
        for name, value in (("table", 0), ("rows", 60_000), ("track", 0), ("ts_min", 0), ("ts_max", 0)):
            getattr(bomb._index, name).append(value)
        bomb.record(wire.BLOCKS, block.SerializeToString())
    with pytest.raises(NeuronProfileError, match="does not have the size it should have"):
        read_trace(tmp_path / "trace.pb")


def test_records_of_a_later_version_are_kept_when_rewritten(tmp_path: Path) -> None:
    with writer.TraceWriter(tmp_path / "one.pb") as later:
        later.record(12, b"\x0a\x05later")
    write_trace(read_trace(tmp_path / "one.pb"), tmp_path / "two.pb")
    assert read_trace(tmp_path / "two.pb").later_records == ((12, b"\x0a\x05later"),)


def test_a_reference_beyond_its_table_is_an_error(tmp_path: Path) -> None:
    trace = small_trace()
    with writer.TraceWriter(tmp_path / "t.pb") as lying:
        lying.rows("slices", trace.slices)  # without the tracks and strings they refer to
    with pytest.raises(NeuronProfileError, match=r"slices\.\w+ refers to something the file lacks"):
        read_trace(tmp_path / "t.pb")


def test_the_reader_holds_no_more_than_it_was_asked_for(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.pb")
    with TraceReader(tmp_path / "trace.pb") as reader:
        part = reader.table("slices", columns=["correlation"])
    held = [name for name, values in part.stored().items() if values.strides != (0,)]
    assert held == ["correlation"]


@pytest.mark.skipif(importlib.util.find_spec("grpc_tools") is None, reason="grpcio-tools is not installed")
def test_the_generated_code_is_that_of_the_proto_file(tmp_path: Path) -> None:
    """Compares descriptors, not text, so that any version of protoc can check."""
    out = tmp_path / "trace.binpb"
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(ROOT), f"--descriptor_set_out={out}"]
    subprocess.run([*command, str(ROOT / "trace_format/proto/trace.proto")], check=True, capture_output=True)
    fresh = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file[0]
    committed = descriptor_pb2.FileDescriptorProto()
    pb.DESCRIPTOR.CopyToProto(committed)
    fresh.ClearField("json_name") if "json_name" in fresh.DESCRIPTOR.fields_by_name else None
    for message in fresh.message_type:
        for field in message.field:
            field.ClearField("json_name")
    assert committed == fresh, "run `make proto`"


def test_every_type_of_column_is_stored_as_documented(tmp_path: Path) -> None:
    trace = small_trace()
    write_trace(trace, tmp_path / "trace.pb")
    message = pb.Trace.FromString((tmp_path / "trace.pb").read_bytes())
    transforms = {(c.name, c.transform) for b in message.blocks if b.table == "slices" for c in b.columns}
    assert ("ts_ns", pb.DELTA) in transforms
    assert ("dur_ns", pb.CONSTANT) in transforms
    assert not {name for name, _ in transforms} & {"bytes", "flops", "stack"}  # unknown throughout: not stored
    assert np.isnan(read_trace(tmp_path / "trace.pb").slices.flops).all()


@pytest.mark.parametrize(
    ("times", "what"),
    [
        ({"ts_ns": [2**63 - 10], "dur_ns": [5]}, "times more than"),
        ({"ts_ns": [-(2**63) + 1], "dur_ns": [5]}, "times more than"),
        ({"ts_ns": [0], "dur_ns": [2**63 - 1]}, "durations of more than"),
    ],
)
def test_times_that_cannot_be_added_are_refused(times: dict[str, list[int]], what: str, tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder["slices"].append(track=builder.track("t"), **times)
    write_trace(builder.finish(), tmp_path / "t.pb")
    with pytest.raises(NeuronProfileError, match=what):
        read_trace(tmp_path / "t.pb")
