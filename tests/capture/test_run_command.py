"""`neuron-explorer run` records a program that knows nothing of it, and leaves the program as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_profile import load
from trace_format import Trace

Python = Callable[..., "subprocess.CompletedProcess[str]"]
RUN = ("-m", "explorer_app.cli.main", "run")
TRAINING = """
import sys
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step():
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


@pytest.fixture
def run(python: Python, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program, given as text, in a file of its own through our command."""

    def run_program(text: str, *options: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        program = tmp_path / "scripts" / "train.py"
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        return python(*RUN, *options, "scripts/train.py", *arguments, ok=False)

    return run_program


def traces(folder: Path) -> list[Trace]:
    return [load(path) for path in sorted(folder.glob("profile_output/*/*/trace.pb"))]


def names(trace: Trace) -> list[str]:
    """The names of what was recorded, without what a model of a device adds."""
    return trace.slices.take(~trace.tracks.simulated[trace.slices.track].astype(bool)).text("name")


def steps(trace: Trace) -> list[str]:
    return [name for name in names(trace) if name.startswith("ProfilerStep#")]


def ours(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if line.startswith("neuron-explorer:")]


def test_the_first_steps_are_skipped_and_the_next_recorded(run: Python, tmp_path: Path):
    done = run(TRAINING + "for _ in range(10): step()\nprint('done')")
    assert (done.returncode, done.stdout) == (0, "done\n")
    (trace,) = traces(tmp_path)
    assert steps(trace) == [f"ProfilerStep#{number}" for number in (2, 3, 4, 5, 6)]
    assert names(trace).count("Optimizer.step#SGD.step") == 5
    assert trace.metadata["collector_losses"] == {}
    (line,) = ours(done.stderr)
    path = line.split()[3].rstrip(";")
    assert load(Path(path)).metadata["pid"] == trace.metadata["pid"]
    assert line.endswith(f"neuron-explorer {path}")


def test_options_say_which_steps_and_where_and_what(run: Python, tmp_path: Path):
    options = ("--steps", "2", "--skip-steps", "3", "-o", "here", "--config", "collectors=torch", "--with-stack")
    assert run(TRAINING + "for _ in range(9): step()", *options).returncode == 0
    (path,) = (tmp_path / "here").glob("*/*/trace.pb")
    trace = load(path)
    assert steps(trace) == ["ProfilerStep#3", "ProfilerStep#4"]
    assert trace.metadata["collectors"] == ["torch", "steps"]
    assert any(name.startswith("nn.Module: Linear") for name in names(trace))


def test_without_skipped_steps_the_first_step_is_whole(run: Python, tmp_path: Path):
    run(TRAINING + "for _ in range(3): step()", "--skip-steps", "0", "--steps", "2")
    (trace,) = traces(tmp_path)
    assert steps(trace) == ["ProfilerStep#0", "ProfilerStep#1"]
    assert names(trace).count("aten::linear") == 2


def test_of_two_optimizers_the_first_one_counts_the_steps(run: Python, tmp_path: Path):
    other = "other = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    run(TRAINING + other + "for _ in range(4): step(); other.step(); other.step()", "--steps", "2", "--skip-steps", "1")
    (trace,) = traces(tmp_path)
    assert steps(trace) == ["ProfilerStep#1", "ProfilerStep#2"]
    assert names(trace).count("Optimizer.step#SGD.step") == 6


def test_a_program_runs_as_python_runs_it(run: Python, python: Python, tmp_path: Path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "sibling.py").write_text("NAME = 'sibling'")
    program = (
        TRAINING
        + "import argparse, pickle, sibling\n"
        + "parser = argparse.ArgumentParser(); parser.add_argument('--steps', type=int); parser.add_argument('-o')\n"
        + "class Mine: pass\n"
        + "print(__name__, sys.argv, parser.parse_args(), sibling.NAME, type(pickle.loads(pickle.dumps(Mine()))))\n"
        + "print(sys.stdout.errors, sys.excepthook is sys.__excepthook__, sys.path[0], __file__, __spec__)"
    )
    arguments = ("--steps", "3", "-o", "x y")
    done = run(program, arguments=arguments)
    assert done.stdout.startswith("__main__ ['scripts/train.py', '--steps', '3', '-o', 'x y'] Namespace(steps=3, ")
    assert done.stdout == python("scripts/train.py", *arguments).stdout


def test_a_module_runs_as_python_runs_it(python: Python, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").touch()
    (tmp_path / "mine" / "train.py").write_text(
        TRAINING + "for _ in range(4): step()\nprint(__package__, sys.argv[1:])"
    )
    done = python(*RUN, "-m", "mine.train", "--lr", "1")
    assert done.stdout == "mine ['--lr', '1']\n"
    (trace,) = traces(tmp_path)
    assert steps(trace) == ["ProfilerStep#2", "ProfilerStep#3"]


@pytest.mark.parametrize(
    ("ending", "code", "last"),
    [
        ("raise OSError('no disk')", 1, "OSError: no disk"),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('bad data')", 1, "bad data"),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
def test_a_program_that_ends_early_leaves_its_exit_code_and_a_trace(
    ending: str, code: int, last: str, run: Python, tmp_path: Path
):
    done = run(TRAINING + f"for _ in range(4): step()\n{ending}")
    assert done.returncode == code
    (trace,) = traces(tmp_path)
    assert steps(trace) == ["ProfilerStep#2", "ProfilerStep#3"]
    lines = done.stderr.splitlines()
    assert last in lines or not last
    where = [line.split(",")[0] for line in lines if line.startswith("  File")]
    assert set(where) <= {f'  File "{tmp_path}/scripts/train.py"'}  # a traceback has nothing of ours
    assert len(ours(done.stderr)) == 1


def test_a_program_that_is_terminated_leaves_a_trace_and_dies_of_it(run: Python, tmp_path: Path):
    done = run(TRAINING + "import os, signal\nfor _ in range(4): step()\nos.kill(os.getpid(), signal.SIGTERM)")
    assert done.returncode == -15
    (trace,) = traces(tmp_path)
    assert steps(trace) == ["ProfilerStep#2", "ProfilerStep#3"]


def test_a_program_without_an_optimizer_is_recorded_from_its_first_module_on(run: Python, tmp_path: Path):
    run("import torch\ntorch.ones(3).neg()\nmodel = torch.nn.Linear(4, 4)\nfor _ in range(3): model(torch.ones(2, 4))")
    (trace,) = traces(tmp_path)
    assert steps(trace) == []
    assert names(trace).count("aten::linear") == 3
    assert "aten::neg" not in names(trace)


def test_seconds_record_any_program(run: Python, tmp_path: Path):
    busy = """
import time
from pathlib import Path
import torch
torch.ones(3).exp()
end = time.time() + 120
while not list(Path("profile_output").glob("*/*/trace.pb")) and time.time() < end:
    torch.ones(3).neg()
    time.sleep(0.001)
torch.ones(3).exp()
"""
    assert run(busy, "--wait", "0.4", "--seconds", "0.6").returncode == 0
    (trace,) = traces(tmp_path)
    assert "aten::neg" in names(trace)
    assert "aten::exp" not in names(trace)
    assert trace.metadata["stop_ns"] - trace.metadata["start_ns"] > 0.5e9


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("print(1)", "called no module and stepped no optimizer; use --seconds"),
        (TRAINING + "step()", "made 1 steps and 2 are skipped; see --skip-steps"),
    ],
)
def test_why_nothing_was_recorded_is_said(text: str, why: str, run: Python, tmp_path: Path):
    (line,) = ours(run(text).stderr)
    assert line.endswith(why)
    assert traces(tmp_path) == []


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (2, "neuron-explorer: trace of 0 of 5 steps, as the program made 2, in /"),
        (4, "neuron-explorer: trace of 2 of 5 steps, as the program made 4, in /"),
        (9, "neuron-explorer: trace in /"),
    ],
)
def test_a_program_of_fewer_steps_than_were_to_be_recorded_is_told_of(made: int, told: str, run: Python):
    (line,) = ours(run(TRAINING + f"for _ in range({made}): step()").stderr)
    assert line.startswith(told)


def test_work_beside_the_main_thread_is_recorded_on_request(run: Python, tmp_path: Path):
    text = TRAINING + "import threading\ndef work():\n    for _ in range(9): step()\n"
    text += "thread = threading.Thread(target=work); thread.start(); thread.join()"
    (line,) = ours(run(text).stderr)
    assert line.endswith("add --config profile_all_threads=true")
    assert traces(tmp_path) == []
    run(text, "--config", "profile_all_threads=true")
    (trace,) = traces(tmp_path)
    assert steps(trace) == [f"ProfilerStep#{number}" for number in (2, 3, 4, 5, 6)]
    assert names(trace).count("Optimizer.step#SGD.step") == 5


OWN_PROFILER = """
with torch.profiler.profile({config}) as prof:
    step()
print("Optimizer.step#SGD.step" in [event.name for event in prof.events()])
"""


@pytest.mark.parametrize(
    "config", ["", "experimental_config=__import__('neuron_profile').NeuronConfig(profile_output_dir='own')"]
)
def test_a_program_that_profiles_itself_has_its_profile_and_ours_ends(config: str, run: Python, tmp_path: Path):
    text = TRAINING + "for _ in range(4): step()" + OWN_PROFILER.format(config=config) + "for _ in range(4): step()"
    done = run(text)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    (trace,) = traces(tmp_path)
    assert steps(trace) == ["ProfilerStep#2", "ProfilerStep#3"]
    assert len(list(tmp_path.glob("own/*/*/trace.pb"))) == bool(config)
    assert "Warning" not in done.stderr


def test_a_profiler_around_everything_is_left_alone(run: Python, tmp_path: Path):
    done = run(
        TRAINING
        + "with torch.profiler.profile() as prof:\n    for _ in range(9): step()\nprint(len(prof.events()) > 9)"
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    (line,) = ours(done.stderr)
    assert "the program runs a profiler itself" in line
    assert traces(tmp_path) == []


WORKERS = """
import os
import torch.multiprocessing as multiprocessing
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self): return 12
    def __getitem__(self, i): return torch.full((4,), float(i))

