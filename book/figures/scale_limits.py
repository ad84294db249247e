"""The two ends of the scale: PyTorch keeps it in float32, a Python simulation in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from figures import style


def draw(
    up: tuple[Sequence[float], Sequence[float]], down: tuple[Sequence[float], Sequence[float]], narrow: bool = False
) -> Figure:
    """Return two panels, growing at every step and backing off at every step: (PyTorch's scales, Python's scales)."""
    size = {"width": 3.6, "height": 4.6, "rows": 2} if narrow else {"width": 7.2, "height": 3.0, "cols": 2}
    figure, axes = style.new(**size)
    titles = ("growing at every step", "backing off at every step")
    for ax, (torchs, pythons), title in zip(axes, (up, down), titles, strict=True):
        for scales, color, line, name in ((pythons, style.C2, "--", "Python"), (torchs, style.C1, "-", "PyTorch")):
            alive = [math.log2(scale) for scale in scales if 0 < scale < math.inf]
            ax.plot(alive, color=color, ls=line, label=name)
            if len(alive) < len(scales):
                ax.plot(len(alive) - 1, alive[-1], "X", color=color, ms=9)
        ax.set_title(title)
        ax.set_xlabel("step")
    axes[0].set_yticks((16, 64, 127, 192), [style.power(2, tick) for tick in (16, 64, 127, 192)])
    axes[1].set_yticks((16, -50, -100, -149, -200), [style.power(2, tick) for tick in (16, -50, -100, -149, -200)])
    axes[0].set_ylabel("scale")
    if narrow:
        axes[1].set_ylabel("scale")
    axes[0].legend(loc="upper left")
    return figure
