"""The sum of many ones, added one after the other in a 16-bit format, and as PyTorch's ``sum`` gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure

from figures import style

LINES = ((style.C2, "--"), (style.C4, "-."))


def loop(count: int, dtype: torch.dtype, addend: float = 1.0) -> list[float]:
    """Return the partial sums 0 to count of a loop that adds in that dtype and rounds after each addition."""
    total, one = torch.zeros((), dtype=dtype), torch.tensor(addend, dtype=dtype)
    sums = [total.item()]
    for _ in range(count):
        total = total + one
        sums.append(total.item())
    return sums


def draw(loops: Mapping[str, Sequence[float]], by_sum: Mapping[int, float], narrow: bool = False) -> Figure:
    """Return the partial sums over the number of addends: a line for each loop, a point for each call of ``sum``.

    Args:
        loops: the partial sums by the name of their line.
        by_sum: what ``sum`` gave for so many ones.
        narrow: for phones.
    """
    figure, ax = style.new(*((3.6, 3.8) if narrow else (7.2, 3.4)))
    last = max(by_sum)
    ax.plot([0, last], [0, last], color=style.GRID, lw=4)
    for (name, sums), (color, line) in zip(loops.items(), LINES, strict=True):
        ax.plot(sums, color=color, ls=line, label=name)
        ax.annotate(f"{sums[-1]:,.0f}", (last, sums[-1]), (-2, 6), textcoords="offset points", ha="right", color=color)
    ax.plot(list(by_sum), list(by_sum.values()), "o", color=style.C1, ms=6, label="fp16, .sum()")
    ax.set_xlim(0, last * 1.02)
    ax.set_xlabel("how many ones")
    ax.set_ylabel("their sum")
    ax.legend(loc="upper left")
    return figure
