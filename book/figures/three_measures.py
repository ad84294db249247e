"""Three answers to "how much did fp16 lose?", a row a layer (chapter 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.figure import Figure

from figures import style

MARKS: Final = {
    "lost count": ("o", style.C1),
    "lost mass": ("s", style.C4),
    "error of the weights’ gradient": ("D", style.C2),
    "that error, scaled": ("^", style.C3),
}


def draw(layers: Sequence[str], measures: Mapping[str, Sequence[float]], narrow: bool = False) -> Figure:
    """Return the figure.

    Args:
        layers: the rows' names, from the top.
        measures: for each name in MARKS a share for each layer; what is zero is not drawn.
        narrow: draw it for a phone.
    """
    wide = not narrow
    figure, axes = style.new(3.6 if narrow else 7.2, (1.5 if wide else 2.3) + 0.42 * len(layers))
    for name, shares in measures.items():
        mark, color = MARKS[name]
        kept = [(share, row) for row, share in enumerate(shares) if share > 0]
        axes.plot(*zip(*kept, strict=True), mark, color=color, markersize=8, label=name)
    axes.set_xscale("log")
    ticks = [1e-4, 1e-3, 1e-2, 1e-1, 1] if wide else [1e-3, 1e-1, 1]
    axes.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(layers)), layers)
    axes.set_ylim(len(layers) - 0.5, -0.5)
    axes.tick_params(axis="y", labelcolor=style.INK, length=0)
    figure.legend(loc="outside upper left", ncols=2 if wide else 1, handletextpad=0.2)
    return figure
