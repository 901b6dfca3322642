"""Every colour of the explorer, once; CSS, the timeline's canvas and the charts all take them from here.

Each colour is a CSS custom property (`--np-…`) with a value for the light and one for the dark scheme.
Charts name the property (`var(--np-accent)`) and the browser puts the value in, so that switching the
scheme needs no server.
"""

from __future__ import annotations

from typing import Final

from trace_format import CATEGORIES

FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif'
MONO: Final = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace'

SCHEMES: Final = ("light", "dark")

# The page itself: (light, dark). Text and dim text reach 4.5:1 on bg and on panel in both schemes.
SURFACES: Final[dict[str, tuple[str, str]]] = {
    "bg": ("#f4f5f7", "#0f1115"),
    "panel": ("#ffffff", "#16181d"),
    "line": ("#dfe3e8", "#2a2f38"),
    "grid": ("#edeff2", "#22262e"),
    "text": ("#14171c", "#e6e8ec"),
    "dim": ("#59626f", "#9aa3b1"),
    "accent": ("#2b59c3", "#82a6ff"),
    "hover": ("#f1f4f9", "#1d2129"),
    "select": ("#e3ebfb", "#22304f"),
    "warn": ("#8a5a00", "#f0b75a"),
    "warn-bg": ("#fdf5e3", "#2a2213"),
    "error": ("#b3261e", "#ff8f85"),
    "error-bg": ("#fcebea", "#2f1716"),
    "on-cat": ("#14171c", "#0d0f12"),
    "note": ("#7a3db8", "#c79bff"),
    "found": ("#c2187a", "#ff7ac6"),  # what is looked for; no category is near it
}

# What a category of work belongs to. The first category of a group is the group's own colour.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "compute": ("compute",),
    "collective": ("collective",),
    "copy": ("memcpy", "dma"),
    "memory": ("memset",),
    "host": ("host_op", "python", "runtime", "annotation"),
    "compile": ("compile",),
    "idle": ("other", "sync", "semaphore", "overhead"),
}

# Starts from Okabe and Ito's palette (https://jfly.uni-koeln.de/color/), lightened until a dark label reads at
# 4.5:1 on every fill, and kept apart for protan-, deuter- and tritanopia (tests/web/test_theme.py simulates them).
# Categories of one group are shades of its hue: they need not be told apart by colour alone.
CATEGORY_COLORS: Final[dict[str, tuple[str, str]]] = {
    "compute": ("#4f86ec", "#6496f5"),
    "collective": ("#e5642b", "#f0733a"),
    "memcpy": ("#e8bc2c", "#f2cb52"),
    "dma": ("#f0a63c", "#f5b65c"),
    "memset": ("#6accef", "#93dff5"),
    "host_op": ("#2fa873", "#3dbb84"),
    "python": ("#8cc56a", "#97cf76"),
    "runtime": ("#1f9188", "#2aa89d"),
    "annotation": ("#9ccfb4", "#a8d8be"),
    "compile": ("#bd65b4", "#cc77c4"),
    "other": ("#b4bac4", "#9aa2ae"),
    "sync": ("#9aa1ad", "#868e9b"),
    "semaphore": ("#c3c8d0", "#b0b7c2"),
    "overhead": ("#aba49b", "#948f88"),
}

# For what has no colour of its own: names and modules, which get one of these by a hash. Sixteen hues 22.5 degrees
# apart in OKLCH (https://bottosson.github.io/posts/oklab/), lightness in turn 0.69 and 0.80 (dark 0.70 and 0.82), so
# that neighbours are evenly far apart and a dark label reads on each (tests/web/test_theme.py).
HUES: Final[tuple[tuple[str, str], ...]] = (
    ("#dc788a", "#e07c8d"), ("#ffa28e", "#feac9a"), ("#d68549", "#d9884d"), ("#eab359", "#f1b95f"),
    ("#ae9d32", "#b1a035"), ("#afcb6c", "#b6d173"), ("#66b069", "#69b36c"), ("#5fd7ae", "#66deb4"),
    ("#01b2ac", "#10b6af"), ("#3fd2ed", "#48d9f4"), ("#3aa7dd", "#3eaae1"), ("#94c0ff", "#a0c6fe"),
    ("#8d92e7", "#9095ea"), ("#cdabfe", "#d2b3ff"), ("#c27fc6", "#c582c9"), ("#f99ccd", "#ffa3d3"),
)  # fmt: skip
# For shares, from little to much: steps of OKLCH lightness, evenly far apart, towards what stands out in the scheme.
SHARES: Final[tuple[tuple[str, str], ...]] = (
    ("#fcea7f", "#5a7dce"), ("#b8e688", "#259ed6"), ("#6bdba4", "#09bac9"),
    ("#00c7c7", "#4cd2ab"), ("#05abd7", "#a5de86"), ("#508cd8", "#f2e075"),
)  # fmt: skip


def category_color(category: str) -> str:
    """The colour of a category as a CSS value, for style attributes and for charts."""
    return f"var(--np-cat-{category})"


def css() -> str:
    """The style sheet that defines the custom properties of both schemes.

    Before the application has chosen a scheme (no attribute on the root element) the system's choice holds.
    """
    light, dark = (_properties(i) for i in range(len(SCHEMES)))
    return (
        f":root{{--np-font:{FONT};--np-mono:{MONO};color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-mantine-color-scheme]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-mantine-color-scheme=dark]{{color-scheme:dark;{dark}}}\n"
    )


def static_css() -> str:
    """The same for a page without the application: the system's choice on a screen, light on paper."""
    light, dark = (_properties(i) for i in range(len(SCHEMES)))
    return (
        f":root{{--np-font:{FONT};--np-mono:{MONO};color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}\n"
    )


def _properties(scheme: int) -> str:
    values = {f"--np-{name}": pair[scheme] for name, pair in SURFACES.items()}
    values |= {f"--np-cat-{name}": CATEGORY_COLORS[name][scheme] for name in CATEGORIES}
    values |= {f"--np-hue-{number}": pair[scheme] for number, pair in enumerate(HUES)}
    values |= {f"--np-share-{number}": pair[scheme] for number, pair in enumerate(SHARES)}
    return ";".join(f"{name}:{value}" for name, value in values.items())


def chart_layout() -> dict[str, object]:
    """The part of a plotly layout that is the same for every chart; colours are named, not spelled out."""
    axis = {
        "gridcolor": "var(--np-grid)", "linecolor": "var(--np-line)", "zerolinecolor": "var(--np-line)",
        "tickfont": {"color": "var(--np-dim)", "size": 11}, "title": {"font": {"color": "var(--np-dim)", "size": 11}},
        "automargin": True,
    }  # fmt: skip
    return {
        "font": {"family": FONT, "size": 12, "color": "var(--np-text)"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": [category_color(members[0]) for members in GROUPS.values()],
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "xaxis": {**axis, "zeroline": False},
        "yaxis": axis,
        "hoverlabel": {
            "bgcolor": "var(--np-panel)",
            "bordercolor": "var(--np-line)",
            "font": {"color": "var(--np-text)", "family": FONT, "size": 12},
            "align": "left",
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}},
        "transition": {"duration": 0},
    }
