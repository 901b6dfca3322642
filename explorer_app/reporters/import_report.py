"""What an import kept, left out and repaired, as text."""

from __future__ import annotations

from typing import TextIO

from explorer_app import format as fmt
from explorer_app.reporters.console import console, table
from trace_format import ImportReport


def report_import(report: ImportReport, stream: TextIO) -> None:
    """Write the counts, cause by cause."""
    out = console(stream)
    out.print(sentence(report))
    for title, causes in (("Left out", report.left_out), ("Repaired", report.repaired)):
        rows = [[cause, fmt.count(number)] for cause, number in (+causes).most_common()]
        if rows:
            out.print()
            out.print(table(out, ("cause", "events"), rows, title=title, folds=True))


def sentence(report: ImportReport) -> str:
    """The report in a sentence: "kept 90 of 92 source events, left out 2, repaired 1"."""
    kept = f"kept {fmt.count(report.kept)} of {fmt.count(report.source_events)} source events"
    parts = [
        f"{what} {fmt.count(sum((+causes).values()))}"
        for what, causes in (("left out", report.left_out), ("repaired", report.repaired))
        if +causes
    ]
    return ", ".join([kept, *parts]) if parts else f"{kept}; nothing had to be repaired"
