"""A protobuf message as numbers and bytes by field number, for a format whose schema is not published."""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_format.importers.protobuf_fields import fields

_MOST_FIELDS = 1 << 20  # of a message and all inside it; real ones have some thousands


@dataclass
class Reading:
    """What could not be read so far, and how many fields may still come."""

    problems: list[str] = field(default_factory=list)
    fields_left: int = _MOST_FIELDS


@dataclass
class Fields:
    """The fields of one message by number; what is absent is 0, "" or empty. What comes before damage is kept."""

    reading: Reading
    _values: dict[int, list[tuple[int, memoryview]]] = field(default_factory=dict)

    @classmethod
    def of(cls, data: memoryview, reading: Reading, what: str) -> Fields:
        """The fields of the message in `data`, called `what` where it cannot be read."""
        message = cls(reading)
        try:
            for number, value, part in fields(data):
                if not reading.fields_left:
                    raise ValueError(f"more than {_MOST_FIELDS} fields")
                reading.fields_left -= 1
                message._values.setdefault(number, []).append((value, part))
        except ValueError as error:
            reading.problems.append(f"{what} is damaged or cut off: {error}")
        return message

    def number(self, number: int) -> int:
        """The last value of a field of numbers, as uint64."""
        found = self._values.get(number)
        return found[-1][0] if found else 0

    def signed(self, number: int) -> int:
        """The last value of a field of numbers, as int64."""
        value = self.number(number)
        return value - (1 << 64) if value >> 63 else value

    def data(self, number: int) -> bytes:
        """The last value of a field of bytes."""
        found = self._values.get(number)
        return bytes(found[-1][1]) if found else b""

    def text(self, number: int) -> str:
        """A field of text; what is no UTF-8 in it is replaced."""
        return self.data(number).decode("utf-8", "replace")

    def message(self, number: int, what: str) -> Fields:
        """The last message of a field; an empty one where there is none."""
        found = self._values.get(number)
        return Fields.of(found[-1][1] if found else memoryview(b""), self.reading, what)

    def messages(self, number: int, what: str) -> list[Fields]:
        """All messages of a repeated field."""
        return [Fields.of(part, self.reading, what) for _, part in self._values.get(number, ())]