def child(rank):
    for _ in range(9): step()
    print("child", rank, __name__, flush=True)

if __name__ == "__main__":
    for batch in DataLoader(Data(), batch_size=2, num_workers=2): step()
    multiprocessing.spawn(child, nprocs=2)
    if os.fork() == 0:
        for _ in range(9): step()
        sys.exit(0)
    os.wait()
    print("parent")
"""


def test_children_are_neither_recorded_nor_run_through_us(run: Python, tmp_path: Path):
    done = run(TRAINING + WORKERS)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["child 0 __mp_main__", "child 1 __mp_main__", "parent"]
    (trace,) = traces(tmp_path)
    assert steps(trace) == [f"ProfilerStep#{number}" for number in (2, 3, 4, 5)]
    assert len(ours(done.stderr)) == 1


DISTRIBUTED = """
torch.distributed.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(model)
for _ in range(9): step()
# gloo aborts a rank that is still reading when the other closes, and its barrier ends with reading, too
store = torch.distributed.distributed_c10d._get_default_store()
store.set(f"rank {torch.distributed.get_rank()} is done", "yes")
store.wait(["rank 0 is done", "rank 1 is done"])
torch.distributed.destroy_process_group()
"""


@pytest.mark.parametrize("by_module", [True, False])
def test_torchrun_through_it_leaves_a_trace_of_each_rank(by_module: bool, python: Python, tmp_path: Path):
    (tmp_path / "train.py").write_text(TRAINING + DISTRIBUTED)
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    if by_module:
        command = (*torchrun, *RUN)
    else:
        script = tmp_path / "neuron-explorer"
        script.write_text('#!/bin/sh\nexec "$PYTHON" -m explorer_app.cli.main "$@"\n')
        script.chmod(0o755)
        command = (*torchrun, "--no-python", str(script), "run")
    import sys

    done = python(*command, "train.py", OMP_NUM_THREADS="1", PYTHON=sys.executable)
    ranks = traces(tmp_path)
    assert sorted(trace.metadata["rank"] for trace in ranks) == [0, 1]
    for trace in ranks:
        assert steps(trace) == [f"ProfilerStep#{number}" for number in (2, 3, 4, 5, 6)]
        assert trace.collectives.text("op").count("all_reduce") == 5
    assert len(ours(done.stderr)) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--steps", "3", "--seconds", "2", "x.py"), "give one of both"),
        (("--config", "devices=3", "x.py"), "left out devices"),
        (("--config", "record=sometimes", "x.py"), "'sometimes' is none of auto, as_given"),
        (("--config", "modes=DEVICE,GPU", "x.py"), "'GPU' is none of"),
        (("--config", "nothing", "x.py"), "neither PARAMETER=VALUE nor a .toml or .json file"),
        (("--config", "missing.toml", "x.py"), "missing.toml: No such file or directory"),
        (("nonesuch.py",), "nonesuch.py: there is no such script"),
    ],
)
def test_wrong_usage_is_one_line(options: tuple[str, ...], message: str, python: Python, tmp_path: Path):
    (tmp_path / "x.py").touch()
    done = python(*RUN, *options, ok=False)
    assert done.returncode in (1, 2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("neuron-explorer: ")
    assert message in line
