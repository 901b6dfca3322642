"""Many short pieces of bytes of one shape, made all at once."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


class ByteRows:
    """`rows` pieces of equal length, put together from left to right."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.size = 0  # bytes of each piece so far
        self._parts: list[tuple[int, bytes | Array]] = []

    def put(self, data: bytes) -> None:
        """Append the same bytes to every piece."""
        self._parts.append((self.size, data))
        self.size += len(data)

    def columns(self, data: Array) -> None:
        """Append to each piece its row of `data`, `(rows, n) uint8`."""
        self._parts.append((self.size, data))
        self.size += data.shape[1]

    def add(self, other: ByteRows) -> None:
        """Append to each piece the one of `other`."""
        self._parts += [(self.size + at, part) for at, part in other._parts]
        self.size += other.size

    def finish(self) -> list[bytes]:
        """The pieces."""
        out = np.empty((self.rows, self.size), np.uint8)
        for at, part in self._parts:
            if isinstance(part, bytes):
                out[:, at : at + len(part)] = np.frombuffer(part, np.uint8)
            else:
                out[:, at : at + part.shape[1]] = part
        pieces: list[bytes] = out.view(f"V{self.size}").ravel().tolist() if self.size else [b""] * self.rows
        return pieces
