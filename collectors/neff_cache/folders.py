"""The folders in which NEFFs are kept on this machine, and what is in them."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

SUFFIX = ".neff"
# AWS Neuron docs, PyTorch native backend (environment variables), Neuron Persistent Cache; vLLM's cache root.
_FOLDERS = {
    "TORCH_NEURONX_NEFF_CACHE_DIR": "/tmp/neff_cache",  # noqa: S108 - the documented default
    "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR": "/tmp/local_cache",  # noqa: S108
    "NEURON_COMPILE_CACHE_URL": "/var/tmp/neuron-compile-cache",  # noqa: S108
}
_FLAGS, _VLLM = "NEURON_CC_FLAGS", "VLLM_CACHE_ROOT"
_MOST_NESTED = 8
_MOST_AT_START = 20_000  # NEFFs looked at before the window
_MOST_FILES = 1 << 20


@dataclass(slots=True)
class Snapshot:
    """The NEFFs below a folder before a window, by path; `whole` is False where there were too many to look at."""

    inodes: dict[str, int] = field(default_factory=dict)
    whole: bool = True


def cache_folders(named: Path | None) -> list[Path]:
    """The folders of caches that exist on this machine, by the user's settings and the defaults."""
    flags = os.environ.get(_FLAGS, "")
    try:
        words = shlex.split(flags)
    except ValueError:  # a quotation mark too many: theirs to complain about
        words = flags.split()
    by_flag = [word.partition("=")[2] for word in words if word.startswith("--cache_dir=")]
    by_flag += [after for word, after in pairwise(words) if word == "--cache_dir"]
    vllm = os.environ.get(_VLLM)
    by_name = [os.environ.get(name) or default for name, default in _FOLDERS.items()]
    by_name += [f"{vllm}/neuron/compile_cache"] if vllm else []
    paths = [*([named] if named else []), *(Path(text.removeprefix("file://")) for text in (*by_flag, *by_name))]
    return [folder for folder in dict.fromkeys(path.resolve() for path in paths) if folder.is_dir()]


def snapshot(folder: Path, until_s: float) -> Snapshot:
    """The NEFFs below a folder now, as many as can be looked at until then (monotonic seconds)."""
    out = Snapshot()
    for entry in neffs_below(folder, until_s):
        out.inodes[entry.path] = entry.inode()
        if len(out.inodes) >= _MOST_AT_START:
            out.whole = False
            return out
    out.whole = time.monotonic() <= until_s
    return out


def neffs_below(folder: Path, until_s: float) -> Iterator[os.DirEntry[str]]:
    """The NEFFs below a folder, links to folders not followed, as long as there is time."""
    folders = [(str(folder), 0)]
    seen = 0
    while folders and seen < _MOST_FILES:
        at, depth = folders.pop()
        try:
            entries = list(os.scandir(at))
        except OSError:  # removed meanwhile, or not ours to read
            continue
        for entry in entries:
            seen += 1
            if entry.name.endswith(SUFFIX):
                yield entry
            elif depth < _MOST_NESTED and entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, depth + 1))
        if time.monotonic() > until_s:
            return


def access_times(folder: Path) -> str:
    """How far the file system notes that files are read: each time, the first time on a day (relatime), never."""
    if not hasattr(os, "ST_RELATIME"):  # other systems than Linux
        return "unknown"
    try:
        flags = os.statvfs(folder).f_flag
    except OSError:
        return "unknown"
    return "never" if flags & os.ST_NOATIME else "relatime" if flags & os.ST_RELATIME else "each"
