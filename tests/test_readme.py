"""What the README tells a newcomer to do works, and what it points to is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from explorer_app.cli.main import cli

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_the_capture_example_leaves_a_trace_of_three_steps(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    (tmp_path / "step.py").write_text(code)
    ended = subprocess.run([sys.executable, "step.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    from neuron_profile import analysis, load

    trace = load(ended.stdout.strip())
    assert len(analysis.steps(trace)) == 3
    assert (trace.slices.flops > 0).any()
    assert len(trace.memory)


def test_every_command_in_the_table_exists_and_every_command_is_in_it() -> None:
    told = set(re.findall(r"^\| `neuron-explorer ([a-z]+)", README, re.MULTILINE))
    assert told == {name for name, command in cli.commands.items() if not command.hidden and name.isalpha()}


def test_every_flag_in_the_table_is_one_of_its_command() -> None:
    rows = re.findall(r"^\| `neuron-explorer ([a-z]+)[^|]*\|(.*)\|$", README, re.MULTILINE)
    for name, text in rows:
        flags = {option for parameter in cli.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text.replace("\\|", " "))) <= flags, name


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!http)([^)#]+)", README))))
def test_every_link_leads_to_a_file(target: str) -> None:
    assert (ROOT / target).exists()
