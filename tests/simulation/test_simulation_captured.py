"""A real training step, captured here, goes through the simulation: by the session at stop, and by the command line."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402
from recorded import simulated_slices  # noqa: E402

from explorer_app.cli.command import Settings as CommandSettings  # noqa: E402
from explorer_app.cli.main import cli  # noqa: E402
from neuron_profile import NeuronConfig, analysis, hook, load, session  # noqa: E402
from neuron_profile.simulation import simulate  # noqa: E402
from trace_format import Trace  # noqa: E402


def _step() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
    embedding, head = torch.nn.Embedding(100, 64), torch.nn.Linear(64, 100)
    optimizer = torch.optim.AdamW([*layer.parameters(), *embedding.parameters(), *head.parameters()])
    tokens = torch.randint(0, 100, (2, 16))
    loss = torch.nn.functional.cross_entropy(head(layer(embedding(tokens))).view(-1, 100), tokens.view(-1))
    loss.backward()
    optimizer.step()
    loss.item()


def _capture(folder: Path, **options: str) -> Trace:
    config = NeuronConfig(profile_output_dir=folder, collectors=["torch"], **options)
    with torch.profiler.profile(experimental_config=config):
        _step()
    hook.uninstall()
    assert config.trace_path is not None
    return load(config.trace_path, cache=False)


def test_a_training_step_is_simulated_by_rules(tmp_path: Path) -> None:
    trace = _capture(tmp_path)  # "auto": no accelerator took part
    told = trace.metadata["simulated"]
    assert told["generation"] == "trn2"
    assert told["operators_without_shapes"] == 0
    assert told["generic_share_ratio"] <= 0.05
    runs = {name for name, _, _ in simulated_slices(trace, "Executions", rank=_rank(trace))}
    assert {"aten::embedding", "aten::linear", "aten::native_layer_norm", "aten::_log_softmax", "aten::mm"} <= runs
    assert not runs & {"aten::addmm", "aten::view", "aten::empty", "aten::t"}
    assert trace.report.clean


@pytest.mark.parametrize("model", ["none", "inf2"])
def test_the_configuration_says_which_device(tmp_path: Path, model: str) -> None:
    trace = _capture(tmp_path, device_model=model)
    assert trace.metadata.get("simulated", {}).get("generation", "none") == model
    assert trace.tracks.simulated.any() == (model != "none")


def test_without_shapes_a_device_that_was_asked_for_is_a_counted_note(tmp_path: Path) -> None:
    asked = _capture(tmp_path / "asked", device_model="trn1", record="as_given")
    assert [cause for cause in asked.report.left_out if "record_shapes=True" in cause]
    auto = _capture(tmp_path / "auto", record="as_given")
    assert "simulated" not in auto.metadata
    assert auto.report.clean


def test_a_simulation_that_fails_or_hangs_costs_a_counted_note_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(trace: Trace, model: str) -> Trace:
        raise KeyError("out of order")

    monkeypatch.setattr(session, "with_simulated_device", fail)
    failed = _capture(tmp_path / "failed")
    release = threading.Event()
    monkeypatch.setattr(session, "with_simulated_device", lambda trace, model: release.wait(60))
    monkeypatch.setattr(session, "SIMULATION_SECONDS", 0.05)
    hung = _capture(tmp_path / "hung")
    release.set()
    for trace, cause in ((failed, "KeyError: 'out of order'"), (hung, "DeadlineError: took longer than 0.05 s")):
        assert dict(trace.report.left_out) == {f"the simulated device failed: {cause}": 1}
        assert "simulated" not in trace.metadata
        assert "aten::linear" in trace.slices.text("name")


def test_the_command_adds_a_device_to_a_trace_of_torchs_own(tmp_path: Path) -> None:
    with torch.profiler.profile(record_shapes=True) as profile:
        _step()
    source, target = tmp_path / "torch.json", tmp_path / "simulated.pb"
    profile.export_chrome_trace(str(source))
    command = ["simulate", str(source), "-o", str(target), "--device", "trn3", "--lnc", "2", "--eager-gap", "5"]
    result = CliRunner().invoke(cli, command, obj=CommandSettings())
    assert result.exit_code == 0, result.output
    assert "not measured: estimate ±2x of one trn3 NeuronCore (LNC 2), eager" in result.stderr
    trace = load(target, cache=False)
    assert trace.metadata["simulated"]["eager_gap_ns"] == 5000
    before = load(source, cache=False)
    assert analysis.hotspots(before).equals(analysis.hotspots(trace))
    assert len(simulate(before).slices) == len(trace.slices)
    again = CliRunner().invoke(cli, command, obj=CommandSettings())
    assert "--force" in str(again.exception)


def test_the_command_says_in_one_line_what_a_trace_lacks(tmp_path: Path) -> None:
    with torch.profiler.profile() as profile:
        torch.relu(torch.rand(10))
    source = tmp_path / "torch.json"
    profile.export_chrome_trace(str(source))
    result = CliRunner().invoke(cli, ["simulate", str(source), "-o", str(tmp_path / "o.pb")], obj=CommandSettings())
    assert str(result.exception).startswith(f"{source}: no operators with shapes")
    assert not (tmp_path / "o.pb").exists()


def _rank(trace: Trace) -> int:
    return int(trace.tracks.rank.max())
