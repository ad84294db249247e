"""A weight that is moved by the same small update at every step: in 16 bits alone, and with an fp32 master copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure

from figures import style

Walk = Sequence[float]
POINTS = 200
"""How many points of a walk are drawn: more would weigh the page down and look no different."""


def alone(update: float, steps: int, start: float = 1.0, dtype: torch.dtype = torch.float16) -> list[float]:
    """Return the weight before each of the steps and after the last, rounded to that dtype after every update."""
    weight = torch.tensor(start).to(dtype)
    walk = [weight.item()]
    for _ in range(steps):
        weight = (weight.float() + update).to(dtype)  # one rounding: the sum itself is made in fp32
        walk.append(weight.item())
    return walk


def with_master(update: float, steps: int, start: float = 1.0, dtype: torch.dtype = torch.float16) -> list[float]:
    """Return the 16-bit copy of a weight that is summed in fp32: before each of the steps, and after the last."""
    master = torch.tensor(start)
    walk = [master.to(dtype).item()]
    for _ in range(steps):
        master = master + update
        walk.append(master.to(dtype).item())
    return walk


def draw(walks: Mapping[float, tuple[Walk, Walk]], narrow: bool = False) -> Figure:
    """Return one panel for each update: the weight alone, and the 16-bit copy of a master weight, over the steps."""
    size = {"width": 3.6, "height": 5.0, "rows": 2} if narrow else {"width": 7.2, "height": 3.0, "cols": 2}
    figure, axes = style.new(**size, sharex=narrow)
    for ax, (update, (lone, copy)) in zip(axes, walks.items(), strict=True):
        steps = range(0, len(copy), max(1, len(copy) // POINTS))
        ax.plot(steps, [copy[step] for step in steps], color=style.C1, label="with an fp32 master")
        ax.plot(steps, [lone[step] for step in steps], color=style.C2, ls="--", label="fp16 alone")
        ax.set_title(f"{'+' if update > 0 else '−'}{abs(update):g} a step")
        ax.set_xlim(0, len(copy) - 1)
        ax.set_ylabel("weight")
    for ax in axes[1:] if narrow else axes:
        ax.set_xlabel("step")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
