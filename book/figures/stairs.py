"""How fp16 rounds next to zero: the stairs, and the relative error that they make (chapter 2)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from figures import style

STEP = 2.0**-24
"""The smallest positive fp16 number, and the distance between neighbors below 2**-13."""


def error(numbers: Tensor) -> Tensor:
    """Return the relative error that rounding to fp16 makes in each of some positive float64 numbers."""
    # By way of fp32, as every gradient comes; 24 bits are enough for the numbers tried here to pass unchanged.
    return (numbers.float().half().double() - numbers).abs() / numbers


def envelope(first: int, last: int, points: int = 4096) -> tuple[list[int], list[float]]:
    """Return the powers of two from first to last and the largest relative error from each to the next."""
    exponents = list(range(first, last + 1))
    between = 1 + torch.arange(points, dtype=torch.float64) / points
    return exponents, [error(2.0**exponent * between).max().item() for exponent in exponents]


def draw(marked: dict[str, float], narrow: bool = False) -> Figure:
    """Return the figure: the stairs with some numbers marked on them, and the largest relative error by size."""
    wide = not narrow
    shape: dict[str, Any] = {"cols": 2} if wide else {"rows": 2}
    figure, (stairs, errors) = style.new(3.6 if narrow else 7.2, 3.5 if wide else 6.4, **shape)
    _stairs(stairs, marked)
    _errors(errors)
    return figure


def _stairs(axes: Any, marked: dict[str, float]) -> None:
    axes.set_title("What is stored")
    ends = [0.0, 0.5, 1.5, 2.5, 3.5]
    for level, (start, end) in enumerate(pairwise(ends)):
        axes.plot([start, end], [level, level], color=style.C1, linewidth=3, solid_capstyle="butt")
    axes.plot([0, 3.5], [0, 3.5], color=style.SOFT, linewidth=1, linestyle=(0, (1.5, 2)))
    ties = torch.tensor(ends[1:4], dtype=torch.float64) * STEP
    stored = ties.float().half().double() / STEP
    axes.plot(ends[1:4], stored.tolist(), "o", color=style.C1, markersize=6)
    other = [2 * tie - kept for tie, kept in zip(ends[1:4], stored.tolist(), strict=True)]
    # Large rings, above all else: the mark of 3e-8, a hair above 2**-25, stands inside one of them.
    axes.plot(ends[1:4], other, "o", color=style.C1, markersize=11, fillstyle="none", zorder=5)
    for name, number in marked.items():
        kept = torch.tensor(number).half().item() / STEP
        axes.plot([number / STEP], [kept], "D", color=style.C2, markersize=5)
        axes.annotate(name, (number / STEP, kept), (3, 7), textcoords="offset points", color=style.C2)
    axes.set_xticks([0, 0.5, 1, 2, 3], ["0", style.power(2, -25), style.power(2, -24), "2·2⁻²⁴", "3·2⁻²⁴"])
    axes.set_yticks([0, 1, 2, 3], ["0", style.power(2, -24), "2·2⁻²⁴", "3·2⁻²⁴"])
    axes.set_xlabel("gradient")
    axes.set_ylim(-0.25, 3.6)


def _errors(axes: Any) -> None:
    axes.set_title("Largest relative error")
    exponents, errors = envelope(-30, -9)
    for exponent, worst in zip(exponents, errors, strict=True):
        color = style.C2 if exponent < -25 else style.C5 if exponent < -14 else style.C1
        axes.bar(exponent + 0.5, worst, bottom=1e-5, width=0.86, color=color, linewidth=0)
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 30)
    axes.set_yticks([1e-4, 1e-3, 1e-2, 1e-1, 1], ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"])
    axes.set_xticks([-30, -25, -20, -14, -9], [style.power(2, e) for e in (-30, -25, -20, -14, -9)])
    axes.set_xlabel("gradient")
    for x, name, color in ((-27.5, "lost", style.C2), (-19.5, "subnormal", style.C5), (-11, "normal", style.C1)):
        axes.annotate(
            name,
            (x, 1.0),
            (0, 16),
            textcoords="offset points",
            ha="center",
            color=color,
            weight="bold",
        )
