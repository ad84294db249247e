"""Where a backward pass overflowed: for each parameter the share of its gradient that is finite, inf and nan."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from figures import style

KINDS = (("finite", style.GRID, ""), ("inf", style.C2, ""), ("nan", style.C4, "////"))
Gradients = Mapping[str, Tensor]


def shares(gradient: Tensor) -> tuple[float, float, float]:
    """Return the shares of elements that are finite, inf (of either sign) and nan; they add up to 1."""
    count = gradient.numel()
    infs, nans = int(gradient.isinf().sum()), int(gradient.isnan().sum())
    return (count - infs - nans) / count, infs / count, nans / count


def draw(by_scale: Mapping[float, Gradients], narrow: bool = False) -> Figure:
    """Return one panel a scale, a power of two, and in it one bar a parameter, from input (top) to output (bottom)."""
    columns = 2 if narrow else len(by_scale)
    rows = math.ceil(len(by_scale) / columns)
    size = (3.6, 2.8 * rows) if narrow else (7.2, 3.4)
    figure, axes = style.new(*size, rows=rows, cols=columns, sharex=True, sharey=True, squeeze=False)
    for ax, (scale, gradients) in zip(axes.flat, by_scale.items(), strict=True):
        panel(ax, gradients)
        bad = sum(int((~gradient.isfinite()).sum()) for gradient in gradients.values())
        ax.set_title(f"{style.power(2, round(math.log2(scale)))}: {bad:,} bad", fontsize=10.5)
    for ax in axes[-1]:
        ax.set_xticks([0, 0.5, 1], ["0", "½", "all"])
        ax.set_xlabel("share of elements")
    legend = [axes.flat[0].patches[index * len(gradients)] for index in range(len(KINDS))]
    figure.legend(legend, [kind[0] for kind in KINDS], loc="outside upper center", ncols=len(KINDS))
    return figure


def panel(ax, gradients: Gradients) -> None:
    """Draw the stacked bars of one backward pass."""
    parts = np.array([shares(gradient) for gradient in gradients.values()])
    left = np.zeros(len(parts))
    for (_, color, hatch), widths in zip(KINDS, parts.T, strict=True):
        ax.barh(list(gradients), widths, left=left, height=0.8, color=color, hatch=hatch, edgecolor=style.PAPER)
        left += widths
    ax.set_ylim(len(parts) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)
