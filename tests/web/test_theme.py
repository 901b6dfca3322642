"""The colours: complete, readable, and told apart by colour-blind eyes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from explorer_app.web import theme
from trace_format import CATEGORIES

READABLE = 4.5  # WCAG 2.2, 1.4.3
# CIELAB distance; about 2 is the least that eyes notice side by side, 10 is told apart at a glance
APART = 13.0

# Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(color: str) -> np.ndarray:
    values = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", range(2), ids=theme.SCHEMES)
def test_a_label_reads_on_every_category(scheme: int) -> None:
    ink = theme.SURFACES["on-cat"][scheme]
    low = {c: round(contrast(pair[scheme], ink), 2) for c, pair in theme.CATEGORY_COLORS.items()}
    assert {c: value for c, value in low.items() if value < READABLE} == {}


@pytest.mark.parametrize("scheme", range(2), ids=theme.SCHEMES)
def test_text_reads_on_every_surface(scheme: int) -> None:
    for text, surface in itertools.product(
        ("text", "dim", "accent"), ("bg", "panel", "hover", "select", "warn-bg", "error-bg")
    ):
        found = contrast(theme.SURFACES[text][scheme], theme.SURFACES[surface][scheme])
        assert found >= READABLE, (text, surface, round(found, 2))


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("scheme", range(2), ids=theme.SCHEMES)
def test_groups_of_categories_are_told_apart_by_colour_blind_eyes(scheme: int, vision: str) -> None:
    seen = {
        group: lab(np.array(VISIONS[vision]) @ linear(theme.CATEGORY_COLORS[members[0]][scheme]))
        for group, members in theme.GROUPS.items()
    }
    for one, other in itertools.combinations(seen, 2):
        distance = float(np.linalg.norm(seen[one] - seen[other]))
        assert distance >= APART, (one, other, round(distance, 1))


@pytest.mark.parametrize("scheme", range(2), ids=theme.SCHEMES)
def test_marks_stand_out_and_a_note_reads_on_its_flag(scheme: int) -> None:
    panel = theme.SURFACES["panel"][scheme]
    assert contrast(theme.SURFACES["note"][scheme], panel) >= READABLE
    assert contrast(theme.SURFACES["found"][scheme], panel) >= 3  # WCAG 2.2, 1.4.11


@pytest.mark.parametrize("palette", ["HUES", "SHARES"])
@pytest.mark.parametrize("scheme", range(2), ids=theme.SCHEMES)
def test_the_colours_of_names_and_of_shares_are_even_and_a_label_reads_on_each(scheme: int, palette: str) -> None:
    colors = [pair[scheme] for pair in getattr(theme, palette)]
    ink = theme.SURFACES["on-cat"][scheme]
    assert min(contrast(color, ink) for color in colors) >= READABLE
    seen = [lab(linear(color)) for color in colors]
    apart = [float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen, 2)]
    steps = [float(np.linalg.norm(one - other)) for one, other in itertools.pairwise(seen)]
    assert min(apart) >= APART
    assert max(steps) <= 2 * min(steps)


def test_every_category_belongs_to_one_group_and_has_a_colour() -> None:
    members = [category for group in theme.GROUPS.values() for category in group]
    assert sorted(members) == sorted(CATEGORIES)
    assert sorted(theme.CATEGORY_COLORS) == sorted(CATEGORIES)


def test_the_style_sheet_defines_each_property_for_both_schemes() -> None:
    rules = {
        selector.strip(): set(re.findall(r"(--np-[\w-]+):#[0-9a-f]{6}", body))
        for selector, body in re.findall(r"(:root[^{]*)\{([^}]*)\}", theme.css())
    }
    wanted = {f"--np-{name}" for name in theme.SURFACES} | {f"--np-cat-{name}" for name in CATEGORIES}
    wanted |= {f"--np-hue-{number}" for number in range(16)} | {f"--np-share-{number}" for number in range(6)}
    assert rules[":root"] == wanted
    assert rules[":root[data-mantine-color-scheme=dark]"] == wanted
