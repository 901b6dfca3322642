"""Whole texts that are public: what torch, Kineto, devices and this program call things."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Final

from trace_format.importers.neuron_device.engines import ENGINES
from trace_format.importers.ntff.opcodes import opcode_name

_TOLD: Final = tomllib.loads((resources.files("trace_format.redaction") / "vocabulary.toml").read_text("utf-8"))

WORDS: Final = frozenset(
    {
        *("", *_TOLD["torch"], *_TOLD["collectives"], *_TOLD["devices"]),
        *(text for engine in ENGINES for text in (engine, f"{engine} active")),
        *map(opcode_name, range(256)),
    }
)
MODULES: Final = frozenset(_TOLD["modules"])
KEYS: Final = frozenset(_TOLD["keys"])
