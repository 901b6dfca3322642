"""What a capture costs: CPU time per training step, and at the end of a window.

    python benchmarks/capture_overhead.py [--rounds 7] [--steps 12] [--with-stack]

A round is a fresh process. Its first window is recorded with NeuronConfig; then every way of recording has four
windows in turn, in an order that rotates, so that a process that ages and a machine that changes favour none.
Figures are medians over rounds of process CPU time, ratios are taken within a round. The first window of a process
pays for fresh memory, in torch's part and ours alike, so it has a line of its own. Python's garbage is collected
before each window: a full collection, which is due now and then in any program, would else fall to one of them.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Beside this file is one with the name of a package of ours; its folder must come last on the path.
sys.path.append(sys.path.pop(0))

SETTINGS = {"record_shapes": True, "with_flops": True, "profile_memory": True}
CYCLES = 4
WAYS = ("none", "torch_defaults", "torch_same", "hook")
TITLES = {
    "none": "not profiled",
    "torch_defaults": "torch.profiler, its defaults",
    "torch_same": "torch.profiler, same settings",
    "hook": "with NeuronConfig",
}


def training_step() -> Callable[[], None]:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(8, 32, 64)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    return step


def one_process(turn: int, steps: int, *, with_stack: bool) -> dict[str, Any]:
    """CPU seconds per step of each way, and per event of torch's part and ours of the first and of later stops."""
    import torch

    from neuron_profile import NeuronConfig, load
    from neuron_profile.session import Session

    ours: list[float] = []
    finish = Session.finish

    def timed_finish(self: Session) -> Any:
        begin = time.process_time()
        path = finish(self)
        ours.append(time.process_time() - begin)
        return path

    Session.finish = timed_finish  # type: ignore[method-assign]
    step = training_step()
    for _ in range(3):
        step()

    def window(way: str, config: Any) -> tuple[float, float]:
        asked = {**SETTINGS, "with_stack": with_stack} if way in ("torch_same", "hook") else {}
        prof = torch.profiler.profile(experimental_config=config, **asked) if way != "none" else None
        gc.collect()
        if prof is not None:
            prof.start()
        begin = time.process_time()
        for _ in range(steps):
            step()
        end = time.process_time()
        if prof is not None:
            prof.stop()
        return end - begin, time.process_time() - end

    per_step: dict[str, list[float]] = {way: [] for way in WAYS}
    stops = []
    with tempfile.TemporaryDirectory() as folder:
        config = NeuronConfig(profile_output_dir=folder)
        _, stop = window("hook", config)
        stops.append(stop)
        for cycle in range(turn, turn + CYCLES):
            for place in range(len(WAYS)):
                way = WAYS[(cycle + place) % len(WAYS)]
                stepping, stop = window(way, config if way == "hook" else None)
                per_step[way].append(stepping / steps)
                if way == "hook":
                    stops.append(stop)
        events = load(config.trace_path).report.source_events
    both = [{"torch": (stop - mine) / events, "ours": mine / events} for stop, mine in zip(stops, ours, strict=True)]
    later = {part: statistics.median(stop[part] for stop in both[1:]) for part in both[0]}
    return {
        "per_step": {way: statistics.median(seconds) for way, seconds in per_step.items()},
        "stops": [both[0], later],
        "events": events,
    }


def in_fresh_process(turn: int, steps: int, *, with_stack: bool) -> dict[str, Any]:
    root = str(Path(__file__).resolve().parents[1])
    arguments = [sys.executable, __file__, "--one-process", str(turn), "--steps", str(steps)]
    done = subprocess.run(
        arguments + ["--with-stack"] * with_stack,
        env={**os.environ, "PYTHONPATH": root},
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def report(rounds: list[dict[str, Any]], steps: int, *, with_stack: bool) -> None:
    import torch

    middle = statistics.median
    print(f"torch {torch.__version__}, {platform.machine()}, Python {platform.python_version()}, 1 thread")
    print(f"{len(rounds)} rounds of {steps} steps, shapes, FLOPs, memory{', stacks' * with_stack}; CPU time, medians\n")
    print(f"{'step':32}{'ms':>9}{'/ same settings':>17}{'/ not profiled':>16}")
    for way in WAYS:
        ms = middle(r["per_step"][way] for r in rounds) * 1e3
        same, bare = (
            middle(r["per_step"][way] / r["per_step"][base] for r in rounds) for base in ("torch_same", "none")
        )
        print(f"{TITLES[way]:32}{ms:9.2f}{same:17.3f}{bare:16.2f}")
    events = int(middle(r["events"] for r in rounds))
    print(f"\n{f'stop of a window, {events} events':40}{'torch us/event':>15}{'ours us/event':>15}{'ours / torch':>14}")
    for place, name in enumerate(("first of the process", "later")):
        stops = [r["stops"][place] for r in rounds]
        torchs, ours = (middle(s[part] for s in stops) * 1e6 for part in ("torch", "ours"))
        print(f"{name:40}{torchs:15.2f}{ours:15.2f}{middle(s['ours'] / s['torch'] for s in stops):14.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--with-stack", action="store_true")
    parser.add_argument("--one-process", type=int, metavar="TURN", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_process is not None:
        print(json.dumps(one_process(given.one_process, given.steps, with_stack=given.with_stack)))
        return
    rounds = [in_fresh_process(turn, given.steps, with_stack=given.with_stack) for turn in range(given.rounds)]
    report(rounds, given.steps, with_stack=given.with_stack)


if __name__ == "__main__":
    main()
