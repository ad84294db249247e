"""The scale of a training run, step by step, with a mark at each step that was skipped."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from figures import style


def draw(scales: Sequence[float], skipped: Sequence[int], narrow: bool = False, height: float = 2.7) -> Figure:
    """Return the scales, which are powers of two, as a staircase; a skipped step's mark is at the scale it used."""
    figure, ax = style.new(3.6 if narrow else 7.2, height)
    staircase(ax, scales, skipped, narrow)
    ax.set_xlabel("step")
    figure.legend(loc="outside upper right", ncols=2)
    return figure


def staircase(ax, scales: Sequence[float], skipped: Sequence[int], narrow: bool = False) -> None:
    """Draw the scales and the marks into axes whose vertical axis counts powers of two."""
    exponents = [math.log2(scale) for scale in scales]
    ax.step(range(len(exponents)), exponents, where="mid", color=style.C1, lw=1.8, label="scale")
    size = 6 if len(exponents) <= 100 and not narrow else 4
    ax.plot(list(skipped), [exponents[i] for i in skipped], "x", color=style.C2, ms=size, mew=1.8, label="skipped step")
    low, high = math.floor(min(exponents)), math.ceil(max(exponents))
    ticks = range(low, high + 1, max(1, (high - low) // 5))
    ax.set_yticks(ticks, [style.power(2, tick) for tick in ticks])
    ax.set_ylim(low - 0.6, high + 0.6)
    ax.set_xlim(-0.5, len(exponents) - 0.5)
    ax.set_ylabel("scale")
