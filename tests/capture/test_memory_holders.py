"""What the memory held at the end of a window is."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.profiler import profile

from neuron_profile import NeuronConfig, load
from neuron_profile.analysis import MEMORY_CATEGORIES, memory_by_category, peak_holders
from trace_format import Trace

FLOAT = 4


def captured(folder: Path, *, steps: int = 2, warm: bool) -> tuple[Trace, torch.nn.Module, torch.optim.Optimizer]:
    """Steps of Adam on a Linear(100, 50): 5000 weights and 50 biases; `warm`: one step before the window."""
    model = torch.nn.Linear(100, 50)
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        model(torch.ones(8, 100)).square().sum().backward()
        optimizer.step()

    if warm:
        step()
    config = NeuronConfig(profile_output_dir=folder)
    with profile(experimental_config=config):
        for _ in range(steps):
            step()
    return load(config.trace_path), model, optimizer


def by_category(trace: Trace) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for category, size in zip(trace.memory.text("category"), trace.memory.delta_bytes.tolist(), strict=True):
        if category:
            found.setdefault(category, []).append(size)
    return {category: sorted(sizes) for category, sizes in found.items()}


def test_gradients_and_optimizer_state_that_remain_are_told_apart(tmp_path: Path) -> None:
    trace, model, _ = captured(tmp_path, warm=False)
    weight, bias = 5000 * FLOAT, 50 * FLOAT
    # Adam's first step makes exp_avg and exp_avg_sq of each parameter, and a step count of one float
    assert by_category(trace) == {
        "gradient": [bias, weight],
        "optimizer_state": sorted([bias, weight] * 2 + [FLOAT] * 2),
    }
    addresses = {p.grad.untyped_storage().data_ptr() for p in model.parameters()}
    gradients = [i for i, category in enumerate(trace.memory.text("category")) if category == "gradient"]
    assert {int(trace.memory.address[i]) for i in gradients} == addresses


def test_what_was_there_before_the_window_is_summed_up(tmp_path: Path) -> None:
    trace, model, optimizer = captured(tmp_path, warm=True)
    held = trace.metadata["memory_held"]["cpu"]
    total = 5050 * FLOAT
    # other tests' modules may live, too
    assert held["parameter"] >= total
    assert held["optimizer_state"] >= 2 * total + 2 * FLOAT
    assert "optimizer_state" not in by_category(trace)  # made before the window, so in no allocation of it
    assert by_category(trace)["gradient"] == [50 * FLOAT, 5000 * FLOAT]
    del model, optimizer


def test_what_is_freed_within_the_window_has_no_category(tmp_path: Path) -> None:
    trace, _, _ = captured(tmp_path, warm=False, steps=3)
    freed = trace.memory.delta_bytes < 0
    assert freed.any()
    assert not (trace.memory.category[freed] > 0).any()
    assert len(by_category(trace)["gradient"]) == 2  # those of the last step, not of each


def test_every_byte_of_a_real_training_run_has_a_category_and_the_peak_has_holders(tmp_path: Path) -> None:
    trace, model, optimizer = captured(tmp_path, warm=False, steps=4)
    frame = memory_by_category(trace)
    parts = frame[[f"{category}_bytes" for category in MEMORY_CATEGORIES]]
    assert (parts.sum(axis=1) == frame["total_bytes"]).all()
    total = 5050 * FLOAT
    # Adam's state is there from the first step on; gradients are there from a backward pass to the next zero_grad
    assert parts["optimizer_state_bytes"].iloc[-1] == 2 * total + 2 * FLOAT
    assert parts["gradient_bytes"].iloc[-1] == total
    assert parts["gradient_bytes"].max() == total
    assert parts["parameter_bytes"].max() == 0  # made before the window: told beside the totals
    assert frame.attrs["held_before"]["cpu"]["parameter"] >= total
    # torch's total for the CPU has what earlier windows of this process allocated and were not there to see freed
    before = frame["total_bytes"].iloc[0] - trace.memory.delta_bytes[0]
    assert parts["unknown_bytes"].max() - before < 0.05 * (frame["total_bytes"].max() - before)
    held = peak_holders(trace)
    assert held["bytes"].sum() == frame["total_bytes"].max()
    state = held[held["category"] == "optimizer_state"]
    assert state["bytes"].sum() == 2 * total + 2 * FLOAT
    assert "aten::zeros_like" in set(state["op"])
    assert set(held.loc[held["category"] == "gradient", "op"]) == {"aten::mm", "aten::sum"}
    del model, optimizer
