"""What is said of a simulation, whatever a file's metadata claims."""

from __future__ import annotations

from typing import Any

import pytest

from explorer_app.simulation_text import simulation_size, simulation_text

TOLD: dict[str, Any] = {
    "generation": "trn2", "lnc": 1, "mode": "eager", "uncertainty": "±2x", "eager_gap_ns": 20_000,
    "neff_fixed_ns": 10_000, "generic_share_ratio": 0.125, "operators_without_shapes": 3, "operators": 522,
    "neff_runs": 500, "neffs": 122, "device_ns": 8_470_000, "notes": ["loops are missing"],
}  # fmt: skip


def test_every_assumption_is_said() -> None:
    assert simulation_text({"simulated": TOLD}) == (
        "estimate ±2x of one trn2 NeuronCore (LNC 1), eager; eager gap 20.0 µs, 10.0 µs for each NEFF run; 12.5 % of "
        "its operators' time by the rule for operators without one; 3 operators without shapes left out; "
        "loops are missing"
    )
    assert simulation_size({"simulated": TOLD}) == "522 operators in 500 runs of 122 NEFFs, 8.47 ms"


@pytest.mark.parametrize("claimed", [None, True, "trn2", [], 7])
def test_what_cannot_be_read_says_nothing(claimed: object) -> None:
    assert simulation_text({"simulated": claimed}) == ""
    assert simulation_size({"simulated": claimed}) == ""
    assert simulation_text({}) == ""


@pytest.mark.parametrize("key", sorted(TOLD))
@pytest.mark.parametrize("odd", [None, "x", True, [1], {}, float("nan"), 10**400])
def test_an_odd_value_spoils_nothing_else(key: str, odd: object) -> None:
    assert simulation_text({"simulated": {**TOLD, key: odd}}).startswith("estimate ")
    assert "\n" not in simulation_size({"simulated": {**TOLD, key: odd}})
