"""Which category an event belongs to: the rule table `categories.toml`, and the user's own before it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_format.errors import TraceFileError
from trace_format.tables import CATEGORIES

_SHIPPED = Path(__file__).with_name("categories.toml")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: a pattern for the source's category, one for the name (None: any), the category's code."""

    source: re.Pattern[str]
    name: re.Pattern[str] | None
    category: int

    def matches(self, source_category: str, name: str) -> bool:
        return bool(self.source.fullmatch(source_category)) and (self.name is None or bool(self.name.search(name)))


class Classifier:
    """Gives every (source category, name) its category by the first rule that matches; "other" where none does.

    `rules_path` names a TOML file of the user's whose rules go before the shipped ones.
    Raises TraceFileError for a file that cannot be read or that holds no valid rules.
    """

    def __init__(self, rules_path: str | os.PathLike[str] | None = None) -> None:
        paths = [_SHIPPED] if rules_path is None else [Path(rules_path), _SHIPPED]
        self._rules = [rule for path in paths for rule in _read(path)]
        self._by_source: dict[str, list[Rule]] = {}
        self._known: dict[tuple[str, str], int] = {}

    def code(self, source_category: str, name: str) -> int:
        """The category as an index into `CATEGORIES`."""
        key = (source_category, name)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = next(
                (rule.category for rule in self._for(source_category) if rule.matches(source_category, name)), 0
            )
        return found

    def codes(self, pairs: Iterable[tuple[str, str]]) -> list[int]:
        """The categories of (source category, name) pairs, in order."""
        return [self.code(source_category, name) for source_category, name in pairs]

    def _for(self, source_category: str) -> list[Rule]:
        found = self._by_source.get(source_category)
        if found is None:
            found = [rule for rule in self._rules if rule.source.fullmatch(source_category)]
            self._by_source[source_category] = found
        return found


def _read(path: Path) -> list[Rule]:
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("rule", [])
    except OSError as error:
        raise TraceFileError(f"cannot read the category rules: {error.strerror}", path=path) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TraceFileError(f"the category rules are not valid TOML: {error}", path=path) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TraceFileError("category rules are written as [[rule]] tables", path=path)
    return [_rule(row, number, path) for number, row in enumerate(rows, 1)]


def _rule(row: dict[str, Any], number: int, path: Path) -> Rule:
    category, source, name = row.get("category"), row.get("source"), row.get("name")
    unknown = row.keys() - {"source", "name", "category"}
    if unknown:
        raise TraceFileError(f"rule {number} has unknown keys: {', '.join(sorted(unknown))}", path=path)
    if category not in CATEGORIES:
        raise TraceFileError(
            f"rule {number}: category {category!r} is not one of {', '.join(sorted(CATEGORIES))}", path=path
        )
    if not isinstance(source, str) or not (name is None or isinstance(name, str)):
        raise TraceFileError(f"rule {number}: source and name must be text", path=path)
    try:
        return Rule(
            re.compile(re.escape(source).replace(r"\*", ".*"), re.DOTALL),
            None if name is None else re.compile(name, re.IGNORECASE),
            CATEGORIES.index(category),
        )
    except re.error as error:
        raise TraceFileError(f"rule {number}: name is not a regular expression: {error}", path=path) from error
