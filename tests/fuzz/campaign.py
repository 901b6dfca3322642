"""One campaign in a process of its own, with bounded memory: `python campaign.py json|log|pb EXAMPLES [SEED]`.

Opens damaged files one after the other. Each must open, or be refused by a NeuronProfileError of one line, within
seconds; what opens must add up, nest, and be written in every format. One that does not ends the campaign with its
traceback and the path of the smallest such file that was found.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "exporters"), str(HERE.parent)]

MEMORY_BYTES = 4 << 30
SECONDS_EACH = 20
SUFFIXES = (".pb", ".json", ".pftrace")


class Files(tuple[bytes, ...]):
    """Whole files; their bytes would drown a message of hypothesis."""

    def __repr__(self) -> str:
        return f"{len(self)} files"


class TooSlowError(Exception):
    """A file took longer than any file of its size may."""


def limit(seconds: int = 0) -> None:
    """Bound this process's memory, and make what takes longer than asked for (`signal.alarm`) an error."""
    os.fsync = lambda descriptor: None  # whether files reach the disk is not the question here
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _too_slow)
    signal.alarm(seconds)


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlowError


def open_and_use(data: bytes, folder: Path) -> bool:
    """Open a file of these bytes and use all of it. Returns whether it opened."""
    from trace_format import NeuronProfileError
    from trace_format.exporters import export_file
    from trace_format.importers import load_file

    path = folder / "file"
    path.write_bytes(data)
    signal.alarm(SECONDS_EACH)
    try:
        trace = load_file(path)
    except NeuronProfileError as error:
        assert "\n" not in str(error), str(error)
        return False
    signal.alarm(SECONDS_EACH)
    report = trace.report.to_dict()
    assert report["kept"] + sum(report["left_out"].values()) == report["source_events"], report
    assert report["kept"] >= 0, report
    for table in trace.tables().values():
        table.to_pandas()
    for arg_set in range(len(trace.pool.arg_sets)):
        trace.pool.args(arg_set)
    for suffix in SUFFIXES:
        export_file(trace, folder / f"again{suffix}", force=True)
    load_file(folder / "again.pb")
    return True


def run(kind: str, examples: int, seed: int | None) -> None:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from json_documents import damaged_documents, documents
    from other_documents import documents as logs_and_timelines
    from test_export_chrome import awkward_trace
    from trace_records import lying_files
    from trace_strategies import small_trace

    from trace_format.exporters import export_file

    opened = total = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, trace in enumerate((awkward_trace(), small_trace(12, 2))):
            for suffix in (".pb", ".json"):
                export_file(trace, folder / f"{i}{suffix}")
        ours = {suffix: [(folder / f"{i}{suffix}").read_bytes() for i in range(2)] for suffix in (".pb", ".json")}
        files = {
            "json": damaged_documents(Files([*documents(), *ours[".json"]])),
            "log": damaged_documents(Files(logs_and_timelines())),
            "pb": lying_files(Files(ours[".pb"])),
        }
        kept = Path(tempfile.gettempdir()) / f"fuzz-{kind}-{os.getpid()}"
        limit()

        @seeded(seed)
        @settings(
            max_examples=examples, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck), print_blob=False,
        )  # fmt: skip
        @given(files[kind])
        def campaign(data: bytes) -> None:
            nonlocal opened, total
            total += 1
            try:
                opened += open_and_use(data, folder)
            except BaseException:
                kept.write_bytes(data)
                raise
            finally:
                signal.alarm(0)

        try:
            campaign()
        except BaseException:
            if kept.exists():
                print(f"the file is {kept}", file=sys.stderr)
            raise
    print(f"{kind}: {total} files, {opened} opened")


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
