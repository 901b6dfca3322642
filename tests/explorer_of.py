"""The explorer with one trace open."""

from __future__ import annotations

import dash

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from trace_format import Trace


def explorer_of(trace: Trace, *, title: str) -> dash.Dash:
    return create_app(Library.holding(trace, title=title))
