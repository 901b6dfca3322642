"""The pages, in the order of the navigation. A new page is one file here and one line in `PAGES`."""

from __future__ import annotations

from typing import Final

from explorer_app.web.page import Page
from explorer_app.web.pages.collectives import PAGE as COLLECTIVES
from explorer_app.web.pages.compare import PAGE as COMPARE
from explorer_app.web.pages.compile import PAGE as COMPILE
from explorer_app.web.pages.device import PAGE as DEVICE
from explorer_app.web.pages.hotspots import PAGE as HOTSPOTS
from explorer_app.web.pages.memory import PAGE as MEMORY
from explorer_app.web.pages.overview import PAGE as OVERVIEW
from explorer_app.web.pages.source import PAGE as SOURCE
from explorer_app.web.pages.timeline import PAGE as TIMELINE

PAGES: Final[tuple[Page, ...]] = (OVERVIEW, TIMELINE, HOTSPOTS, MEMORY, DEVICE, COLLECTIVES, COMPILE, COMPARE, SOURCE)
