"""A bf16 weight moved by updates that are smaller than its gaps: rounded to nearest, and stochastically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor

from figures import style

POINTS = 200
"""How many points of a walk are drawn: more would weigh the page down and look no different."""
LOOKS = {
    "exact": {"color": style.INK, "ls": "--"},
    "stochastic, one weight": {"color": style.C5, "lw": 1.2},
    "stochastic, mean": {"color": style.C1},
    "to nearest": {"color": style.C2, "ls": "-."},
}


def to_bf16(x: Tensor, r: Tensor) -> Tensor:
    """Round finite float32 numbers to bf16: away from zero when the low 16 bits and r together carry, else toward it.

    ``x`` is float32 and ``r`` int32 in 0 ... 65535, of one shape. inf and nan are not for this function.
    """
    return ((x.view(torch.int32) + r) >> 16).to(torch.int16).view(torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Walks:
    """How many walks went step by step: the mean, the lowest and the highest weight, and one of them on its own."""

    mean: list[float]
    low: list[float]
    high: list[float]
    one: list[float]


def walk(update: float, steps: int, weights: int = 1000, seed: int = 0) -> Walks:
    """Add the update to that many bf16 weights of 1, each rounded stochastically with random bits of its own."""
    draw = torch.Generator().manual_seed(seed)
    state = torch.ones(weights, dtype=torch.bfloat16)
    seen = [state.double()]
    for _ in range(steps):
        r = torch.randint(0, 2**16, (weights,), generator=draw, dtype=torch.int32)
        state = to_bf16(state.float() + update, r)
        seen.append(state.double())
    table = torch.stack(seen)
    rows = (table.mean(1), table.amin(1), table.amax(1), table[:, 0])
    return Walks(*(row.tolist() for row in rows))


def draw(walks: Walks, nearest: Sequence[float], exact: Sequence[float], narrow: bool = False) -> Figure:
    """Return the walks over the steps: the exact one, the stochastic ones' mean and spread, and the nearest."""
    figure, ax = style.new(*((3.6, 4.2) if narrow else (7.2, 3.6)))
    steps = range(0, len(walks.mean), max(1, len(walks.mean) // POINTS))
    low, high, *lines = (
        [walk[s] for s in steps] for walk in (walks.low, walks.high, exact, walks.one, walks.mean, nearest)
    )
    ax.fill_between(steps, low, high, color=style.GRID, lw=0, label="lowest to highest")
    for line, (name, looks) in zip(lines, LOOKS.items(), strict=True):
        ax.plot(steps, line, label=name, **looks)
    ax.set_xlim(0, len(walks.mean) - 1)
    ax.set_xlabel("step")
    ax.set_ylabel("bf16 weight")
    if narrow:
        figure.legend(loc="outside upper center", ncols=1)
    else:
        ax.legend(loc="upper left")
    return figure
