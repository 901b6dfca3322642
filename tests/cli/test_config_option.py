"""What --config takes."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from explorer_app.cli.config_option import config_parameters
from neuron_profile import ProfileMode


def test_values_read_as_what_they_look_like() -> None:
    given = ("max_events_per_nc=1000", "precache_node_info=False", "neff_cache_dir=none", "profile_output_dir=a=b")
    assert config_parameters(given) == {
        "max_events_per_nc": 1000, "precache_node_info": False, "neff_cache_dir": None, "profile_output_dir": "a=b",
    }  # fmt: skip


def test_cores_stay_a_text_and_none_is_a_device_model() -> None:
    assert config_parameters(["capture_enabled_for_nc=3", "device_model=none"]) == {
        "capture_enabled_for_nc": "3", "device_model": "none",
    }  # fmt: skip


def test_lists_have_commas() -> None:
    assert config_parameters(["modes=device, ProfileMode.RUNTIME", "collectors=torch,host"]) == {
        "modes": [ProfileMode.DEVICE, ProfileMode.RUNTIME], "collectors": ["torch", "host"],
    }  # fmt: skip
    assert config_parameters(["collectors=default"]) == {"collectors": "default"}


def test_files_and_parameters_mix_and_the_later_one_counts(tmp_path: Path) -> None:
    toml, json = tmp_path / "a.toml", tmp_path / "b.json"
    toml.write_text('record = "as_given"\nmodes = ["DEVICE"]\nmax_events_per_nc = 5')
    json.write_text('{"record": "auto"}')
    assert config_parameters([str(toml), str(json), "max_events_per_nc=7"]) == {
        "record": "auto", "modes": [ProfileMode.DEVICE], "max_events_per_nc": 7,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["[1]", "{", "\udcff"])
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(click.BadParameter, match=r"a\.json"):
        config_parameters([str(path)])
