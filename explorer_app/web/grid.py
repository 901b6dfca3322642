"""Grids: tables that sort, filter, select and are copied, for many rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import dash
import dash_ag_grid as dag
import pandas as pd
from dash import Input, Output, html, no_update

from explorer_app.web import theme
from explorer_app.web.links import whole_slice_href
from explorer_app.web.view import VIEW, View, Views

# The browser takes the values of the custom properties, so one set of parameters serves both schemes;
# the scheme itself is told through <body data-ag-theme-mode> (assets/np_shell.js).
_PARAMETERS: Final = (
    "{fontFamily: 'var(--np-font)', fontSize: 12, headerFontSize: 12, headerFontWeight: 500, spacing: 4,"
    " backgroundColor: 'var(--np-panel)', foregroundColor: 'var(--np-text)', borderColor: 'var(--np-line)',"
    " accentColor: 'var(--np-accent)', headerBackgroundColor: 'var(--np-panel)',"
    " headerTextColor: 'var(--np-dim)', rowHoverColor: 'var(--np-hover)',"
    " selectedRowBackgroundColor: 'var(--np-select)', oddRowBackgroundColor: 'var(--np-panel)',"
    " wrapperBorder: false, wrapperBorderRadius: 0, browserColorScheme: '%s'}"
)
_THEME: Final = "themeQuartz" + "".join(f".withParams({_PARAMETERS % scheme}, '{scheme}')" for scheme in theme.SCHEMES)
# What the mouse does in every grid, for the key help.
SELECT_KEY: Final = ("Click a row", "select it")
SORT_KEY: Final = ("Click a heading", "sort; with Ctrl by several columns")
_ALL_FILTERED: Final = "No row passes the filters."
_EXAMPLES: Final = {"duration": "1.5 ms", "size": "2 MB", "bandwidth": "1 GB/s", "count": "10", "ratio": "5 %"}
_OPTIONS: Final[dict[str, Any]] = {
    "theme": {"function": _THEME},
    "rowHeight": 28,
    "headerHeight": 32,
    "floatingFiltersHeight": 32,
    "animateRows": False,
    "suppressColumnMoveAnimation": True,
    "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
    "tooltipShowDelay": 400,
    "enableCellTextSelection": False,
    "suppressCellFocus": False,
    # Tab leads on behind the grid, where AG Grid's own goes through every cell of every row; the arrows lead to cells
    "tabToNextCell": {"function": "npLeaveToBrowser()"},
    "multiSortKey": "ctrl",
}


def grid(
    name: str,
    columns: Sequence[Mapping[str, Any]],
    *,
    empty: str,
    label: str,
    rows: Sequence[Mapping[str, Any]] | None = None,
    chosen: str = "",
) -> html.Div:
    """A grid that fills the height it is given; without `rows` they are still to come, through its `rowData`.

    Rows are told apart by their `id` (see `rows_of`); `empty` says why there are none. `chosen` is the id of the row
    that is selected, and in sight, at first.
    """
    return html.Div(
        dag.AgGrid(
            id=name,
            rowData=None if rows is None else list(rows),
            columnDefs=[dict(column) for column in columns],
            defaultColDef={
                "sortable": True, "resizable": True, "filter": True, "floatingFilter": True,
                "suppressHeaderMenuButton": True, "suppressHeaderFilterButton": True,
            },
            dashGridOptions={**_OPTIONS, "localeText": {"noRowsToShow": empty, "noMatchingRows": _ALL_FILTERED}},
            getRowId="params.data.id",
            **({"selectedRows": {"ids": [chosen]}, "scrollTo": {"rowId": chosen, "rowPosition": "middle"}}
               if chosen else {}),
            className="np-grid",
            style={"height": "100%"},
        ),
        className="np-grid-host",
        role="region",
        **{"aria-label": label},
    )  # fmt: skip


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame for a grid, each with its position as `id` unless it has one; None for unknown (NaN)."""
    names = [str(name) for name in frame.columns]
    values = [frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns]
    return [
        {"id": str(number), **dict(zip(names, row, strict=True))}
        for number, row in enumerate(zip(*values, strict=True))
    ]


