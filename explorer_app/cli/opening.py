"""Opening the trace that a command was given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer_app.cli.progress import Progress

if TYPE_CHECKING:
    from trace_format import Trace

# one trace: a file, a folder, the ranks of one job, or a Neuron profile and its NEFF
paths_argument = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))

no_cache_option = click.option(
    "--no-cache", is_flag=True,
    help="Neither use nor fill the cache of imported files "
    "(in NPROF_CACHE_DIR, at most NPROF_CACHE_BYTES, 10 GB by default).",
)  # fmt: skip


def open_trace(paths: Sequence[Path], *, cache: bool) -> Trace:
    """The trace at `paths`: one file, or the ranks of one job. Raises what `neuron_profile.load` raises."""
    from neuron_profile import load

    with Progress(f"reading {title_of(paths)}") as progress:
        return load(paths[0] if len(paths) == 1 else paths, progress=progress, cache=cache)


def title_of(paths: Sequence[Path]) -> str:
    """What to call these paths: the last two parts of the first, as "run7/trace.pb", and how many more there are."""
    first = paths[0].absolute()
    name = "/".join(first.parts[-2:]) if first.name == "trace.pb" else first.name or str(first)
    return name if len(paths) == 1 else f"{name} and {len(paths) - 1} more"
