"""Formulas for what an operator needs, each with its source."""

from __future__ import annotations

from neuron_profile.hardware.op_cost import OpCost, op_cost

__all__ = ["OpCost", "op_cost"]
