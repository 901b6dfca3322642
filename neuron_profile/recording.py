"""What torch.profiler is asked to record, and what was turned on besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_AUTO = ("record_shapes", "with_flops", "profile_memory")
_SWITCHES = (*_AUTO, "with_stack", "with_modules")


@dataclass(frozen=True, slots=True)
class Recording:
    """The switches of a torch.profiler object as its user set them, and those that the capture turned on."""

    record: str
    asked: dict[str, bool]
    turned_on: tuple[str, ...]
    activities: tuple[str, ...]

    @classmethod
    def of(cls, profile: Any, record: str) -> Recording:
        """What `profile` records; with `record` "auto", what it is to record besides (see `turn_on`)."""
        asked = {name: bool(getattr(profile, name, False)) for name in _SWITCHES}
        turned_on = tuple(name for name in _AUTO if not asked[name]) if record == "auto" else ()
        activities = sorted(activity.name for activity in getattr(profile, "activities", ()))
        return cls(record, asked, turned_on, tuple(activities))

    def turn_on(self, profile: Any) -> None:
        """Set the switches on `profile`; to be called before torch prepares its trace."""
        for name in self.turned_on:
            setattr(profile, name, True)

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": self.record,
            "asked": dict(self.asked),
            "turned_on": list(self.turned_on),
            "activities": list(self.activities),
        }
