"""Importing the package is light, what it offers is fixed, and its parts are not mixed with a stranger's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import neuron_profile
import trace_format
from neuron_profile.siblings import SIBLINGS, check_siblings

Python = Callable[..., "subprocess.CompletedProcess[str]"]
ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "dash", "plotly", "pandas", "duckdb", "pyarrow")


def test_all_is_what_it_is():
    assert neuron_profile.__all__ == [
        "NeuronConfig", "NeuronProfileError", "NeuronProfiler", "ProfileMode", "__version__", "analysis", "load",
    ]  # fmt: skip
    assert sorted(neuron_profile.__all__) == neuron_profile.__all__
    assert neuron_profile.NeuronProfileError is trace_format.NeuronProfileError
    assert set(neuron_profile.__all__) <= set(dir(neuron_profile))


@pytest.mark.parametrize("name", ["NeuronConfig", "NeuronProfiler", "ProfileMode", "load", "analysis"])
def test_every_name_can_be_imported_from_the_package(name: str, python: Python):
    python("-c", f"from neuron_profile import {name}; assert {name}.__name__.endswith({name!r})")


def test_a_name_it_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = neuron_profile.nonesuch


def loaded(python: Python, code: str) -> set[str]:
    return set(python("-c", f"{code}\nimport sys; print(*sys.modules)").stdout.split())


def test_importing_the_package_imports_nothing_heavy(python: Python):
    assert loaded(python, "import neuron_profile").isdisjoint(HEAVY)


def test_loading_a_trace_imports_nothing_heavy(python: Python):
    assert loaded(python, "from neuron_profile import load, ProfileMode, NeuronProfileError").isdisjoint(HEAVY)


def test_a_whole_capture_with_its_export_imports_no_pandas_and_no_web(python: Python):
    code = """
import torch
from neuron_profile import NeuronConfig, NeuronProfiler
config = NeuronConfig()
prof = torch.profiler.profile(experimental_config=config, on_trace_ready=NeuronProfiler(config).export_trace)
with prof:
    torch.ones(2, 2) @ torch.ones(2, 2)
assert config.trace_path.with_name("trace.json").exists()
"""
    assert loaded(python, code).isdisjoint(set(HEAVY) - {"torch"})


@pytest.mark.parametrize("sibling", SIBLINGS)
@pytest.mark.parametrize("form", ["module", "package"])
def test_a_strangers_module_of_the_same_name_is_an_error_that_says_what_to_do(
    sibling: str, form: str, python: Python, tmp_path: Path
):
    theirs = tmp_path / (f"{sibling}.py" if form == "module" else sibling)
    if form == "package":
        theirs.mkdir()
        (theirs / "__init__.py").touch()
    else:
        theirs.touch()
    (tmp_path / "script.py").write_text("import neuron_profile")
    failed = python(str(tmp_path / "script.py"), ok=False)
    message = failed.stderr.splitlines()[-1]
    assert message.startswith("ImportError: ")
    assert str(ROOT / sibling) in message
    assert str(theirs) in message
    assert "rename" in message


def test_a_stranger_that_is_imported_already_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "collectors.py").touch()
    monkeypatch.delitem(sys.modules, "collectors")
    monkeypatch.syspath_prepend(tmp_path)
    import collectors  # noqa: F401

    with pytest.raises(ImportError, match=r"collectors\.py"):
        check_siblings()


def test_a_sibling_reached_by_another_spelling_of_its_path_is_ours(tmp_path: Path, python: Python):
    (tmp_path / "link").symlink_to(ROOT, target_is_directory=True)
    python("-c", "import neuron_profile, trace_format, collectors", PYTHONPATH=str(tmp_path / "link"))
