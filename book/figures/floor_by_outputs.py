"""Where training stops against the number of outputs: the predicted floor and what was measured (chapter 0)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from figures import style

MARKS = {"fp16": ("o", style.C2), "fp16 + scaler": ("s", style.C3), "fp32": ("D", style.C1)}


def draw(
    outputs: Sequence[int], floors: Sequence[float], reached: Mapping[str, Sequence[float]], narrow: bool = False
) -> Figure:
    """Return the figure.

    Args:
        outputs: numbers of outputs, powers of two, rising.
        floors: the predicted floor for each of them.
        reached: for each run, the largest error at its end, one for each number of outputs.
        narrow: draw it for a phone.
    """
    figure, axes = style.new(3.6 if narrow else 7.2, 3.5)
    axes.set_title("Largest error at the end")
    axes.plot(outputs, floors, color=style.INK, linewidth=1.2, linestyle=(0, (1.5, 2)))
    for name, errors in reached.items():
        mark, color = MARKS[name]
        axes.plot(outputs, errors, mark, color=color, markersize=7)
        axes.annotate(name, (outputs[-1], errors[-1]), (9, 0), textcoords="offset points", va="center", color=color)
    axes.annotate("predicted floor", (outputs[-2], floors[-2]), (6, -14), textcoords="offset points", color=style.INK)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    style.powers(axes.yaxis, 10)
    axes.set_xlim(outputs[0] / 1.5, outputs[-1] * (outputs[-1] / outputs[0]) ** (0.6 if narrow else 0.3))
    axes.set_xticks(outputs, [style.power(2, round(math.log2(n))) for n in outputs])
    axes.minorticks_off()
    axes.set_xlabel("outputs in the mean")
    return figure
