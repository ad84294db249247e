"""The sawtooth of a dynamic scale under a fixed limit, for several growth intervals, by PyTorch's own update rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure

from figures import style
from figures.scale_trace import staircase


@dataclass(frozen=True, slots=True)
class Trace:
    """What a run did: the scale that each step used, the steps that were skipped, the scale after the last one."""

    scales: list[float]
    skipped: list[int]
    final: float

    @property
    def share(self) -> float:
        """The share of steps that were skipped."""
        return len(self.skipped) / len(self.scales)


def drive(
    overflows: Callable[[float], bool] | Iterable[bool],
    steps: int,
    interval: int,
    init: float = 65536.0,
    growth: float = 2.0,
    backoff: float = 0.5,
) -> Trace:
    """Run PyTorch's update operator, which ``GradScaler.update()`` calls, for so many steps.

    Args:
        overflows: whether a step overflows: a function of the scale that it uses, or one flag for each step.
        steps: how many.
        interval, init, growth, backoff: what ``GradScaler`` takes.
    """
    flags = None if callable(overflows) else iter(overflows)
    scale, good = torch.full((1,), init), torch.zeros(1, dtype=torch.int32)
    found = {bad: torch.tensor([float(bad)]) for bad in (False, True)}
    scales, skipped = [], []
    for step in range(steps):
        scales.append(scale.item())
        bad = bool(overflows(scales[-1]) if flags is None else next(flags))
        if bad:
            skipped.append(step)
        torch._amp_update_scale_(scale, good, found[bad], growth, backoff, interval)
    return Trace(scales, skipped, scale.item())


def draw(traces: Mapping[int, Trace], limit: float, narrow: bool = False) -> Figure:
    """Return one panel a growth interval, with the limit above which a step overflows as a dashed line."""
    figure, axes = style.new(3.6 if narrow else 7.2, 1.55 * len(traces) + 0.5, rows=len(traces), sharex=True)
    for ax, (interval, trace) in zip(axes, traces.items(), strict=True):
        staircase(ax, trace.scales, trace.skipped, narrow)
        ax.axhline(math.log2(limit), color=style.SOFT, lw=1.2, ls="--", label="largest scale without overflow")
        name = "N =" if narrow else "growth interval"
        ax.set_title(f"{name} {interval}: {len(trace.skipped)} of {len(trace.scales)} steps skipped")
    axes[-1].set_xlabel("step")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=1 if narrow else 3)
    return figure
