"""What the rest of the project takes for granted of a trace's metadata, whoever wrote the file."""

from __future__ import annotations

from typing import Any, TypedDict

import msgspec


class _Source(TypedDict, total=False):
    clock: str | None


class _Metadata(TypedDict, total=False):
    sources: list[_Source]


def device_model(devices: Any) -> str | None:
    """The name of these devices, given as torch describes them (`deviceProperties`); of different ones, each name once.

    None where none has a name.
    """
    described = [device for device in devices if isinstance(device, dict)] if isinstance(devices, list) else []
    names = [device["name"] for device in described if isinstance(device.get("name"), str) and device["name"]]
    return ", ".join(dict.fromkeys(names)) or None


def checked(metadata: Any) -> dict[str, Any]:
    """The same metadata. Raises ValueError where it is no object, or its `sources` are not objects with a clock."""
    msgspec.convert(metadata, _Metadata)
    return dict(metadata)
