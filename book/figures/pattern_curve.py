"""All non-negative patterns of fp16 in their order, and the numbers that they stand for (chapter 1)."""

from __future__ import annotations

from typing import Final

from matplotlib.figure import Figure

from figures import style
from figures.bits import FORMATS, decode

HALF: Final = FORMATS["float16"]


def curve(step: int = 32) -> tuple[list[int], list[float]]:
    """Return patterns from 1 to the largest number's and what they stand for; every pattern below 64."""
    patterns = [*range(1, 64), *range(64, HALF.largest, step), HALF.largest]
    return patterns, [decode(pattern, HALF) for pattern in patterns]


def draw(narrow: bool = False) -> Figure:
    """Return the figure: the number over its pattern, on a logarithmic axis, with the zones below."""
    figure, axes = style.new(3.6 if narrow else 7.2, 3.3)
    patterns, numbers = curve()
    small = sum(pattern <= 0x400 for pattern in patterns)
    axes.plot(patterns[:small], numbers[:small], color=style.C5, linewidth=2.6)
    axes.plot(patterns[small - 1 :], numbers[small - 1 :], color=style.C1)
    axes.axvspan(HALF.infinity, 0x8000, color=style.C2, linewidth=0)
    axes.set_yscale("log", base=2)
    axes.set_xlim(-500, 0x8000 + 300)
    heights = [-24, -14, -7, 0, 7, 15]
    axes.set_yticks([2.0**e for e in heights], [style.power(2, e) for e in heights])
    axes.minorticks_off()
    axes.set_xticks([0, 0x3C00, 0x7C00] if narrow else [0x400, 0x3C00, 0x7C00])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("pattern, read as a whole number")
    axes.set_ylabel("the number that it is")
    at = (0x400, 2.0**-19)
    axes.annotate("subnormal", at, (6, 0), textcoords="offset points", va="center", color=style.C5, weight="bold")
    axes.annotate("normal", (0x3C00, 1.0), (8, -14), textcoords="offset points", color=style.C1, weight="bold")
    axes.annotate("1", (0x3C00, 1.0), (-12, 3), textcoords="offset points", color=style.INK)
    axes.plot([0x3C00], [1.0], "o", color=style.INK, markersize=5)
    axes.annotate(
        "inf, then nan",
        (HALF.infinity, 2.0**-20),
        (-5, 0),
        textcoords="offset points",
        ha="right",
        color=style.C2,
        weight="bold",
    )
    return figure
