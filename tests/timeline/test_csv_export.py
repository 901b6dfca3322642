"""The slices of a range as CSV: every row, unknown empty, and no text that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from one_step import MS, START_NS, hostile, one_step
from test_timeline_routes import client_of

from explorer_app.web.timeline import csv_export
from trace_format import TraceBuilder


def rows_of(client: Any, query: str) -> list[dict[str, str]]:
    response = client.get(f"/_trace/csv?{query}")
    assert response.status_code == 200
    assert response.mimetype == "text/csv"
    return list(csv.DictReader(io.StringIO(response.data.decode())))


def test_a_range_gives_what_has_a_part_in_it_in_order_of_time() -> None:
    client = client_of(one_step())
    # [3.5, 7) ms of all tracks: the step and linear go on, gemm too, relu ends with it; the copy begins at 7
    rows = rows_of(client, f"t0={int(3.5 * MS)}&t1={7 * MS}&tracks=0-6")
    assert [row["name"] for row in rows] == ["train_step#0", "aten::linear", "gemm", "aten::relu"]
    assert client.get(f"/_trace/csv/size?t0={int(3.5 * MS)}&t1={7 * MS}&tracks=0-6").json["rows"] == 4
    linear = rows[1]
    assert (linear["ts_ns"], linear["dur_ns"], linear["depth"]) == (str(START_NS + MS), str(3 * MS), "1")
    assert (linear["process"], linear["track"], linear["category"]) == ("trainer", "main thread", "host_op")
    assert (linear["bytes"], linear["flops"], linear["correlation"]) == ("", "", "")
    assert linear["args"] == '{"Input Dims":[[8,16],[16,4]],"note":"<b>bold</b>"}'


def test_only_the_tracks_asked_for_are_written_and_what_did_not_finish_has_no_duration() -> None:
    (row,) = rows_of(client_of(one_step()), f"t0=0&t1={10 * MS}&tracks=2")
    assert (row["name"], row["dur_ns"]) == ("waiting", "")


@pytest.mark.parametrize("start", ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\rx"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    builder = TraceBuilder()
    track = builder.track(start, kind="host_thread")
    builder["slices"].append(1, track=track, ts_ns=-5, dur_ns=1, name=builder.string(start))
    (row,) = rows_of(client_of(builder.finish()), "t0=0&t1=9&tracks=0")
    assert (row["name"], row["track"], row["ts_ns"]) == (f"'{start}", f"'{start}", "-5")


def test_any_name_is_written_and_read_again() -> None:
    names = [row["name"] for row in rows_of(client_of(hostile()), f"t0=0&t1={6 * MS}&tracks=0-1")]
    assert names[:3] == ["<script>window.broken = 1</script>", "<img src=x onerror='window.broken = 2'>",
                         "\"quotes\" 'and' `backticks`"]  # fmt: skip
    assert names[5] == "half a pair \\ud800"


def test_more_than_the_limit_is_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer_app.web.timeline import routes

    monkeypatch.setattr(routes, "MOST_ROWS", 2)
    monkeypatch.setattr(csv_export, "_ROWS_AT_A_TIME", 1)
    client = client_of(one_step())
    everything = f"t0=0&t1={10 * MS}&tracks=0-6"
    assert client.get(f"/_trace/csv/size?{everything}").json == {"rows": 7, "most": 2}
    assert [row["name"] for row in rows_of(client, everything)] == ["train_step#0", "aten::linear"]
