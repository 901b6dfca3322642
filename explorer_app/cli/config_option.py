"""The parameters of NeuronConfig as they are written on a command line or in a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

_LISTS = ("modes", "collectors")


def config_parameters(given: Sequence[str]) -> dict[str, Any]:
    """The parameters that `--config` was given, later ones before earlier: PARAMETER=VALUE, or a file of them.

    A value is a number, true, false or none where it reads as one, else a text; modes and collectors are lists with
    commas. Raises BadParameter.
    """
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if one.lower().endswith((".toml", ".json")) and not name.isidentifier():
            found |= _file(Path(one))
        elif equals and name.isidentifier():
            found[name] = _value(name, value)
        else:
            raise _bad(f"{one!r} is neither PARAMETER=VALUE nor a .toml or .json file of them")
    if isinstance(found.get("modes"), list):
        found["modes"] = [_mode(mode) for mode in found["modes"]]
    return found


def _value(name: str, text: str) -> Any:
    if name in _LISTS and not (name == "collectors" and text == "default"):
        return [part.strip() for part in text.split(",") if part.strip()]
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words and name != "device_model":  # where none is a model's name
        return words[text.lower()]
    return int(text) if text.isdecimal() and name != "capture_enabled_for_nc" else text


def _file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise _bad(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise _bad(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise _bad(f"{path}: is no object of parameters")
    return found


def _mode(name: Any) -> Any:
    from neuron_profile import ProfileMode

    named = {mode.name: mode for mode in ProfileMode}
    key = str(name).upper().removeprefix("PROFILEMODE.")
    if key not in named:
        raise _bad(f"modes: {name!r} is none of {', '.join(named)}")
    return named[key]


def _bad(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--config")
