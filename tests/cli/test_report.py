"""The static report: one file that is true, whole, escaped, and tells nothing when it is asked not to."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command_line import run, small_trace
from secret_trace import SECRETS, secret_trace

from explorer_app.cli.main import FAILED, OK, USAGE, main
from neuron_profile import load
from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.trace_pb.writer import write_trace

HOSTILE = '<img src=x onerror="document.title=1">\'&"\x1b[2J\u202e</style></title><script>alert(1)</script>'


class Document(HTMLParser):
    """The text of each section by its heading, and the tags and attributes that are in the file."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sections: dict[str, list[str]] = {"": []}
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str, str]] = set()
        self._heading, self._in_heading = "", False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(tag, name, value or "") for name, value in attrs}
        self._in_heading = tag == "h2"
        if tag == "h2":
            self._heading = ""

    def handle_endtag(self, tag: str) -> None:
        self._in_heading = self._in_heading and tag != "h2"

    def handle_data(self, data: str) -> None:
        if self._in_heading and not self._heading:
            self._heading = data
        self.sections.setdefault(self._heading, []).append(data)

    def text(self, section: str) -> str:
        return " ".join(self.sections[section])


def report_of(trace: Trace, tmp_path: Path, *options: str) -> str:
    """The report that the command writes."""
    path, out = tmp_path / "trace.pb", tmp_path / "report.html"
    write_trace(trace, path, force=True)
    assert main(["report", str(path), "-o", str(out), "--no-cache", *options]) == OK
    return out.read_text("utf-8")


def test_the_report_has_the_numbers_of_the_trace(tmp_path: Path) -> None:
    # a step of 100 ns; the kernel runs for 40 of it, so 60 are not compute
    seen = Document(report_of(small_trace(), tmp_path))
    went = seen.text("Where the time went")
    assert "compute 40 ns 40.0 %" in went
    assert "all of it 100 ns 100 %" in went
    assert "median 100 ns" in seen.text("Step times")
    # aten::mm takes 60 of 60 ns of the host's operators, gemm all of the device's
    assert re.search(r"gemm compute device 40 ns 100 % 1", seen.text("Hotspots"))
    assert re.search(r"aten::mm host op host 60 ns 100 % 1", seen.text("Hotspots"))
    assert "ProfilerStep#0" in seen.text("Timeline of the median step")
    assert "Kept 3 of 3 source events" in seen.text("What the import did")


def test_the_parts_of_the_bar_are_as_wide_as_their_shares(tmp_path: Path) -> None:
    html = report_of(small_trace(), tmp_path)
    bar = re.search(r'<div class="stacked".*?</div>', html)
    assert bar
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", bar[0])]
    assert 40.0 in widths
    assert sum(widths) == pytest.approx(100, abs=0.01)


def test_nothing_is_fetched_and_nothing_runs(tmp_path: Path) -> None:
    seen = Document(report_of(small_trace(HOSTILE), tmp_path))
    assert not seen.tags & {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    assert not [name for _, name, _ in seen.attributes if name.startswith("on") or name in ("src", "href")]
    assert not [value for _, _, value in seen.attributes if "url(" in value or value.startswith("http")]
    assert (
        "meta",
        "content",
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    ) in (seen.attributes)


def hostile_trace() -> Trace:
    builder = TraceBuilder()
    host = builder.track(HOSTILE, kind="host_thread", pid=1, tid=1, host=HOSTILE)
    device = builder.track(HOSTILE, kind="stream", device=0)
    rows = [(host, "ProfilerStep#0", "annotation", 0, 100), (host, HOSTILE, "host_op", 10, 60)]
    for track, name, category, start, dur in [*rows, (device, HOSTILE, "collective", 20, 50)]:
        row = builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start, dur_ns=dur
        )
    name = builder.string(HOSTILE)
    builder["collectives"].append(1, slice=row, op=name, dtype=name, in_bytes=8, out_bytes=8, group=name, source=name)
    builder["compiles"].append(1, slice=1, what=name, backend=name, trigger=name)
    builder["memory"].append(ts_ns=[1], device=name, delta_bytes=[5], total_bytes=[5], address=[1])
    builder.report.source_events = 4
    builder.report.left_out[HOSTILE] = 1
    return builder.finish(metadata={"host": HOSTILE, HOSTILE: HOSTILE, "sources": [{"format": HOSTILE}]})


def test_hostile_names_are_text_wherever_they_stand(tmp_path: Path) -> None:
    html = report_of(hostile_trace(), tmp_path)
    seen = Document(html)
    assert not seen.tags & {"script", "img"}
    assert "<img" not in html
    assert not set("\x1b\u202e") & set(html)
    for section in ("Hotspots", "Collectives", "Compiles", "What was captured", "What the import did"):
        assert "<img src=x onerror=" in seen.text(section), section


def test_a_redacted_report_has_no_secret(tmp_path: Path) -> None:
    plain = report_of(secret_trace(), tmp_path).lower()
    assert all(secret in plain for secret in SECRETS)
    html = report_of(secret_trace(), tmp_path, "--redact", "--force")
    assert not [secret for secret in SECRETS if secret in html.lower()]
    assert tmp_path.name not in html
    assert "aten::mm" in html
    assert "operator-1" in html


