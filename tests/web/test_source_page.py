"""The Source page and what it may read; every number worked out by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import constructed
import flask
import pytest
from constructed import HOSTILE
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_pages import components, text_of

from explorer_app.web.pages.source.page import PAGE, asked_for, of_file
from explorer_app.web.sources import SourceText, allow_sources, source_text
from explorer_app.web.view import whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder

MS = 1_000_000
TEXT = f"import torch\n\n\ndef step(model):\n\tmodel('{HOSTILE[0]}')\n"


def two_lines(*, file: str = "train.py", more: str = "") -> Trace:
    """train.py(1) calls train.py(4): step for 30 of its 100 ms, which runs aten::mm for 20, which launches 50 ms."""
    builder = TraceBuilder()
    host = builder.track("main", kind="host_thread", pid=1, rank=0)
    stream = builder.track("stream 7", kind="stream", pid=1, rank=0, device=0)
    for track, name, category, start_ms, dur_ms, linked in (
        (host, f"{file}(1): <module>", "python", 0, 100, -1), (host, f"{file}(4): step", "python", 10, 30, -1),
        (host, "aten::mm", "host_op", 15, 20, 1), (stream, "gemm", "compute", 20, 50, 1),
    ):  # fmt: skip
        builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start_ms * MS,
            dur_ns=dur_ms * MS, external_id=linked,
        )  # fmt: skip
    if more:
        builder.string(more)
    return builder.finish()


def reading(trace: Trace, file: str, *folders: Path, started_in: Path) -> SourceText:
    server = flask.Flask("explorer")
    allow_sources(server, folders, started_in)
    return source_text(server, trace, file)


def test_the_page_says_which_line_takes_the_time() -> None:
    view = whole_view(two_lines())
    said = " ".join(text_of(PAGE.layout(view)).split())
    assert "On the device: train.py:4 (step), 50.0 ms, 100 % of the device's time." in said
    assert "On the host: train.py:1 (<module>), 70.0 ms, 70.0 % of the host's time." in said
    assert asked_for(view, "") == ("train.py", 4)  # 30 + 50 ms of its own, line 1 has 70
    assert asked_for(view, "?file=train.py&line=1") == ("train.py", 1)
    assert asked_for(view, "?file=other.py&line=x") == ("other.py", -1)


def rows_of(found: Any) -> list[dict[str, Any]]:
    return next(part.rowData for part in components(found) if getattr(part, "id", "") == "np-source-lines")


def test_a_file_is_shown_with_the_time_of_each_line() -> None:
    shown = of_file(whole_view(two_lines()), "train.py", SourceText(tuple(TEXT.splitlines())), 4)
    rows = rows_of(shown)
    assert [row["line"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[4]["text"] == f"    model('{HOSTILE[0]}')"
    assert (rows[3]["self_ns"], rows[3]["total_ns"], rows[3]["device_total_ns"], rows[3]["calls"]) == (
        30 * MS, 30 * MS, 50 * MS, 1
    )  # fmt: skip
    assert (rows[0]["self_ns"], rows[0]["total_ns"], rows[0]["device_total_ns"]) == (70 * MS, 100 * MS, 50 * MS)
    assert rows[1]["self_ns"] is None
    said = " ".join(text_of(shown).split())
    assert "gemm compute 50.0 ms 50.0 ms aten::mm host op 20.0 ms 20.0 ms train.py(4): step" in said


def test_without_its_text_the_lines_are_those_of_the_trace() -> None:
    shown = of_file(whole_view(two_lines()), "train.py", SourceText(why="the file is gone"), 4)
    assert [(row["line"], row["function"]) for row in rows_of(shown)] == [(1, "<module>"), (4, "step")]
    assert "No source text: the file is gone." in text_of(shown)


def test_without_lines_the_page_says_what_would_tell_them() -> None:
    assert "with_stack=True" in text_of(PAGE.layout(whole_view(constructed.three_steps())))


def test_a_python_file_below_a_given_folder_that_the_trace_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TEXT)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert reading(two_lines(), "train.py", tmp_path, started_in=elsewhere).lines == tuple(TEXT.splitlines())
    assert reading(two_lines(), "train.py", started_in=tmp_path).lines
    whole = str(tmp_path / "train.py")
    assert reading(two_lines(file=whole), whole, tmp_path, started_in=elsewhere).lines
    assert reading(two_lines(file=whole), whole, elsewhere, started_in=elsewhere).why.startswith(
        "the file is not below"
    )


@pytest.mark.parametrize(
    "file", ["secret.txt", "../secret.py", "link.py", "other.py", "pipe.py", "folder.py", "a\0.py"]
)
def test_nothing_else_is_read(tmp_path: Path, file: str) -> None:
    given = tmp_path / "given"
    (given / "folder.py").mkdir(parents=True)
    for name in ("secret.py", "given/secret.txt", "given/other.py"):
        (tmp_path / name).write_text("secret = 1\n")
    (given / "link.py").symlink_to(tmp_path / "secret.py")
    if hasattr(os, "mkfifo"):
        os.mkfifo(given / "pipe.py")
    named = two_lines(more="" if file == "other.py" else f"{file}(3): f")  # other.py is there, but not in the trace
    found = reading(named, file, given, started_in=given)
    assert found.lines == ()
    assert found.why


def test_a_link_that_leads_to_what_is_no_python_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("secret")
    (tmp_path / "train.py").symlink_to(tmp_path / "notes.txt")
    assert reading(two_lines(), "train.py", tmp_path, started_in=tmp_path).lines == ()


def test_a_file_larger_than_source_is_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"#" * ((2 << 20) + 1))
    assert reading(two_lines(), "train.py", tmp_path, started_in=tmp_path).why == "the file is larger than 2 MB"


def test_a_whole_disk_is_no_folder_to_read_from(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TEXT)
    assert reading(two_lines(file=str(path)), str(path), started_in=Path(path.anchor)).lines == ()


@pytest.mark.browser
def test_a_line_leads_to_its_slices_and_they_to_the_timeline(
    browser_page: Callable[..., Page], served: Callable[[Any], str], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TEXT)
    app = explorer_of(two_lines(), title="lines")
    allow_sources(app.server, [tmp_path], tmp_path)
    page = browser_page()
    page.goto(f"{served(app)}/source?file=train.py&line=1")
    rows = page.locator("#np-source-lines .ag-center-cols-container .ag-row")
    expect(rows.nth(4).locator("[col-id=text]")).to_have_text(f"model('{HOSTILE[0]}')")
    expect(page.locator("#np-source-slices h2")).to_have_text("Slices of line 1")
    rows.nth(3).locator("[col-id=text]").click()
    expect(page.locator("#np-source-slices h2")).to_have_text("Slices of line 4")
    expect(rows.nth(3).locator("[col-id=device_total_ns]")).to_have_text("50.0 ms")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.locator("#np-source-slices").get_by_role("link", name="gemm").click()
    expect(page.locator("#np-timeline-details h2")).to_have_text("gemm")
