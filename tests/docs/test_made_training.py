"""The made-up job of the pictures: the explorer sees in it what was put there, and each page has its picture."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))
from made_training import LAYERS, RANKS, STEPS, write_compiled, write_host, write_job  # noqa: E402
from screenshots import SCHEMES, SHOTS  # noqa: E402

from explorer_app.web.pages import PAGES  # noqa: E402
from neuron_profile import analysis, load  # noqa: E402
from neuron_profile.simulation import simulate  # noqa: E402


def test_each_page_has_a_shot_and_a_picture_in_each_scheme() -> None:
    names = [page.path.strip("/") or "overview" for page in PAGES]
    assert [shot.page for shot in SHOTS] == names
    assert {path.name for path in (DOCS / "screenshots").glob("*.png")} == {
        f"{name}_{scheme}.png" for name in names for scheme in SCHEMES
    }


def test_a_late_rank_is_the_first_finding_and_without_it_there_is_none(tmp_path: Path) -> None:
    write_job(tmp_path / "late", slow_loader=True)
    write_job(tmp_path / "well", slow_loader=False)
    found = analysis.findings(load(tmp_path / "late"))
    # 7.5 ms for a batch instead of 1.2, a tenth more or less
    assert found[0].rule == "slow-rank"
    assert found[0].recoverable_ns == pytest.approx(6.3e6, rel=0.15)
    assert "Rank 2" in found[0].title
    job = load(tmp_path / "well")
    assert "slow-rank" not in [finding.rule for finding in analysis.findings(job)]
    assert len(analysis.steps(job)) == RANKS * STEPS
    # a bucket for three layers, each step, on each rank
    assert analysis.collectives(job)["spans"].sum() == RANKS * STEPS * LAYERS / 3


def test_the_compiled_program_has_one_recompile(tmp_path: Path) -> None:
    write_compiled(tmp_path / "compiled.pb")
    causes = analysis.compile_causes(load(tmp_path / "compiled.pb")).set_index("function")
    assert causes["recompiles"].to_dict() == {"forward": 1, "loss": 0, "sample": 0}
    assert causes.loc["forward", "dur_ns"] == 930_000_000


def test_the_host_alone_can_be_simulated(tmp_path: Path) -> None:
    write_host(tmp_path / "host.pb")
    assert analysis.simulated_device(simulate(load(tmp_path / "host.pb"))) is not None


def test_the_pictures_in_the_readme_are_there() -> None:
    readme = DOCS.parent / "README.md"
    pictures = re.findall(r"\((docs/screenshots/[\w.]+)\)", readme.read_text("utf-8"))
    assert pictures
    assert [name for name in pictures if not (readme.parent / name).is_file()] == []
