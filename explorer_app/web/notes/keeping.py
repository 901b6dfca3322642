"""Where the notes on a trace are kept: beside it, or in the user's own folder where that cannot be written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from explorer_app.web.notes.note import Notes, NotesError
from trace_format import NeuronProfileError
from trace_format.partial_file import PartialFile

SUFFIX: Final = ".notes.json"
MOST_BYTES: Final = 32 << 20  # MOST_NOTES texts of LONGEST_TEXT characters, each at most six bytes of JSON
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A file of notes. `beside` says whether it lies beside its trace."""

    path: Path
    beside: bool

    @property
    def told(self) -> str:
        """Where it is, for the reader."""
        if self.beside:
            return f"Kept beside the trace in {self.path.name}."
        return f"The folder of the trace cannot be written: kept in {self.path}."


class Keeping:
    """The notes on the trace from some paths. Several threads may read; one at a time may change.

    Another process may change them too: what it wrote is read again before anything is written, and again just before
    the new file takes the place of the old one.
    """

    def __init__(self, paths: Sequence[Path], *, own_folder: Path | None = None) -> None:
        """`own_folder` takes the place of the user's."""
        self.places = _places(
            paths, own_folder or platformdirs.user_data_path("neuron-profile", appauthor=False) / "notes"
        )

    def read(self) -> tuple[Notes, Place | None]:
        """The notes, and where they are; None where they are nowhere yet.

        Raises NotesError for a file that is none of notes.
        """
        found: tuple[Notes, Place | None] = (Notes(), None)
        for place in self.places:
            notes = _read(place.path)
            if notes is not None and (found[1] is None or notes.version > found[0].version):
                found = notes, place
        return found

    def change(self, how: Callable[[Notes], Notes]) -> tuple[Notes, Place]:
        """The notes as `how` makes them of what they are, and where they were written.

        Raises NotesError where they cannot be read or written, and what `how` raises.
        """
        if not self.places:
            raise NotesError("this trace comes from no file beside which notes could be kept")
        for _ in range(_TRIES):
            before, _place = self.read()
            after = how(before)
            why = ""
            for place in self.places:
                try:
                    if self._write(place, after, before.version):
                        return after, place
                    break
                except (NeuronProfileError, OSError) as error:
                    why = str(error)
            else:
                raise NotesError(f"nowhere to keep notes: {' '.join(why.split())}")
        raise NotesError("another program changes the notes all the time: try again")

    def _write(self, place: Place, notes: Notes, seen_version: int) -> bool:
        """Whether they are written; not where they are no longer of the version that was seen."""
        if not place.beside:
            place.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if place.path.is_symlink():
            raise NotesError(f"{place.path.name} is a link: notes are not written through it")
        file = PartialFile(place.path, force=True)
        try:
            file.write(notes.to_json().encode())
            if self.read()[0].version != seen_version:
                file.abandon()
                return False
            file.finish()
        except NeuronProfileError:
            file.abandon()
            raise
        return True


def _places(paths: Sequence[Path], own_folder: Path) -> tuple[Place, ...]:
    """Where the notes may lie, the best place first; none for what is no file or folder, like a pipe."""
    if not paths or not all(path.is_file() or path.is_dir() for path in paths):
        return ()
    whole = [str(path.resolve()) for path in paths]
    key = hashlib.sha256("\n".join(whole).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    own = Place(own_folder / f"{key}{SUFFIX}", beside=False)
    if len(paths) > 1:  # beside one of them the notes would seem to be about that one
        return (own,)
    path = paths[0].resolve()
    return (Place(path.with_name(f"{path.name}{SUFFIX}"), beside=True), own) if path.name else (own,)


def _read(path: Path) -> Notes | None:
    """The notes in a file, None where there is none. Raises NotesError."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            body = file.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES:,} bytes")
        return Notes.from_json(body.decode())
    except OSError as error:
        raise NotesError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise NotesError(f"{path.name} is no file of notes ({error}): move it away to write new ones") from error
