"""Traces without brackets around their events: one event on each line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from trace_differences import differences
from trace_event_files import complete, event, load_events, load_text

from trace_format.errors import UnsupportedFormatError
from trace_format.importers import load_file
from trace_format.importers.trace_event_json import events as reading

EVENTS: list[dict[str, Any]] = [
    complete("op", 1, 5, cat="cpu_op", args={"External id": 4, "text": "}, {"}),
    event("C", "bytes", 2, args={"a": 7}),
    event("B", "outer", 3), event("E", "outer", 9),
    event("M", "thread_name", 0, args={"name": "main"}),
    complete("inner", 2, 1, tts=8),
]  # fmt: skip
LINES = [json.dumps(one) for one in EVENTS]
A, B = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}', '{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":3}'


@pytest.mark.parametrize("chunk", [100, 8 << 20])
@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES), "\n".join(LINES) + "\n", "\r\n".join(LINES), "\n\n".join(LINES), "\n \r\n\t".join(LINES),
        "\ufeff" + "\n".join(LINES), "\n\n" + "\n".join(LINES), "\n".join(json.dumps(e, indent=1) for e in EVENTS),
    ],
    ids=["plain", "ended", "crlf", "blank lines", "spaces", "bom", "blank before", "indented"],
)  # fmt: skip
def test_events_on_lines_are_the_trace_that_they_are_in_a_list(
    text: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK_BYTES", chunk)
    in_a_list = load_text(tmp_path, json.dumps(EVENTS))
    trace = load_text(tmp_path, text)
    assert trace.report.to_dict() == {"source_events": 6, "kept": 6, "left_out": {}, "repaired": {}}
    assert not differences(trace, in_a_list)
    assert load_text(tmp_path, text, "trace.json.gz").slices.text("name") == in_a_list.slices.text("name")


def test_one_event_alone_is_a_trace(tmp_path: Path) -> None:
    assert load_text(tmp_path, A).slices.text("name") == ["a"]


def test_a_line_that_is_no_event_is_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, "\n".join([A, "null", "5", '"text"', "[1]", '{"level":"info"}', B]))
    assert trace.slices.text("name") == ["a", "b"]
    assert trace.report.to_dict()["left_out"] == {"entry that is no object": 4, "event without a phase": 1}


def test_a_line_before_the_events_is_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, "\n".join(['{"version":1}', A, B]))
    assert trace.slices.text("name") == ["a", "b"]
    assert trace.report.to_dict()["left_out"] == {"event without a phase": 1}


def test_a_last_line_that_is_cut_off_is_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, A + "\n" + B[:-5])
    assert trace.slices.text("name") == ["a"]
    place = len(A) + 1
    assert trace.report.to_dict()["left_out"] == {f"event cut off by the end of the file (byte {place})": 1}


def test_lines_that_go_on_after_a_document_are_a_further_document(tmp_path: Path) -> None:
    text = '{"traceEvents":[' + A + "]}\n"
    trace = load_text(tmp_path, text + B + "\n" + B)
    assert trace.slices.text("name") == ["a", "b", "b"]
    assert trace.report.to_dict()["repaired"] == {f"a further document in the same file (byte {len(text)})": 1}


def test_a_list_whose_beginning_is_missing_is_said(tmp_path: Path) -> None:
    trace = load_text(tmp_path, A + ",\n" + B + "]}")
    assert trace.slices.text("name") == ["a", "b"]
    assert trace.report.repaired["the file begins inside its list of events"] == 1


def test_a_zstandard_file_cut_off_between_two_lines_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.zst"
    compressor = zstandard.ZstdCompressor().compressobj()
    data = compressor.compress((A + "\n").encode()) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    path.write_bytes(data)  # the rest of the frame never came
    trace = load_file(path)
    assert trace.slices.text("name") == ["a"]
    assert trace.report.to_dict()["repaired"] == {f"the zstandard stream ends early (byte {len(data)})": 1}


@pytest.mark.parametrize(
    "line",
    ['{"name":"app","pid":1,"level":30,"ts":5}', '{"ts":1,"ph":7.2}', '{"time":1,"msg":"say \\"ph\\": \\"X\\""}',
     '{"metric":{"ph":"X"}}'],
)  # fmt: skip
def test_lines_of_something_else_are_no_trace(line: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormatError, match="is JSON lines, but no trace: what is on its first line is no ev"):
        load_text(tmp_path, "\n".join([line] * 3))


def test_a_document_with_events_is_not_taken_for_lines(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 1, 1)], name="run 5", id=3)
    assert trace.metadata["source_metadata"] == {"name": "run 5", "id": 3}