def test_a_redacted_report_of_a_real_trace_has_no_name_outside_torch(corpus: Path, tmp_path: Path) -> None:
    source, out = corpus / "kineto" / "T048_profile_trace_rank_0.json.gz", tmp_path / "report.html"
    assert main(["report", str(source), "-o", str(out), "--redact", "--no-cache"]) == OK
    html = out.read_text("utf-8")
    assert source.name not in html
    trace = load(source)
    frames = [re.fullmatch(r"(.+)\(\d+\): (.+)", name) for name in trace.pool.strings.values]
    paths = {found[1] for found in frames if found and "/" in found[1] and not found[1].startswith("torch/")}
    modules = {
        name.split(": ")[1].rpartition("_")[0] for name in trace.pool.strings.values if "nn.Module: CLIP" in name
    }
    secrets = paths | modules | {"xfuser", "xDiT", "aiter", "model_inference", "execute_diffusion"}
    assert len(paths) > 50
    assert "CLIPAttention" in modules
    assert [secret for secret in secrets if secret in html] == []


def test_what_was_simulated_is_marked(tmp_path: Path) -> None:
    builder = TraceBuilder()
    host = builder.track("thread 1", kind="host_thread", pid=1, tid=1)
    core = builder.track("Tensor (simulated)", kind="engine", device=0, simulated=True)
    for track, name, category, start, dur in (
        (host, "ProfilerStep#0", "annotation", 0, 100), (host, "aten::mm", "host_op", 10, 50),
        (core, "aten::mm", "compute", 20, 30),
    ):  # fmt: skip
        builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start, dur_ns=dur
        )
    seen = Document(report_of(builder.finish(metadata={"simulated": {"generation": "trn2"}}), tmp_path))
    assert "Tensor sim." in seen.text("Timeline of the median step")
    assert "an estimate of a device that did not take part" in seen.text("")
    # the estimate is in no measured number
    assert "device" not in seen.text("Hotspots").split("Longest")[1]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: TraceBuilder().finish(), "Nothing in this trace has a duration."),
        (lambda: small_trace(), "This trace has no collectives"),
    ],
)
def test_what_is_missing_says_why(tmp_path: Path, make: Callable[[], Trace], told: str) -> None:
    assert told in report_of(make(), tmp_path)


def test_what_a_source_tells_at_length_is_cut_off(tmp_path: Path) -> None:
    html = report_of(TraceBuilder().finish(metadata={"files": "x" * 100_000}), tmp_path)
    assert len(html) < 40_000
    # 100,000 letters, and of {\n  "files": "…"\n} 17 characters beside them, less 20,000
    assert "and 80,017 characters more" in html


def test_an_existing_file_is_overwritten_only_when_forced(trace_file: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "report.html"
    out.write_text("mine")
    assert main(["report", str(trace_file), "-o", str(out)]) == FAILED
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main(["report", str(trace_file), "-o", str(out), "--force"]) == OK
    assert out.read_text().startswith("<!doctype html>")


def test_where_reading_fails_nothing_is_left(tmp_path: Path, capsys: Any) -> None:
    assert main(["report", str(tmp_path / "none.pb"), "-o", str(tmp_path / "report.html")]) == FAILED
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_path_is_asked_for_in_one_line(capsys: Any) -> None:
    assert main(["report"]) == USAGE
    assert capsys.readouterr().err.count("\n") == 1


def test_the_command_writes_report_html_and_says_so(trace_file: Path, tmp_path: Path) -> None:
    done = run("report", trace_file, cwd=tmp_path)
    assert done.returncode == OK
    assert done.stdout == ""
    assert "wrote report.html" in done.stderr
    assert (tmp_path / "report.html").is_file()


def open_from_disk(page: Any, path: Path) -> None:
    """Open the file, which asks for nothing but itself."""
    page.goto(path.as_uri())
    assert page.watch.foreign_requests == [path.as_uri()]
    page.watch.foreign_requests.clear()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_without_javascript_in_both_schemes(tmp_path: Path, browser_page: Any, scheme: Any) -> None:
    report_of(hostile_trace(), tmp_path)
    page = browser_page(1280, 800, color_scheme=scheme, java_script_enabled=False)
    open_from_disk(page, tmp_path / "report.html")
    page.get_by_role("heading", name="Where the time went").wait_for()
    assert page.pdf()[:5] == b"%PDF-"


@pytest.mark.browser
def test_its_tables_and_charts_fit_the_window_and_follow_the_scheme(
    corpus: Path, tmp_path: Path, browser_page: Any
) -> None:
    out = tmp_path / "report.html"
    assert main(["report", str(corpus / "kineto_multirank"), "-o", str(out), "--no-cache"]) == OK
    assert out.stat().st_size < 800_000
    colors = set()
    for scheme in ("light", "dark"):
        page = browser_page(1280, 800, color_scheme=scheme)
        open_from_disk(page, out)
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        colors.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        # eight ranks take part in step 10, whose threads are drawn
        assert page.locator("svg .lane", has_text="7: thread").count() >= 1
    assert len(colors) == 2
