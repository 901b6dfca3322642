"""What the Makefile calls exists: the command line understands the words of its recipes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from explorer_app.cli.main import OK, USAGE, main

ROOT = Path(__file__).resolve().parents[1]


def calls_of_the_command_line(target: str) -> list[list[str]]:
    """The words after `neuron-explorer` in what make would run for this target."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("there is no make here")
    recipe = subprocess.run([make, "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [shlex.split(line) for line in recipe.splitlines() if "neuron-explorer" in line]
    return [words[1:] for words in lines if Path(words[0]).name == "neuron-explorer"]


def test_demo_is_called_with_flags_that_it_has(capsys: pytest.CaptureFixture[str]):
    (words,) = calls_of_the_command_line("demo")
    assert words[0] == "demo"
    assert main([*words, "--help"]) == OK
    assert "Usage: neuron-explorer demo" in capsys.readouterr().out
    assert main([*words, "--no-such-flag", "--help"]) == USAGE  # so the line above says something
