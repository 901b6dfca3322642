"""A small training run to look at: what a user's own capture looks like, in a few seconds, on the CPU."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trace_format.errors import NeuronProfileError

if TYPE_CHECKING:
    import torch

_VOCABULARY, _WIDTH, _HEADS, _LAYERS, _SEQUENCE, _BATCH = 1000, 128, 4, 2, 64, 8
_SKIPPED, _WARM_UP, _RECORDED = 1, 1, 5


def capture(output: str | os.PathLike[str]) -> Path:
    """The trace.pb of a few training steps of a small transformer, in a session directory under `output`.

    Raises NeuronProfileError where torch is not installed or nothing was captured.
    """
    if importlib.util.find_spec("torch") is None:
        raise NeuronProfileError(
            "the demo trains a model and needs torch: pip install 'neuron-profile[torch]'"
        )  # fmt: skip
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule

    from neuron_profile import NeuronConfig

    torch.manual_seed(0)
    model = _transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_function = torch.nn.CrossEntropyLoss()
    config = NeuronConfig(profile_output_dir=output)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=_SKIPPED, warmup=_WARM_UP, active=_RECORDED),
        with_stack=True,
        with_modules=True,
        experimental_config=config,
    ) as profiler:
        for _ in range(_SKIPPED + _WARM_UP + _RECORDED):
            tokens = torch.randint(_VOCABULARY, (_BATCH, _SEQUENCE))
            logits = model(tokens)
            loss = loss_function(logits[:, :-1].reshape(-1, _VOCABULARY), tokens[:, 1:].reshape(-1))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    if config.trace_path is None:
        raise NeuronProfileError(f"{os.fspath(output)}: the capture wrote no trace there; the warnings above say why")
    return config.trace_path


def _transformer() -> torch.nn.Module:
    import torch

    layer = torch.nn.TransformerEncoderLayer(_WIDTH, _HEADS, dim_feedforward=4 * _WIDTH, batch_first=True)
    return torch.nn.Sequential(
        torch.nn.Embedding(_VOCABULARY, _WIDTH),
        torch.nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False),
        torch.nn.Linear(_WIDTH, _VOCABULARY),
    )
