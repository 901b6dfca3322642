"""The header of a NEFF: 1024 bytes, little-endian, in front of a gzipped tar archive."""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER_BYTES = 1024
# AWS's public neff.h: pkg_version, header_size, data_size, neff_version_major, neff_version_minor, build_version,
# num_tpb, hash, uuid, name, requested_tpb_count, tpb_per_node, feature_bits, lnc_size, pad
_LAYOUT = struct.Struct("<5Q128sI32s16s256sI64sQI468x")
# Worked out from data: the device JSON of NEFFs with bits 10 and 11 names these two, in this order.
_FEATURES = {10: "virtual-core", 11: "v3-2x-4x-dve-perf-mode"}


@dataclass(frozen=True, slots=True)
class NeffHeader:
    """The fields of the header, in their order. Sizes are bytes; `hash` and `uuid` are 32 hexadecimal digits."""

    package_version: int
    header_size: int
    data_size: int  # of the archive that follows
    major_version: int
    minor_version: int
    build_version: str
    num_tpb: int  # cores that the program uses
    hash: str
    uuid: str
    name: str
    requested_tpb_count: int
    tpb_per_node: tuple[int, ...]  # for each of 64 nodes
    feature_bits: int
    lnc: int  # physical cores in a logical one; 1 where the header, of an older compiler, has 0

    @classmethod
    def of(cls, data: bytes) -> NeffHeader:
        """The header that a file begins with. Raises struct.error for fewer than 1024 bytes."""
        (
            package, header_size, data_size, major, minor, build, num_tpb, digest, uuid, name, requested, per_node,
            features, lnc,
        ) = _LAYOUT.unpack_from(data)  # fmt: skip
        return cls(
            package, header_size, data_size, major, minor, _text(build), num_tpb, digest[:16].hex(), uuid.hex(),
            _text(name), requested, tuple(per_node), features, lnc or 1,
        )  # fmt: skip

    @property
    def version(self) -> str:
        return f"{self.major_version}.{self.minor_version}"

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that are on, "bit 21" where none is known."""
        bits = (bit for bit in range(64) if self.feature_bits >> bit & 1)
        return tuple(_FEATURES.get(bit, f"bit {bit}") for bit in bits)


def _text(field: bytes) -> str:
    """A C string."""
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")
