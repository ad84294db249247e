"""Which numbers each of four fp16 neighbors takes, and where the halves between them go (chapter 1)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from figures import style
from figures.bits import FORMATS, decode, encode

HALF = FORMATS["float16"]


def neighbors(first: float, count: int) -> list[tuple[float, int]]:
    """Return so many fp16 numbers from first on, each with its pattern."""
    start = encode(first, HALF)
    return [(decode(pattern, HALF), pattern) for pattern in range(start, start + count)]


def draw(first: float, count: int = 4, narrow: bool = False) -> Figure:
    """Return the figure: each number's stretch in its color, ties as arrows, the last bits beneath."""
    figure, axes = style.new(3.6 if narrow else 7.2, 1.8)
    numbers = neighbors(first, count)
    middles = [(left + right) / 2 for (left, _), (right, _) in pairwise(numbers)]
    step = numbers[1][0] - numbers[0][0]
    # The gap below the first number may be smaller than those above it: 2,048 has 2,047 as its neighbor.
    before = numbers[0][0] - decode(numbers[0][1] - 1, HALF) if numbers[0][1] else step
    starts = [numbers[0][0] - 0.45 * before, *middles]
    ends = [*middles, numbers[-1][0] + 0.45 * step]
    for (number, pattern), start, end in zip(numbers, starts, ends, strict=True):
        color = style.C2 if pattern & 1 else style.C1
        axes.plot([start, end], [0, 0], color=color, linewidth=9, solid_capstyle="butt")
        axes.plot([number], [0], "o", color=style.PAPER, markersize=6)
        axes.annotate(f"{number:g}", (number, 0), (0, -22), textcoords="offset points", ha="center", weight="bold")
        last = f"…{pattern & 0b111:03b}"
        said = ("odd" if pattern & 1 else "even") if narrow else f"{last}, {'odd' if pattern & 1 else 'even'}"
        axes.annotate(said, (number, 0), (0, -37), textcoords="offset points", ha="center", color=color, size=9.5)
    for middle in middles:
        _tie(axes, middle, decode(encode(middle, HALF), HALF))
    axes.set_xlim(starts[0], ends[-1])
    axes.set_ylim(-0.9, 0.95)
    axes.set_axis_off()
    return figure


def _tie(axes: Any, middle: float, stored: float) -> None:
    axes.annotate(
        "",
        xy=(stored, 0.14),
        xytext=(middle, 0.5),
        arrowprops={
            "arrowstyle": "->",
            "color": style.INK,
            "linewidth": 1.4,
            "connectionstyle": f"arc3,rad={0.35 if stored < middle else -0.35}",
        },
    )
    axes.plot([middle, middle], [-0.22, 0.5], color=style.INK, linewidth=1.2)
    axes.annotate(f"{middle:g}", (middle, 0.5), (0, 9), textcoords="offset points", ha="center")
