"""A trace without what tells who recorded it: paths, hosts, users, and names outside torch."""

from __future__ import annotations

from trace_format.redaction.redacted import redacted

__all__ = ["redacted"]
