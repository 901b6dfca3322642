"""Which lines of a track are free."""

from __future__ import annotations

_WORD = 512  # lines in a word: with as many words as lines in one, both integers stay short for 10^5 lines and more
_WORD_BITS = _WORD.bit_length() - 1
_PLACE = _WORD - 1


class FreeLines:
    """Lines 0, 1, 2, …, all of them free at first. Each call takes a few steps, however many lines are taken."""

    def __init__(self) -> None:
        self._free = [(1 << _WORD) - 1]  # a bit for each line of a word
        self._words = 1  # a bit for each word that has a free line; beyond the last word all are free

    def lowest(self, line: int) -> int:
        """The first free line that is not above `line`, that is, has no smaller number."""
        word = line >> _WORD_BITS
        if word >= len(self._free):
            return line
        free = self._free[word] >> (line & _PLACE)
        if free:
            return line + (free & -free).bit_length() - 1
        later = self._words >> (word + 1)
        if not later:
            return len(self._free) << _WORD_BITS
        word += (later & -later).bit_length()
        free = self._free[word]
        return (word << _WORD_BITS) + (free & -free).bit_length() - 1

    def take(self, line: int) -> None:
        """Take a line that is free."""
        word = line >> _WORD_BITS
        while word >= len(self._free):
            self._words |= 1 << len(self._free)
            self._free.append((1 << _WORD) - 1)
        self._free[word] ^= 1 << (line & _PLACE)
        if not self._free[word]:
            self._words ^= 1 << word

    def give(self, line: int) -> None:
        """Make a line free that was taken."""
        word = line >> _WORD_BITS
        if not self._free[word]:
            self._words |= 1 << word
        self._free[word] ^= 1 << (line & _PLACE)
