"""The error of three runs, step by step, above the share of the output's gradients that are zero (chapter 0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from figures import style

COLORS = {"fp32": style.C1, "fp16": style.C2, "fp16 + scaler": style.C3}
MARKS = {"fp32": "-", "fp16": "-", "fp16 + scaler": (0, (5, 1.5))}


def draw(
    errors: Mapping[str, Sequence[float]], zeros: Mapping[str, Sequence[float]], floor: float, narrow: bool = False
) -> Figure:
    """Return the figure.

    Args:
        errors: for each run, the largest absolute error after each step; all above 0.
        zeros: for some runs, the share of the output's gradients that were zero in each step, 0 to 1.
        floor: the predicted error below which every gradient is zero.
        narrow: draw it for a phone.
    """
    figure, (above, below) = style.new(3.6 if narrow else 7.2, 4.6, rows=2, sharex=True, height_ratios=[2.2, 1])
    above.set_title("Largest error after each step")
    _lines(above, errors)
    above.set_yscale("log")
    style.powers(above.yaxis, 10)
    steps = max(len(line) for line in errors.values())
    above.plot([1, steps], [floor, floor], color=style.INK, linewidth=1.2, linestyle=(0, (1.5, 2)))
    above.annotate("predicted floor", (1, floor), (5, -4), textcoords="offset points", va="top", color=style.INK)
    below.set_title("Zero gradients at the output")
    _lines(below, zeros, apart=0.2)
    below.set_ylim(-0.05, 1.05)
    below.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    below.set_xlabel("step")
    below.set_xlim(1, steps * (1.52 if narrow else 1.32))
    below.set_xticks([1, *range(10, steps + 1, 10)])
    return figure


def _lines(axes: Any, runs: Mapping[str, Sequence[float]], apart: float = 0.0) -> None:
    """Draw the runs with their names at their ends; a name less than ``apart`` above another goes up."""
    for name, line in runs.items():
        axes.plot(range(1, len(line) + 1), line, color=COLORS[name], linestyle=MARKS[name])
        others = [other[-1] - line[-1] for key, other in runs.items() if key != name]
        up = any(-apart < gap <= 0 for gap in others)
        axes.annotate(
            name,
            (len(line), line[-1]),
            (6, 5 * up),
            textcoords="offset points",
            va="center",
            color=COLORS[name],
        )
