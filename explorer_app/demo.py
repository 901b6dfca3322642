"""A small training run to look at: what a user's own capture looks like, in a few seconds, on the CPU."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from trace_format.errors import NeuronProfileError

if TYPE_CHECKING:
    import torch

_VOCABULARY, _WIDTH, _HEADS, _LAYERS, _SEQUENCE, _BATCH, _LAST_BATCH = 1000, 128, 4, 2, 64, 8, 6
_SKIPPED, _WARM_UP, _RECORDED = 1, 1, 5
# needs no C++ compiler, takes a second, and leaves operators that the model of a device can cost
_BACKEND = "aot_eager"


def capture(output: str | os.PathLike[str], *, say: Callable[[str], None] = lambda _: None) -> Path:
    """The trace.pb of a few training steps of a small transformer, in a session directory under `output`.

    Its readout is compiled in the first recorded step, and once more for the smaller last batch. `say` is told what
    is worth knowing. Raises NeuronProfileError where torch is not installed or nothing was captured.
    """
    if importlib.util.find_spec("torch") is None:
        raise NeuronProfileError(
            "the demo trains a model and needs torch: pip install 'neuron-profile[torch]'"
        )  # fmt: skip
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule

    from neuron_profile import NeuronConfig

    torch.manual_seed(0)
    embedding, encoder, readout = _transformer()
    model = torch.nn.Sequential(embedding, encoder, readout)
    compiled = _Readout(readout, say)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_function = torch.nn.CrossEntropyLoss()
    config = NeuronConfig(profile_output_dir=output)
    steps = _SKIPPED + _WARM_UP + _RECORDED
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=_SKIPPED, warmup=_WARM_UP, active=_RECORDED),
        with_stack=True,
        with_modules=True,
        experimental_config=config,
    ) as profiler:
        for step in range(steps):
            tokens = torch.randint(_VOCABULARY, (_LAST_BATCH if step == steps - 1 else _BATCH, _SEQUENCE))
            # not before the window, so that the trace has the compile
            read = readout if step < _SKIPPED + _WARM_UP else compiled
            logits = read(encoder(embedding(tokens)))
            loss = loss_function(logits[:, :-1].reshape(-1, _VOCABULARY), tokens[:, 1:].reshape(-1))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    if config.trace_path is None:
        raise NeuronProfileError(f"{os.fspath(output)}: the capture wrote no trace there; the warnings above say why")
    return config.trace_path


def _transformer() -> tuple[torch.nn.Module, torch.nn.Module, torch.nn.Module]:
    """Embedding, encoder and readout."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(_WIDTH, _HEADS, dim_feedforward=4 * _WIDTH, batch_first=True)
    return (
        torch.nn.Embedding(_VOCABULARY, _WIDTH),
        torch.nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False),
        torch.nn.Sequential(torch.nn.LayerNorm(_WIDTH), torch.nn.GELU(), torch.nn.Linear(_WIDTH, _VOCABULARY)),
    )


class _Readout:
    """The readout as torch.compile makes it: anew where features of a new shape come.

    A compile runs thousands of Python frames a millisecond. torch records those of the threads that are there when a
    window begins, so each compile has a thread of its own, for which the step waits.
    """

    def __init__(self, readout: torch.nn.Module, say: Callable[[str], None]) -> None:
        self._readout, self._say = readout, say
        self._run: Callable[[torch.Tensor], torch.Tensor] = readout
        self._seen: set[torch.Size] = set()

    def __call__(self, features: torch.Tensor) -> torch.Tensor:
        if features.shape not in self._seen:
            self._seen.add(features.shape)
            thread = threading.Thread(target=self._compile, args=(features.detach().requires_grad_(),), name="compile")
            thread.start()
            thread.join()
        return self._run(features)

    def _compile(self, features: torch.Tensor) -> None:
        import torch

        try:
            if self._run is self._readout:
                self._run = torch.compile(self._readout, backend=_BACKEND)
            torch.autograd.grad(self._run(features).sum(), features)  # compiles the backward pass too
        except RuntimeError as error:  # as torch's own errors of compilers are
            self._run = self._readout
            self._say(f"The demo's readout is not compiled: {' '.join(str(error).split())[:200]}")
