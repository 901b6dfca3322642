"""A comparison of two traces, for a console, for a pull request, and for a CI server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

from explorer_app import format as fmt
from explorer_app.comparison_text import interval, moved, number_names, signed, value
from explorer_app.reporters.console import console, table
from explorer_app.reporters.visible import visible
from neuron_profile.analysis.comparison import Comparison, Verdict
from trace_format.partial_file import PartialFile

_OPERATIONS = 20


def report_diff(comparison: Comparison, verdicts: Sequence[Verdict], stream: TextIO) -> None:
    """Write the numbers, the operations that changed, and whether each condition holds."""
    out = console(stream)
    out.print(_numbers(out, comparison))
    out.print()
    if len(comparison.operations):
        out.print(_operations(out, comparison))
    else:
        out.print("No operation changed by more than 2 % of itself and 0.1 % of the step.")
    for note in comparison.notes:
        out.print(f"Note: {note}")
    for verdict in verdicts:
        out.print(gate_line(verdict), style="bold red" if verdict.fails else None, markup=False)


def report_markdown(comparison: Comparison, verdicts: Sequence[Verdict], stream: TextIO) -> None:
    """Write the same as Markdown tables."""
    lines = ["| | base | new | change | 95 % interval |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {' | '.join(row)} |" for row in _number_rows(comparison)]
    if len(comparison.operations):
        lines += ["", "| operation | | base | new | change |", "|---|---|--:|--:|--:|"]
        lines += [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in _operation_rows(comparison)]
    lines += [f"\n{note}" for note in comparison.notes]
    lines += [f"\n{'❌' if verdict.fails else '✅'} {gate_line(verdict)}" for verdict in verdicts]
    stream.write("\n".join(lines) + "\n")


def gate_line(verdict: Verdict) -> str:
    """Whether a condition holds, and the numbers it was judged by, in one line."""
    of, name = verdict.change, verdict.gate.name
    said = f"{value(name, of.base)} -> {value(name, of.new)} ({signed(of.ratio)}"
    said += ", single values without an interval)" if of.is_point else f", 95 % interval {interval(of)})"
    return f"{'FAILED' if verdict.fails else 'ok'}: {verdict.gate.text}: {said}"


def gate_record(verdict: Verdict) -> dict[str, Any]:
    """A condition as JSON takes it."""
    of = verdict.change
    return {"condition": verdict.gate.text, "fails": verdict.fails, "base": of.base, "new": of.new,
            "low": of.low, "high": of.high, "is_point": of.is_point}  # fmt: skip


def write_junit(verdicts: Sequence[Verdict], path: Path) -> None:
    """Write a JUnit file with a test case for each condition. Raises TraceFileError where it cannot be written."""
    failures = sum(verdict.fails for verdict in verdicts)
    suite = ElementTree.Element(
        "testsuite", name="neuron-explorer diff", tests=str(len(verdicts)), failures=str(failures)
    )
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="neuron-explorer", name=verdict.gate.text)
        if verdict.fails:
            ElementTree.SubElement(case, "failure", message=gate_line(verdict))
    file = PartialFile(path, force=True)
    file.write(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))
    file.finish()


def _numbers(out: Console, comparison: Comparison) -> Table:
    columns = ("for each step, median", "base", "new", "change", "95 % interval")
    return table(out, columns, [list(row) for row in _number_rows(comparison)], title="")


def _operations(out: Console, comparison: Comparison) -> Table:
    rows = [list(row) for row in _operation_rows(comparison)]
    more = len(comparison.operations) - len(rows)
    title = "Operations by change of self time for each step" + (f", {more} more" if more else "")
    return table(out, ("operation", "<what", "base", "new", "change"), rows, title=title)


def _number_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    names = number_names(comparison)
    return [
        (names.get(name, name), value(name, of.base), value(name, of.new), signed(of.ratio),
         "–" if of.is_point else interval(of))
        for name, of in comparison.numbers.items()
    ]  # fmt: skip


def _operation_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    return [
        (visible(row["name"]), f"{row['what']} on the {row['side']}", fmt.duration(row["base_ns"]),
         fmt.duration(row["new_ns"]), moved(row["difference_ns"]))
        for row in comparison.operations.head(_OPERATIONS).to_dict("records")
    ]  # fmt: skip