def work_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of hotspots, or of a part of them, for a grid; times are None where no slice finished."""
    rows = rows_of(frame)
    for row in rows:
        if row["max_ns"] == -1:
            row.update(self_ns=None, total_ns=None, share_ratio=None, p50_ns=None, p95_ns=None, max_ns=None)
    return rows


def lead_to_timeline(app: dash.Dash, views: Views, grid_name: str, find: Callable[[View, str], int]) -> None:
    """Let a double click on a row open the timeline at the slice of the whole trace that `find(view, row id)` returns.

    -1 is none.
    """

    @app.callback(
        Output("np-url", "href", allow_duplicate=True),
        Input(grid_name, "cellDoubleClicked"),
        VIEW,
        prevent_initial_call=True,
    )
    def go(clicked: Any, asked: Any) -> Any:
        view = views.of(asked)
        return whole_slice_href(view, find(view, row_id(clicked, "rowId"))) or no_update


def row_id(event: Any, key: str) -> str:
    """The id of the row that an event of a grid is about; "" for none, for events come from the browser."""
    return str(event.get(key, "")) if isinstance(event, dict) else ""


def slice_of_row(view: View, frame: pd.DataFrame, chosen: str) -> int:
    """The slice of the whole trace in column `slice` of the row that an id names (see `position`); -1 for none."""
    number = position(chosen, len(frame))
    return view.slice_id(int(frame["slice"].iloc[number])) if number >= 0 else -1


def position(chosen: str, rows: int) -> int:
    """The position among `rows` rows that an `id` names; -1 for what names none, for ids come from the browser."""
    number = int(chosen) if chosen.isdecimal() and len(chosen) <= len(str(rows)) else -1
    return number if number < rows else -1


def grid_height_px(rows: int) -> int:
    """The height in which a grid shows so many rows without scrolling."""
    return int(_OPTIONS["headerHeight"] + _OPTIONS["floatingFiltersHeight"] + _OPTIONS["rowHeight"] * max(rows, 2) + 4)


def text_column(field: str, heading: str, **options: Any) -> dict[str, Any]:
    """A column of text; what does not fit is in the tooltip."""
    return {"field": field, "headerName": heading, "tooltipField": field, "filter": "agTextColumnFilter", **options}


def name_column(field: str, heading: str, **options: Any) -> dict[str, Any]:
    """A column of names from the trace; sorting, filtering and copying use them as they are in the trace."""
    shown = {
        "valueFormatter": {"function": "npNamed(params.value)"}, "tooltipField": None,
        "tooltipValueGetter": {"function": "npNameTooltip(params.value)"},
    }  # fmt: skip
    return text_column(field, heading, **shown, **options)


def number_column(
    field: str, heading: str, shown: str, unit: str = "", *, about: str = "", **options: Any
) -> dict[str, Any]:
    """A column of numbers, `shown` as one of duration, size, bandwidth, count, ratio (`assets/np_format.js`).

    Sorting and filtering use the number itself; the tooltip has it with all its digits, in `unit`. `about` says in
    the heading's tooltip what the number is, where the heading alone cannot.
    """
    filtered = f"filter by the least value, with or without a unit ({_EXAMPLES[shown]})"
    return {
        "field": field,
        "headerName": heading,
        "type": "rightAligned",
        "cellClass": "ag-right-aligned-cell np-number",
        "filter": "agNumberColumnFilter",
        "filterParams": {
            "filterOptions": ["greaterThanOrEqual", "lessThanOrEqual", "equals", "inRange"],
            "maxNumConditions": 1,
            "allowedCharPattern": "0-9.,a-zA-Zµ%/ ",
            "numberParser": {"function": f"npParse(params, '{shown}')"},
        },
        "headerTooltip": f"{about}; {filtered}" if about else f"{heading}: {filtered}",
        "valueFormatter": {"function": f"npFormat(params.value, '{shown}')"},
        "tooltipValueGetter": {"function": f"npExact(params.value, '{unit}')"},
        "sortingOrder": ["desc", "asc", None],
        **options,
    }


def estimated_column(field: str, heading: str, shown: str, unit: str, why: str, **options: Any) -> dict[str, Any]:
    """A column of numbers, "est." beside each that is estimated (the row's `estimated_ratio`); `why` in the tooltip."""
    return number_column(
        field, heading, shown, unit,
        **{"cellRenderer": "NpEstimated", "cellRendererParams": {"why": why, "unit": unit},
           "tooltipValueGetter": None, **options},
    )  # fmt: skip


def share_column(field: str, heading: str, **options: Any) -> dict[str, Any]:
    """A column of ratios, each with a bar in its cell in the colour of the row's `category`."""
    return number_column(field, heading, "ratio", **{"cellRenderer": "NpShare", **options})


def category_column(field: str = "category", heading: str = "Category", **options: Any) -> dict[str, Any]:
    """A column of categories, each beside its colour."""
    return text_column(field, heading, **{"cellRenderer": "NpCategory", **options})


def copy_button(grid_name: str) -> html.Button:
    """A button that copies the grid's rows, as filtered and sorted, as TSV with exact values."""
    return html.Button(
        "Copy as TSV", className="np-button np-copy", title="All rows as filtered and sorted, with exact values",
        **{"data-grid": grid_name},
    )  # fmt: skip
