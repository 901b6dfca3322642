"""What a capture costs: CPU time per training step, and at the end of a window.

    python benchmarks/capture_overhead.py [--rounds 5] [--steps 12] [--with-stack]

A round is a fresh process. Its first window is recorded with all there is, a simulated trn2 too; then every way of
recording has two windows in turn, in an order that rotates, so that a process that ages and a machine that changes
favour none. Figures are medians over rounds of process CPU time (all threads), ratios are taken within a round. The
first window of a process pays for fresh memory, in torch's part and ours alike, and ours for imports and for operators
not seen before, so it has a line of its own. Python's garbage is collected before each window: a full collection, which
is due now and then in any program, would else fall to one of them.
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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Beside this file is one with the name of a package of ours; its folder must come last on the path.
sys.path.append(sys.path.pop(0))

SETTINGS = {"record_shapes": True, "with_flops": True, "profile_memory": True}
CYCLES = 2
NONE, TORCH_DEFAULTS, TORCH_SAME = "not profiled", "torch.profiler, its defaults", "torch.profiler, same settings"
DEFAULT, SIMULATED = "the whole default set", "the same with a simulated trn2"


def ways() -> dict[str, dict[str, Any] | None]:
    """Each way of recording by its title: what NeuronConfig is given, or None where there is none."""
    from collectors import DEFAULT_COLLECTORS

    first, *others = DEFAULT_COLLECTORS
    found: dict[str, dict[str, Any] | None] = {NONE: None, TORCH_DEFAULTS: None, TORCH_SAME: None}
    found[f"NeuronConfig, {first} alone"] = {"collectors": [first], "device_model": "none"}
    for name in others:
        found[f"{first} and {name}"] = {"collectors": [first, name], "device_model": "none"}
    found[DEFAULT] = {"device_model": "none"}
    found[SIMULATED] = {"device_model": "trn2"}
    return found


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
    """CPU seconds of each way: per step, of torch's part and ours of a stop; of the first stop; a window's events."""
    import torch

    from neuron_profile import NeuronConfig, load
    from neuron_profile.session import Session

    ours: list[float] = []

    def timed(method: Callable[[Session], Any]) -> Callable[[Session], Any]:
        def wrapper(self: Session) -> Any:
            begin = time.process_time()
            result = method(self)
            ours.append(time.process_time() - begin)
            return result

        return wrapper

    Session.mark_stop = timed(Session.mark_stop)  # type: ignore[method-assign]
    Session.finish = timed(Session.finish)  # type: ignore[method-assign]
    step = training_step()
    for _ in range(3):
        step()

    def window(way: str, config: Any) -> tuple[float, dict[str, float]]:
        asked = {} if way == TORCH_DEFAULTS else {**SETTINGS, "with_stack": with_stack}
        prof = torch.profiler.profile(experimental_config=config, **asked) if way != NONE else None
        gc.collect()
        if prof is not None:
            prof.start()
        begin = time.process_time()
        for _ in range(steps):
            step()
        end = time.process_time()
        ours.clear()
        if prof is not None:
            prof.stop()
        stop = time.process_time() - end
        return (end - begin) / steps, {"torch": stop - sum(ours), "ours": sum(ours)}

    with tempfile.TemporaryDirectory() as folder:
        configs = {
            way: None if given is None else NeuronConfig(profile_output_dir=folder, **given)
            for way, given in ways().items()
        }
        _, first = window(SIMULATED, configs[SIMULATED])
        per_step: dict[str, list[float]] = {way: [] for way in configs}
        stops: dict[str, list[dict[str, float]]] = {way: [] for way in configs}
        order = list(configs)
        for cycle in range(CYCLES):
            at = (turn + cycle * len(order) // CYCLES) % len(order)
            for way in order[at:] + order[:at]:
                stepping, stop = window(way, configs[way])
                per_step[way].append(stepping)
                stops[way].append(stop)
        config = configs[DEFAULT]
        events = load(config.trace_path).report.source_events if config is not None else 0
    return {
        "per_step": {way: statistics.median(seconds) for way, seconds in per_step.items()},
        "stops": {way: middle_of(parts) for way, parts in stops.items()},
        "first": first,
        "events": events,
    }


def middle_of(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median of each part."""
    return {name: statistics.median(one[name] for one in parts) for name in parts[0]}


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
    events = int(middle(r["events"] for r in rounds))
    print(f"torch {torch.__version__}, {platform.machine()}, Python {platform.python_version()}, 1 thread")
    print(f"{len(rounds)} rounds of {steps} steps, shapes, FLOPs, memory{', stacks' * with_stack}; CPU time, medians")
    print(f"a window has {events} events\n")
    print(f"{'':34}{'step':>9}{'/ torch,':>11}{'stop:':>9}{'':>9}{'':>9}")
    print(f"{'':34}{'ms':>9}{'same sett.':>11}{'torch ms':>9}{'ours ms':>9}{'ratio':>9}")
    for way in rounds[0]["per_step"]:
        ms = middle(r["per_step"][way] for r in rounds) * 1e3
        same = middle(r["per_step"][way] / r["per_step"][TORCH_SAME] for r in rounds)
        print(f"{way:34}{ms:9.2f}{same:11.3f}{stop_columns([r['stops'][way] for r in rounds])}")
    print(f"{'the same, first window':34}{'':20}{stop_columns([r['first'] for r in rounds])}")


def stop_columns(stops: Sequence[dict[str, float]]) -> str:
    """torch's part of a stop, ours and their ratio; "" where nothing of ours took part."""
    found = middle_of(stops)
    if not found["ours"]:
        return f"{found['torch'] * 1e3:9.1f}" if found["torch"] > 1e-4 else ""
    ratio = statistics.median(stop["ours"] / stop["torch"] for stop in stops)
    return f"{found['torch'] * 1e3:9.1f}{found['ours'] * 1e3:9.1f}{ratio:9.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
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
