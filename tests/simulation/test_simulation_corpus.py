"""Traces that torch.profiler wrote on all kinds of machines can be simulated, or say in one line why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuron_profile import load
from neuron_profile.simulation import Settings, SimulationError, simulate

_LARGEST_BYTES = 1 << 20  # of a file: what is larger has more of the same operators
_FIXED_NS = Settings().neff_fixed_ns


def test_every_trace_of_torch_is_simulated_or_says_what_it_lacks(corpus: Path) -> None:
    simulated = refused = 0
    paths = [path for path in sorted((corpus / "kineto").glob("*.json*")) if path.stat().st_size < _LARGEST_BYTES]
    for path in paths:
        trace = load(path)
        try:
            with_core = simulate(trace)
        except SimulationError as error:
            assert "record_shapes=True" in str(error), path.name
            assert "\n" not in str(error), path.name
            assert not trace.slices.args.any() or b'"Input Dims": [[' not in b"".join(trace.pool.arg_sets.values)
            refused += 1
            continue
        simulated += 1
        told = with_core.metadata["simulated"]
        assert told["device_ns"] >= told["neff_runs"] * _FIXED_NS > 0, path.name
        assert told["neffs"] <= told["neff_runs"] <= told["operators"], path.name
        assert 0 <= told["generic_share_ratio"] <= 1, path.name
        added = with_core.tracks.simulated[with_core.slices.track].astype(bool)
        assert int((~added).sum()) == len(trace.slices), path.name
        assert bool((with_core.slices.dur_ns[added] > 0).all()), path.name
        values = with_core.counters.value[with_core.tracks.simulated[with_core.counters.track].astype(bool)]
        assert bool((np.isfinite(values) & (values >= 0)).all()), path.name
    assert simulated >= 10
    assert refused >= 3


@pytest.mark.parametrize("generation", ["trn1", "trn3", "inf2"])
def test_other_generations_take_all_of_a_real_trace_too(generation: str, corpus: Path) -> None:
    trace = load(corpus / "kineto" / "T014_rank_non_gpu.json.gz")
    told = simulate(trace, Settings(generation=generation)).metadata["simulated"]
    assert told["generation"] == generation
    assert told["operators_without_shapes"] == 0
    assert told["device_ns"] >= told["neff_runs"] * _FIXED_NS > 0
