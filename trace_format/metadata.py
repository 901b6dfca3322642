"""What the rest of the project takes for granted of a trace's metadata, whoever wrote the file."""

from __future__ import annotations

from typing import Any, TypedDict

import msgspec


class _Source(TypedDict, total=False):
    clock: str | None


class _Metadata(TypedDict, total=False):
    sources: list[_Source]


def checked(metadata: Any) -> dict[str, Any]:
    """The same metadata. Raises ValueError where it is no object, or its `sources` are not objects with a clock."""
    msgspec.convert(metadata, _Metadata)
    return dict(metadata)
