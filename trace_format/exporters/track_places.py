"""What tracks are called, and in which order they stand, where a file knows no more than processes and their lines."""

from __future__ import annotations

from trace_format.tables import Tracks


def line_names(tracks: Tracks) -> list[str]:
    """The name of each track after those of the groups between its process and itself: "Core 4 / DMA / qSyncIO0"."""
    names = tracks.text("name")
    return [" / ".join(filter(None, (names[at] for at in path[1:]))) or names[path[-1]] for path in _paths(tracks)]


def line_order(tracks: Tracks) -> list[int]:
    """Where each track stands among all, as the source wants it: a group's tracks together, those below it behind."""
    places = tracks.sort_index.tolist()
    keys = [[(places[at], at) for at in path] for path in _paths(tracks)]
    out = [0] * len(keys)
    for place, track in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        out[track] = place
    return out


def _paths(tracks: Tracks) -> list[list[int]]:
    """The tracks from the outermost one around each track down to it; a circle of parents ends where it closes."""
    parents, out = tracks.parent.tolist(), []
    for track in range(len(parents)):
        path, seen = [track], {track}
        while 0 <= parents[path[-1]] < len(parents) and parents[path[-1]] not in seen:
            path.append(parents[path[-1]])
            seen.add(path[-1])
        out.append(path[::-1])
    return out
