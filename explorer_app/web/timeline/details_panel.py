"""The panel beside the timeline: everything about the selected slice, for reading."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.web.links import SOURCE_PATH, page_href
from explorer_app.web.names import label, lines, named
from explorer_app.web.table import category_mark
from explorer_app.web.timeline import work_facts
from explorer_app.web.timeline.details import LONGEST_VALUE
from explorer_app.web.timeline.keys import FIRST_KEYS
from explorer_app.web.timeline.same_operation import distribution, on_ranks
from explorer_app.web.timeline.source_lines import AROUND, CALLS, LAUNCH, LAUNCH_CALLS, OWN, file_and_line
from explorer_app.web.view import View

_INDENT_PX: Final = 12
_DEEPEST_INDENT: Final = 6


def details_panel(view: View, details: dict[str, Any], *, merged: int) -> list[Any]:
    """The panel's content for a slice of the whole trace as `details.slice_details` gives it.

    `merged`: how many slices the block stood for that was clicked; this one is the longest of them.
    """
    return [
        html.H2(named(details["name"], longest=LONGEST_VALUE)),
        html.Div(
            [category_mark(details["category"]), html.Span(details["track"]["name"], title="Track")],
            className="np-timeline-under",
        ),
        *_merged_note(merged),
        _facts(_times(details)),
        *_with_links("Work", *work_facts.work(view, details)),
        *_with_links("Rate of the collective", *work_facts.collective(view, details)),
        *_section("Collective", _columns(details["collective"] or {})),
        *_compile(details["compile"] or {}),
        *distribution(view.whole, details["id"]),
        *on_ranks(view.whole, details["id"]),
        *_chain("Caused by", details["chain"], "upstream", "from"),
        *_chain("Causes", details["chain"], "downstream", "to"),
        *_source(view, details["source"]),
        *_section("Arguments", _as_given(details["args"])),
        *_parents(details["parents"]),
        *_section("Ids and source", _identity(details)),
    ]


def nothing_selected() -> html.Div:
    """What the panel shows before anything is selected: what can be done here."""
    rows = [
        part for keys, what in (*FIRST_KEYS, ("?", "all keys")) for part in (html.Dt(html.Kbd(keys)), html.Dd(what))
    ]
    return html.Div([html.P("No slice is selected."), html.Dl(rows, className="np-timeline-keys")], className="np-dim")


def no_such_slice(row: int) -> html.P:
    """What the panel shows where the address names a slice that is not there."""
    return html.P(f"Slice {fmt.count(row)} is not in this trace.", className="np-dim")


def _merged_note(merged: int) -> list[Any]:
    if merged <= 1:
        return []
    words = (
        f"The longest of {fmt.count(merged)} slices that are too short to tell apart at this zoom. Zoom in to see each."
    )
    return [html.P(words, className="np-timeline-under")]


def _times(details: dict[str, Any]) -> list[tuple[str, Any]]:
    dur, self_ns = details["dur"], details["self"]
    rows = [
        ("Duration", _exact(fmt.duration(dur), dur, "ns") if dur is not None else _unfinished()),
        ("Self time", _exact(fmt.duration(self_ns), self_ns, "ns")),
        ("Start", _exact(fmt.duration(details["start"]), details["start"], "ns from the start of the trace")),
    ]
    if details["dur"] and details["parents"] and details["parents"][0]["dur"]:
        share = details["dur"] / details["parents"][0]["dur"]
        rows.append(("Share of parent", _exact(fmt.ratio(share), share, "")))
    if details["track"]["simulated"]:
        rows.append(("Origin", html.Span("sim.", title="Worked out by a model of the device, not measured")))
    return rows


def _unfinished() -> html.Span:
    return html.Span("did not finish", title="It is drawn to the end of the trace")


def _identity(details: dict[str, Any]) -> list[tuple[str, Any]]:
    own = [("slice", str(details["id"])), ("start ns", details["start_ns"]), ("depth", str(details["depth"]))]
    process = details["track"]["process"]
    where = [("process", process)] if process != details["track"]["name"] else []
    return [*where, ("track kind", details["track"]["kind"].replace("_", " ")), *own, *_columns(details["ids"])]


def _columns(fields: dict[str, Any]) -> list[tuple[str, Any]]:
    """Columns of our own tables, by names for people."""
    return [(name.replace("_", " "), _value(name, value)) for name, value in fields.items()]


def _as_given(fields: dict[str, Any]) -> list[tuple[str, Any]]:
    """Fields that the source named; their names stay as they are."""
    return [(label(name), _value(name, value)) for name, value in fields.items()]


def _value(name: str, value: Any) -> Any:
    """A value from the trace, as the trace has it; sizes and durations that say so by their name for people."""
    if isinstance(value, int) and not isinstance(value, bool):
        if name.endswith("_bytes"):
            return _exact(fmt.size(value), value, "bytes")
        if name.endswith("_ns"):
            return _exact(fmt.duration(value), value, "ns")
    if value is None or value == "":
        return fmt.UNKNOWN
    if isinstance(value, dict):
        return _facts(_as_given(value))
    text = lines(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return html.Div(text, className="np-timeline-long") if len(text) > 200 else text


def _compile(fields: dict[str, Any]) -> list[Any]:
    """What is known of a compile, and what it spent its time on, the longest first; phases may lie in others."""
    phases = fields.get("phases")
    took = {name: ns for name, ns in phases.items() if isinstance(ns, int) and ns > 0} if phases else {}
    longest_first = sorted(took.items(), key=lambda phase: -phase[1])
    return [
        *_section("Compile", _columns({name: value for name, value in fields.items() if name != "phases"})),
        *_section("Phases", [(label(name), _exact(fmt.duration(ns), ns, "ns")) for name, ns in longest_first]),
    ]


def _chain(title: str, chain: dict[str, Any], direction: str, end: str) -> list[Any]:
    """The links in one direction, each as deep as it is far from the slice; `end` is the one it leads to."""
    items = [_link(link, end) for link in chain[direction]]
    if left_out := chain["left_out"][direction]:
        items.append(html.Div(f"and {fmt.count(left_out)} more", className="np-dim"))
    return _list(title, items)


def _link(link: dict[str, Any], end: str) -> html.Div:
    other = link[end]
    between = f"{link['from']['name']} → {link['to']['name']}"
    button = _go(other, f"{other['track']['name']} · {link['kind']}\n{between}")
    deeper = min(link["distance"] - 1, _DEEPEST_INDENT)
    return html.Div(button, style={"paddingLeft": f"{_INDENT_PX * deeper}px"} if deeper else None)


def _parents(parents: list[dict[str, Any]]) -> list[Any]:
    return _list("Inside of", (_go(parent, "") for parent in parents))


def _list(title: str, items: Iterable[Any]) -> list[Any]:
    rows = [html.Li(item) for item in items]
    return [html.H3(title), html.Ol(rows)] if rows else []


def _go(slice_: dict[str, Any], note: str) -> html.Button:
    """A button that goes to a slice; the canvas listens for `data-slice`."""
    took = fmt.duration(slice_["dur"])
    title = f"{slice_['name']}\n{note}".strip()
    return html.Button(
        [html.Span(slice_["name"]), html.Span(took)],
        className="np-timeline-go",
        title=title,
        **{"data-slice": str(slice_["id"])},
    )


def _source(view: View, source: dict[str, Any]) -> list[Any]:
    """The frames behind the slice, the innermost first, as a reader looks for it; or why there are none."""
    if not source["frames"]:
        return [html.H3("Source"), html.P(source["why"], className="np-timeline-said np-dim")]
    rows = [html.Li(_frame(view, frame)) for frame in reversed(source["frames"])]
    of = source["of"]["name"] if source["of"] else ""
    title, note = {
        OWN: ("Stack", ""),
        AROUND: ("Stack", f"of {of}, in which it lies"),
        CALLS: ("Python calls around it", ""),
        LAUNCH: ("Stack", f"of {of}, which launched it"),
        LAUNCH_CALLS: ("Python calls", f"around {of}, which launched it"),
    }[source["how"]]
    said = [html.P(note, className="np-timeline-said np-dim")] if note else []
    return [html.H3(title), *said, html.Ol(rows, className="np-timeline-stack")]


def _frame(view: View, frame: str) -> Any:
    """A frame that leads to its line on the Source page, where it names one."""
    place = file_and_line(frame)
    if place is None:
        return lines(frame)
    file, line = place
    return dcc.Link(lines(frame), href=page_href(view, SOURCE_PATH, file=file, line=line), title="Show this line")


def _with_links(title: str, rows: list[tuple[str, Any]], links: list[Any]) -> list[Any]:
    """A section with a line of links under its facts."""
    if not (rows or links):
        return []
    return [html.H3(title), _facts(rows), *([html.Div(links, className="np-timeline-both")] if links else [])]


def _section(title: str, rows: list[tuple[str, Any]]) -> list[Any]:
    return [html.H3(title), _facts(rows)] if rows else []


def _facts(rows: list[tuple[str, Any]]) -> html.Dl:
    parts = [part for name, value in rows for part in (html.Dt(name), html.Dd(value))]
    return html.Dl(parts, className="np-facts")


def _exact(text: str, value: float | None, unit: str) -> html.Span:
    return html.Span(text, title=fmt.exact(value, unit))
