"""A small training step, a place for traces, and the promise that no test leaves a hook or a session behind."""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

import neuron_stand_in as stand_in  # noqa: E402

from collectors import boundary  # noqa: E402
from neuron_profile import NeuronConfig, hook  # noqa: E402
from neuron_profile.turn import turn  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("prepare_trace", "start_trace", "stop_trace")


@pytest.fixture(autouse=True)
def no_hook_left_behind() -> Iterator[None]:
    kineto = torch.profiler.profiler._KinetoProfile
    before = {name: kineto.__dict__[name] for name in METHODS}
    assert not any(hasattr(method, "__nprof_hook__") for method in before.values())
    log = logging.getLogger("torch.__trace")
    level = log.level
    yield
    assert log.level == level
    assert not any(type(handler).__module__.startswith("collectors") for handler in log.handlers)
    hook.uninstall()
    assert {name: kineto.__dict__[name] for name in METHODS} == before
    assert turn.take(turn)
    turn.give_back(turn)
    assert not torch.autograd._profiler_enabled()


@pytest.fixture
def config(tmp_path: Path) -> NeuronConfig:
    return NeuronConfig(profile_output_dir=tmp_path / "out")


@pytest.fixture(scope="session")
def step() -> Callable[[], None]:
    """One training step of a model so small that its trace has a few hundred events."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.randn(3, 8)

    def run() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    run()
    return run


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code (or with `-m`, a file, ...) in a fresh interpreter, in a temporary folder."""

    def run(*arguments: str, ok: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        if ok:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def version() -> str:
    """Which torch_neuronx `package` is."""
    return stand_in.LATEST


@pytest.fixture
def package(tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a torch_neuronx that can be imported, and is told of torch's windows."""
    folder = stand_in.write_package(tmp_path / "site", version)
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.setattr(boundary, "_logged", set())
    monkeypatch.chdir(tmp_path)
    importlib.import_module("torch_neuronx.profiling").attach(monkeypatch.setattr)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "torch_neuronx"]:
        del sys.modules[name]


@pytest.fixture
def theirs(package: Path) -> ModuleType:
    """The package's torch_neuronx.profiling."""
    return importlib.import_module("torch_neuronx.profiling")
