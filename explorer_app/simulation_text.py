"""What a simulation assumed and how sure it is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from explorer_app import format as fmt

_MOST: Final = 1e18  # neither times nor counts are larger


def simulation_text(metadata: Mapping[str, Any]) -> str:
    """One sentence about `metadata["simulated"]` without its full stop; "" where it says nothing that can be read.

    "estimate ±2x of one trn2 NeuronCore (LNC 1), eager; eager gap 20.0 µs, ..."
    """
    told = metadata.get("simulated")
    if not isinstance(told, Mapping):
        return ""
    device = f"one {told.get('generation', 'unknown')} NeuronCore (LNC {told.get('lnc', fmt.UNKNOWN)})"
    parts = [f"estimate {told.get('uncertainty', '')} of {device}, {told.get('mode', 'mode unknown')}"]
    gap, fixed, generic = (_number(told.get(key)) for key in ("eager_gap_ns", "neff_fixed_ns", "generic_share_ratio"))
    if gap is not None and fixed is not None:
        parts.append(f"eager gap {fmt.duration(gap)}, {fmt.duration(fixed)} for each NEFF run")
    if generic:
        parts.append(f"{fmt.ratio(generic)} of its operators' time by the rule for operators without one")
    left_out = _number(told.get("operators_without_shapes"))
    if left_out:
        parts.append(f"{fmt.counted(int(left_out), 'operator')} without shapes left out")
    notes = told.get("notes")
    return "; ".join([*parts, *(str(note) for note in notes)] if isinstance(notes, (list, tuple)) else parts)


def simulation_size(metadata: Mapping[str, Any]) -> str:
    """ "522 operators in 522 runs of 122 NEFFs, 8.47 ms"; "" where it is not told."""
    told = metadata.get("simulated")
    keys = ("operators", "neff_runs", "neffs", "device_ns")
    numbers = [_number(told.get(key)) for key in keys] if isinstance(told, Mapping) else [None]
    if None in numbers:
        return ""
    operators, runs, neffs, device_ns = (number or 0 for number in numbers)
    return (
        f"{fmt.counted(int(operators), 'operator')} in {fmt.counted(int(runs), 'run')} of "
        f"{fmt.counted(int(neffs), 'NEFF')}, {fmt.duration(device_ns)}"
    )


def _number(value: object) -> float | None:
    """A finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _MOST:
        return None
    return float(value)
