"""What every test may use: the corpus of real files, and its independently computed facts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("here", deadline=None)
settings.load_profile("here")

pytest_plugins = ["browser_fixtures"]

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps what is tested, and the processes it starts, out of the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NPROF_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real traces; the test is skipped where it is not there."""
    folder = Path(os.environ.get("NPROF_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip(f"no corpus at {folder}: set NPROF_CORPUS")
    return folder


@pytest.fixture(scope="session")
def corpus_facts(corpus: Path) -> dict[str, Any]:
    """Reference facts by path inside the corpus."""
    return dict(json.loads((corpus / "facts.json").read_text()))
