"""How fast the explorer shows ten million events: `python benchmarks/explorer.py [MILLIONS] [--rounds 5]`.

Drives the real `neuron-explorer` on a `trace.pb` on disk in headless Chromium (`NPROF_CHROMIUM`, else the one on the
PATH), which shares the machine's cores with the server. Two traces of 80 tracks: slices spread evenly, and 96 % of
them on four tracks.

- first paint: from the start of the command to the first picture of the Timeline, and to the first exact one. A round
  is a fresh process and a fresh browser profile; `cold` has an empty cache folder, `warm` the one that `cold` left.
  The browser already runs, and opens the address as soon as it is printed.
- zoom to paint: a jump to a window of which the browser holds nothing, until the frame after the one that draws it.
- frames: time between frames while the keyboard or the mouse zooms and pans.
- memory: proportional set size of the server after all this, over that of one that did the same to a trace of a
  thousand events, for each event more. It counts mapped files as far as they are in memory.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Beside this file is one with the name of a package of ours; its folder must come last on the path.
sys.path.append(sys.path.pop(0))

WIDTH, HEIGHT = 1680, 1010
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001)
JUMPS = 12
FIRST_PAINT_S, MEDIAN_MS, P95_MS, FRAME_MS, BYTES_PER_EVENT = 4.0, 100, 250, 20, 80
FEW_EVENTS = 1000
MET = {True: "yes", False: "NO", None: ""}
CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip

# When the first picture, and the first exact one, were painted; looked for in every frame.
WATCH = """
(() => {
  const seen = (window.__seen = {});
  const look = () => {
    const timeline = window.npTimeline?.current?.();
    const now = (performance.timeOrigin + performance.now()) / 1000;
    if (timeline?.feed.blocks) {
      seen.first ??= now;
      if (timeline.host.dataset.settled === "true") seen.exact ??= now;
    }
    if (!seen.exact) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
JUMP = """
async ([share, place]) => {
  const timeline = npTimeline.current();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const length = timeline.view.spanNs * share;
  const start = place * (timeline.view.spanNs - length);
  timeline.feed.have = null;
  const began = performance.now();
  timeline.view.set(start, start + length);
  do await frame(); while (timeline.host.dataset.settled !== "true");
  await frame();
  return [performance.now() - began, timeline.feed.blocks.count];
}
"""
COUNT_FRAMES = """
() => {
  window.__frames = [];
  let before = performance.now();
  const next = (now) => {
    window.__frames.push(now - before);
    before = now;
    window.__counting = requestAnimationFrame(next);
  };
  window.__counting = requestAnimationFrame(next);
}
"""


class Server:
    """The running command."""

    def __init__(self, path: Path, cache: Path) -> None:
        program = Path(sys.executable).with_name("neuron-explorer")
        command = [str(program)] if program.exists() else [sys.executable, "-m", "explorer_app.cli.main"]
        self.started_s = time.time()
        self.process = subprocess.Popen(
            [*command, str(path), "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"NPROF_CACHE_DIR": str(cache)},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.printed_s = time.time()
        if not self.url:
            raise SystemExit("neuron-explorer printed no address")

    def page(self, path: str) -> str:
        """The address of a page, with what the printed address asks for."""
        return urlsplit(self.url)._replace(path=path).geturl()

    def memory_bytes(self) -> int:
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return 1024 * int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.M)[1])  # type: ignore[index]

    def peak_bytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)[1])  # type: ignore[index]

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate()


@contextmanager
def timeline_of(browser: Any, path: Path, cache: Path) -> Iterator[tuple[Server, Any, dict[str, float]]]:
    """The server of a trace, its Timeline in a fresh browser profile, and the seconds to each stage of the start."""
    server = Server(path, cache)
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    try:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(server.page("/timeline"), wait_until="commit")
        page.wait_for_selector("#np-timeline-canvas[data-settled=true]", timeout=120_000)
        while not (seen := page.evaluate("window.__seen")).get("exact"):
            page.wait_for_timeout(20)
        stages = {"address": server.printed_s, "first": seen["first"], "exact": seen["exact"]}
        yield server, page, {name: at - server.started_s for name, at in stages.items()}
    finally:
        context.close()
        server.stop()


def first_paint(browser: Any, path: Path, folder: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Seconds to each stage, by state of the cache; the processes of the two states alternate."""
    found: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    for _ in range(rounds):
        cache = Path(tempfile.mkdtemp(dir=folder))
        for stages in found.values():
            with timeline_of(browser, path, cache) as (_, page, seconds):
                stages.append(seconds)
                page.wait_for_timeout(3000)  # what is kept for the next time is written meanwhile
        shutil.rmtree(cache)
    return found


def zoom_to_paint(page: Any) -> dict[float, list[tuple[float, int]]]:
    """Milliseconds and blocks of each jump, by the share of the trace that is jumped to."""
    found: dict[float, list[tuple[float, int]]] = {share: [] for share in SHARES}
    for number in range(JUMPS):
        for place, share in enumerate(SHARES):
            # anywhere, but the same places in every run: multiples of the golden ratio leave no gaps
            where = (0.618034 * (number * len(SHARES) + place)) % 1
            found[share].append(tuple(page.evaluate(JUMP, [share, where])))
            page.wait_for_timeout(250)
    return found


def frames_while(page: Any, share: float, act: Callable[[], None]) -> list[float]:
    """Milliseconds between frames while something is done to a window of this share of the trace."""
    page.evaluate(JUMP, [share, 0.4])
    page.wait_for_timeout(1000)
    page.evaluate(COUNT_FRAMES)
    act()
    page.evaluate("cancelAnimationFrame(window.__counting)")
    return page.evaluate("window.__frames.slice(2)")


def gestures(page: Any) -> dict[str, list[float]]:
    """Milliseconds between frames, by what the reader does."""
    box = page.locator("#np-timeline-canvas").bounding_box()
    x, y = box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(x, y)
    page.locator("#np-timeline-canvas").focus()

    def keys(key: str) -> Callable[[], None]:
        def press() -> None:
            for _ in range(25):
                page.keyboard.press(key)
                page.wait_for_timeout(60)

        return press

    def drag() -> None:
        page.mouse.down()
        for step in range(80):
            page.mouse.move(x - 6 * step, y)
            page.wait_for_timeout(10)
        page.mouse.up()
        page.mouse.move(x, y)

    def wheel() -> None:
        page.keyboard.down("Control")
        for step in range(60):
            page.mouse.wheel(0, -60 if step < 30 else 60)
            page.wait_for_timeout(15)
        page.keyboard.up("Control")

    return {
        "W, zooming in from the whole": frames_while(page, 1.0, keys("w")),
        "S, zooming out": frames_while(page, 0.0001, keys("s")),
        "D, panning 1 %": frames_while(page, 0.01, keys("d")),
        "D, panning 30 %": frames_while(page, 0.3, keys("d")),
        "dragging 1 %": frames_while(page, 0.01, drag),
        "dragging 30 %": frames_while(page, 0.3, drag),
        "wheel, in and out": frames_while(page, 0.1, wheel),
    }


def p95(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def row(what: str, values: Sequence[float], target: str = "", *, met: bool | None = None, note: str = "") -> str:
    figures = f"{statistics.median(values):9.1f}{p95(values):9.1f}{max(values):9.1f}"
    return f"{what:38}{figures}   {target:22}{MET[met]:5}{note}"


def report(title: str, events: int, paints: dict[str, list[dict[str, float]]], jumps: Any, frames: Any) -> None:
    print(f"\n{title}: {events:,} events")
    print(f"{'':38}{'median':>9}{'p95':>9}{'max':>9}   {'target':22}met")
    for state, stages in paints.items():
        values = {stage: [seconds[stage] for seconds in stages] for stage in ("address", "first", "exact")}
        met = max(values["first"]) <= FIRST_PAINT_S
        print(row(f"address printed, s ({state} cache)", values["address"]))
        print(row(f"first paint, s ({state} cache)", values["first"], f"<= {FIRST_PAINT_S:g}", met=met))
        print(row(f"exact picture, s ({state} cache)", values["exact"]))
    for share, found in jumps.items():
        values_ms = [ms for ms, _ in found]
        blocks = f"{statistics.median(count for _, count in found):9,.0f} blocks"
        print(row(f"zoom to paint, ms, {100 * share:g} %", values_ms, note=blocks))
    every = [ms for found in jumps.values() for ms, _ in found]
    met = statistics.median(every) <= MEDIAN_MS and p95(every) <= P95_MS
    print(row("zoom to paint, ms, all", every, f"<= {MEDIAN_MS}, p95 <= {P95_MS}", met=met))
    for what, values_ms in frames.items():
        rate = 1000 / statistics.fmean(values_ms)
        met = rate >= 1000 / FRAME_MS
        print(row(f"frame, ms: {what}", values_ms, f"<= {FRAME_MS} on average", met=met, note=f"{rate:.0f}/s"))


def measure(browser: Any, path: Path, folder: Path, title: str, events: int, rounds: int, empty: Sequence[int]) -> None:
    paints = first_paint(browser, path, folder, rounds)
    with timeline_of(browser, path, folder / "cache") as (server, page, _):
        page.wait_for_timeout(3000)
        report(title, events, paints, zoom_to_paint(page), gestures(page))
        held, peak = server.memory_bytes() - empty[0], server.peak_bytes() - empty[1]
    met = held <= BYTES_PER_EVENT * events
    note = f"at most {peak / events:.1f} on the way"
    print(row("memory, bytes/event", [held / events], f"<= {BYTES_PER_EVENT}", met=met, note=note))


def without_events(browser: Any, path: Path, folder: Path) -> tuple[int, int]:
    """What the server of a trace of hardly any events takes after the same visit: now, and at most."""
    with timeline_of(browser, path, folder / "cache") as (server, page, _):
        zoom_to_paint(page)
        gestures(page)
        return server.memory_bytes(), server.peak_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("millions", nargs="?", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright
    from synthetic import job_trace

    from trace_format import write_trace

    chromium = os.environ.get("NPROF_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    cores = f"{os.cpu_count()} cores for server, browser and driver"
    print(f"{platform.machine()}, {cores}, Python {platform.python_version()}, {WIDTH} x {HEIGHT} pixels")
    print(f"processes that want a processor before it begins: {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=CHROMIUM_ARGUMENTS)
        few = folder / "few.pb"
        write_trace(job_trace(FEW_EVENTS), few)
        empty = without_events(browser, few, folder)
        for title, skewed in (("evenly spread", False), ("96 % on four tracks", True)):
            path = folder / f"{skewed}.pb"
            trace = job_trace(int(options.millions * 1e6), skewed=skewed)
            events = len(trace.slices)
            write_trace(trace, path)
            del trace
            measure(browser, path, folder, title, events, options.rounds, empty)
        browser.close()


if __name__ == "__main__":
    main()
