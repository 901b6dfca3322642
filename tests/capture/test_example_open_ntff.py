"""The example that opens a device profile says what the profile holds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "open_ntff.py"


def test_it_prints_engines_queues_and_the_main_metrics(
    python: Callable[..., subprocess.CompletedProcess[str]], corpus: Path
) -> None:
    said = python(str(EXAMPLE), str(corpus / "neuron_bin" / "T180_fused_exec_2.ntff")).stdout.splitlines()
    assert said[0] == "fused.neff: 36.35 µs on cores 4, 5"
    assert sum("works" in line for line in said) == 10
    assert any(line.split()[:3] == ["core", "4", "qGpSimdDynamic"] for line in said)
    values = dict(line.split(": ", 1) for line in said if line and not line.startswith(" "))
    # AWS's own numbers of this run
    assert float(values["total_time"]) == 3.6351609e-05
    assert int(values["hbm_read_bytes"]) == 491520
    assert abs(float(values["mbu_estimated_percent"]) - 0.023920313938272743) < 1e-9
    assert "AWS Neuron docs" in values["peaks"]
