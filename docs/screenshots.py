"""Writes docs/screenshots/PAGE_SCHEME.png: every page of the explorer, in both schemes (`make screenshots`).

Drives the real command line in Chromium (`NPROF_CHROMIUM`, else the one on the PATH). What the pictures show is made up
(`made_training.py`): a job of four GPUs, what a NeuronCore would have done with one of its ranks, and a process that
compiles. Nothing of the machine that draws them is on them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from made_training import MS, write_compiled, write_host, write_job

from neuron_profile import load

OUT = Path(__file__).resolve().parent / "screenshots"
EXPLORER = (sys.executable, "-m", "explorer_app.cli.main")
WIDTH, HEIGHT = 1440, 900
PATIENCE_MS = 120_000
SCHEMES = ("light", "dark")
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
# Charts are drawn, fonts are there, and the canvas shows all that it asked for.
SETTLED = """() => document.fonts.status === "loaded"
  && [...document.querySelectorAll(".js-plotly-plot")].every(plot => plot.querySelector(".main-svg"))
  && [...document.querySelectorAll("[data-settled]")].every(host => host.dataset.settled === "true")
  && !document.querySelector("[data-dash-is-loading=true]")"""


@dataclass(frozen=True)
class Shot:
    """A page and what it shows, one of the programs below."""

    page: str
    of: str


SHOTS = (
    Shot("overview", "job"), Shot("timeline", "job"), Shot("hotspots", "job"),
    Shot("memory", "job"), Shot("device", "simulated"), Shot("collectives", "job"), Shot("compile", "compiled"),
    Shot("compare", "job"), Shot("source", "job"),
)  # fmt: skip


def main(names: Sequence[str]) -> None:
    """Write the pictures of the pages with these names, of all where none is given."""
    from playwright.sync_api import sync_playwright

    shots = [shot for shot in SHOTS if not names or shot.page in names]
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        work = Path(folder)
        write_job(work / "job", slow_loader=True)
        write_job(work / "before", slow_loader=False)
        write_host(work / "host.pb")
        write_compiled(work / "compiled.pb")
        simulated = [*EXPLORER, "simulate", "host.pb", "-o", "simulated.pb"]
        subprocess.run(simulated, cwd=work, env=_environment(work), check=True, capture_output=True)
        programs = {"job": ["job", "--compare", "before"], "simulated": ["simulated.pb"], "compiled": ["compiled.pb"]}
        browser = playwright.chromium.launch(executable_path=_chromium(), args=CHROMIUM_ARGUMENTS)
        for of, arguments in programs.items():
            if not any(shot.of == of for shot in shots):
                continue
            with serving(work, arguments) as url:
                for scheme in SCHEMES:
                    context = browser.new_context(
                        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme, reduced_motion="reduce"
                    )
                    context.set_default_timeout(PATIENCE_MS)
                    page = context.new_page()
                    page.goto(url)
                    for shot in shots:
                        if shot.of == of:
                            query = a_selected_slice(work / "job") if shot.page == "timeline" else ""
                            take(page, url, shot, query, OUT / f"{shot.page}_{scheme}.png")
                    context.close()
        browser.close()


@contextmanager
def serving(work: Path, arguments: Sequence[str]) -> Iterator[str]:
    """The address of the explorer with these arguments, as long as it is needed."""
    argv = [*EXPLORER, *arguments, "--no-browser"]
    with subprocess.Popen(argv, cwd=work, env=_environment(work), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def a_selected_slice(job: Path) -> str:
    """The query that shows a part of a step on the timeline, with a slice in its middle selected."""
    trace = load(job, cache=False)
    names = trace.slices.text("name")
    step, wanted = names.index("ProfilerStep#13"), "aten::_flash_attention_forward"
    start = int(trace.slices.ts_ns[step])
    later = np.array([name == wanted for name in names]) & (trace.slices.ts_ns > start + 4 * MS)
    return f"?t0={start}&t1={start + 16 * MS}&slice={int(np.flatnonzero(later)[0])}"


def take(page: Any, url: str, shot: Shot, query: str, to: Path) -> None:
    """Open the page, wait until it stands still, and write its picture."""
    parts = urlsplit(url)
    # with a base the printed address is that of the comparison
    place = url if shot.page == "compare" else f"{parts.scheme}://{parts.netloc}/{shot.page.replace('overview', '')}"
    page.goto(f"{place}{query}")
    page.locator("main h1").wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_function(SETTLED)
    before = b""
    while (now := page.screenshot()) != before:  # what is drawn late is drawn now
        before = now
        page.wait_for_timeout(400)
    to.write_bytes(now)
    sys.stdout.write(f"{to.name}: {len(now) // 1000} kB\n")
    sys.stdout.flush()


def _chromium() -> str:
    found = os.environ.get("NPROF_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        sys.exit("no chromium on the PATH: install it (Debian: apt-get install chromium) or set NPROF_CHROMIUM")
    return found


def _environment(work: Path) -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": root, "NPROF_CACHE_DIR": str(work / "cache")}


if __name__ == "__main__":
    main(sys.argv[1:])
