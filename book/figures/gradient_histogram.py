"""Gradients by size, a row a layer: one bin a power of two, and a bin of their own for the zeros (chapter 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from figures import style

FIRST, LAST = -60, 20
"""The exponents between which there are bins; what is smaller or larger goes into the bin at that end."""
LOST, NORMAL, INFINITE = -25, -14, 16
"""fp16 stores zero below 2**LOST, subnormal numbers from there to 2**NORMAL, nothing finite from 2**INFINITE on."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the elements of one tensor are; shares are of all its elements and add up to 1."""

    zero: float
    """Share that is exactly zero."""
    bins: tuple[float, ...]
    """Share with a size from 2**e up to 2**(e + 1), for e from FIRST to LAST - 1."""

    def below(self, exponent: int) -> float:
        """Return the share that is not zero and smaller than 2**exponent."""
        return math.fsum(self.bins[: max(exponent - FIRST, 0)])


def sizes(gradient: Tensor, scale: float = 1.0) -> Sizes:
    """Return how large the elements of a finite gradient with elements are, times scale, a power of two."""
    size = gradient.detach().double().abs().flatten() * scale
    kept = size[size > 0]
    # frexp writes a number as m * 2**e with 0.5 <= m < 1, so e - 1 is floor(log2), exactly; log2 itself would round.
    exponents = (torch.frexp(kept).exponent - 1).clamp(FIRST, LAST - 1)
    counts = torch.bincount(exponents.long() - FIRST, minlength=LAST - FIRST)
    return Sizes(1 - kept.numel() / size.numel(), tuple((counts / size.numel()).tolist()))


def draw(
    layers: Mapping[str, Sizes], before: Mapping[str, Sizes] | None = None, scale: float = 1.0, narrow: bool = False
) -> Figure:
    """Return the figure.

    Args:
        layers: the sizes of each layer's gradients, in the order of the rows.
        before: the same before scaling, drawn as outlines behind; each row then also gets a line under it, from its
            smallest to its largest, as most of its outer bins are too low to be seen.
        scale: what the gradients of ``layers`` were multiplied by, for the axis.
        narrow: draw it for a phone.
    """
    wide = not narrow
    grid = {"width_ratios": [1, 9 if wide else 4.2]}
    figure, rows = style.new(
        3.6 if narrow else 7.2, 0.9 + 0.78 * len(layers), rows=len(layers), cols=2, sharex="col", gridspec_kw=grid
    )
    highest = max(max(row.bins) for group in (layers, before or {}) for row in group.values())
    top = 1.25 * highest or 1.0
    for (name, row), (zeros, bins) in zip(layers.items(), rows, strict=True):
        _zeros(zeros, row, name)
        _bins(bins, row, (before or {}).get(name), top)
    _regions(rows[0, 1], top, wide)
    rows[-1, 1].set_xlabel(
        "size of the gradient" + (f" × {style.power(2, round(math.log2(scale)))}" if scale != 1 else "")
    )
    rows[-1, 0].set_xticks([0], ["zero"])
    exponents = [-60, -50, -40, LOST, NORMAL, 0, INFINITE] if wide else [-50, LOST, NORMAL, INFINITE]
    rows[-1, 1].set_xticks(exponents, [style.power(2, exponent) for exponent in exponents])
    return figure


def _zeros(axes: Any, row: Sizes, name: str) -> None:
    lost = row.below(LOST)
    axes.bar([0], [row.zero], width=0.9, color=style.SOFT, linewidth=0)
    axes.bar([0], [lost], bottom=[row.zero], width=0.9, color=style.C2, linewidth=0)
    axes.set_ylim(0, 1)
    axes.set_xlim(-0.7, 0.7)
    axes.set_yticks([0.5], [name])
    axes.tick_params(axis="both", length=0)
    axes.tick_params(axis="y", labelcolor=style.INK)
    axes.grid(False)


def _bins(axes: Any, row: Sizes, before: Sizes | None, top: float) -> None:
    places = [exponent + 0.5 for exponent in range(FIRST, LAST)]
    colors = [_color(exponent) for exponent in range(FIRST, LAST)]
    kept = [(place, share, color) for place, share, color in zip(places, row.bins, colors, strict=True) if share > 0]
    if kept:
        at, shares, fills = zip(*kept, strict=True)
        axes.bar(at, shares, width=1, color=fills)
    if before is not None:
        axes.stairs(before.bins, range(FIRST, LAST + 1), color=style.SOFT, linewidth=1)
        for start, stop in _spans(row):
            at = -0.055 * top
            color = _color(start)
            axes.plot([start, stop], [at, at], color=color, linewidth=2, clip_on=False, solid_capstyle="butt")
    for edge in (LOST, NORMAL, INFINITE):
        axes.axvline(edge, color=style.SOFT, linewidth=0.8, linestyle=(0, (1.5, 2)))
    axes.set_ylim(0, top)
    axes.set_xlim(FIRST, LAST)
    axes.set_yticks([])
    axes.grid(False)


def _spans(row: Sizes) -> list[tuple[int, int]]:
    """Return where the line from the first bin with an element to the last starts and ends, zone by zone."""
    filled = [exponent for exponent, share in enumerate(row.bins, FIRST) if share]
    if not filled:
        return []
    first, last = filled[0], filled[-1] + 1
    cuts = [first, *(edge for edge in (LOST, NORMAL, INFINITE) if first < edge < last), last]
    return list(pairwise(cuts))


def _color(exponent: int) -> str:
    if exponent < LOST:
        return style.C2
    return style.C5 if exponent < NORMAL else style.C1 if exponent < INFINITE else style.C4


def _regions(axes: Any, top: float, wide: bool) -> None:
    names = [
        ("lost", -40, style.C2),
        ("subnormal" if wide else "sub-\nnormal", (LOST + NORMAL) / 2, style.C5),
        ("normal", (NORMAL + INFINITE) / 2, style.C1),
    ]
    for name, place, color in names:
        axes.annotate(
            name,
            (place, top),
            (0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=color,
            weight="bold",
            annotation_clip=False,
        )
