"""Makes sure that the packages installed together are also imported together."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

SIBLINGS = ("collectors", "explorer_app", "trace_format")


def check_siblings(home: Path | None = None) -> None:
    """Nothing, if each sibling package that Python would import is the one in `home`, the folder we are in.

    The siblings are top-level packages, so a user's own `collectors.py` beside their script comes first on
    sys.path and would be imported in place of ours. A sibling that is not found at all is no concern of this check.

    Raises ImportError naming both paths and the cure.
    """
    home = home or Path(__file__).resolve().parents[1]
    for name in SIBLINGS:
        found = _location(name)
        if found is None or found.parent == home:
            continue
        raise ImportError(
            f"neuron_profile needs its own package {name!r} from {home / name}, but Python finds {found} first: "
            f"rename that file or folder, or take its folder off sys.path",
            name=name,
            path=str(found),
        )


def _location(name: str) -> Path | None:
    """The package folder or module file that `import name` gives; None if there is none."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None) if module is not None else importlib.util.find_spec(name)
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    if folders:
        return Path(folders[0]).resolve()
    return Path(spec.origin).resolve() if spec.origin else None
