"""Makes the random traces of the format's own tests importable here."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "trace_format"))
