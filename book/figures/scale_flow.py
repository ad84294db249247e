"""Where the scale enters a training step and where it leaves: the data flow, with all that is scaled in one color."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from figures import style


@dataclass(frozen=True, slots=True)
class Station:
    """One thing that a step computes."""

    name: str
    """What it is, one or two lines."""
    dtype: str
    """The dtype that its values have."""
    scaled: bool
    """Whether it carries the factor S."""
    step: str = ""
    """What is done to it on the way to the next station; "" where nothing but the ordinary pass is."""


FORWARD: Final = (
    Station("weights,\ninputs", "fp32", False, "cast"),
    Station("layers’\noutputs", "fp16", False),
    Station("loss", "fp32", False, "× S"),
)
BACKWARD: Final = (
    Station("scaled loss", "fp32", True),
    Station("gradients\nbetween layers", "fp16", True),
    Station("weights’\ngradients", "fp16", True, "cast"),
    Station(".grad", "fp32", True, "÷ S"),
)
UPDATE: Final = (
    Station("true gradient", "fp32", False),
    Station("clip, optimizer,\nlearning rate", "fp32", False),
)
WIDTH, HEIGHT = 1.9, 1.0
"""The size of a box, in the units of the drawing: its columns are 2.6 apart, its rows 1.7."""


def draw(narrow: bool = False) -> Figure:
    """Return the figure: three rows, or for a phone one column, read from the top."""
    if narrow:
        stations = (*FORWARD, *BACKWARD, *UPDATE)
        places = [(0.0, -1.62 * number) for number in range(len(stations))]
        figure, axes = style.new(3.6, 8.8)
        axes.set_xlim(-2.35, 2.35)
        axes.set_ylim(places[-1][1] - 0.7, 0.7)
    else:
        rows = (FORWARD, BACKWARD, UPDATE)
        stations = tuple(station for row in rows for station in row)
        places = [(2.62 * column, -1.75 * line) for line, row in enumerate(rows) for column in range(len(row))]
        figure, axes = style.new(7.2, 3.7)
        axes.set_xlim(-1.05, 8.95)
        axes.set_ylim(-4.15, 0.65)
    axes.axis("off")
    for station, place in zip(stations, places, strict=True):
        _box(axes, station, place)
    for station, start, end in zip(stations, places, places[1:], strict=False):
        _arrow(axes, station, start, end)
    return figure


def _color(station: Station) -> str:
    return style.C2 if station.scaled else style.C1


def _box(axes: Any, station: Station, place: tuple[float, float]) -> None:
    x, y = place
    color = _color(station)
    corner = (x - WIDTH / 2, y - HEIGHT / 2)
    look = {"boxstyle": "round,pad=0,rounding_size=0.14", "edgecolor": color, "linewidth": 1.6}
    axes.add_patch(FancyBboxPatch(corner, WIDTH, HEIGHT, facecolor=color, alpha=0.14, **(look | {"linewidth": 0})))
    axes.add_patch(FancyBboxPatch(corner, WIDTH, HEIGHT, facecolor="none", **look))
    axes.text(x, y + 0.14, station.name, ha="center", va="center", fontsize=10, linespacing=1.1)
    note = f"{station.dtype}, × S" if station.scaled else station.dtype
    axes.text(x, y - 0.36, note, ha="center", va="center", fontsize=9.5, color=color, weight="bold")


def _arrow(axes: Any, station: Station, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw the way from one box to the next: sideways, straight down, or around the end of a row to the next one."""
    line: dict[str, Any] = {"arrowstyle": "-|>", "color": style.SOFT, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    text: dict[str, Any] = {"fontsize": 10.5, "ha": "center", "va": "center"}
    changes = station.step in ("× S", "÷ S")
    text |= {"color": style.C2 if changes else style.SOFT, "weight": "bold" if changes else "normal"}
    (x, y), (u, v) = start, end
    if y == v:
        axes.annotate("", (u - WIDTH / 2, v), (x + WIDTH / 2, y), arrowprops=line)
        axes.text((x + u) / 2, y + 0.22, station.step, **(text | {"fontsize": 9}))
    elif x == u:
        axes.annotate("", (u, v + HEIGHT / 2), (x, y - HEIGHT / 2), arrowprops=line)
        axes.text(x + 0.3, (y + v) / 2, station.step, **(text | {"ha": "left"}))
    else:
        middle = (y - HEIGHT / 2 + v + HEIGHT / 2) / 2
        axes.plot([x, x, u], [y - HEIGHT / 2, middle, middle], color=style.SOFT, lw=1.4)
        axes.annotate("", (u, v + HEIGHT / 2), (u, middle), arrowprops=line)
        axes.text(x + 0.2, (y - HEIGHT / 2 + middle) / 2 - 0.02, station.step, **(text | {"ha": "left"}))
