"""How the scale of a healthy training looks beside that of a broken one: it levels out, or it sinks to zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import nn

from figures import small_net, style

Fault = Callable[[int, nn.Module, torch.Tensor], torch.Tensor]
"""What happens before a step's forward pass: given the step, the model and the inputs, it returns the inputs."""


@dataclass(frozen=True, slots=True)
class Run:
    """One training: the scale that each step used, and each step's loss."""

    scales: list[float]
    losses: list[float]


def healthy(step: int, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Change nothing."""
    return x


def one_bad_batch(step: int, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Put a nan into the inputs of step 60, and of no other."""
    if step != 60:
        return x
    x = x.clone()
    x[0, 0] = math.nan
    return x


def nan_in_a_weight(step: int, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Put a nan into one weight before step 60."""
    if step == 60:
        with torch.no_grad():
            model[4].weight[0, 0] = math.nan
    return x


def with_a_root_at_zero(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the small network's loss plus the root of a sum that is zero: a zero whose gradient is nan."""
    with torch.autocast("cpu", dtype=torch.float16):
        zero = model(x).float() * 0
        return small_net.loss_in_half(model, x, y) + zero.pow(2).sum().sqrt()


def train(
    fault: Fault = healthy,
    zero_grad: bool = True,
    steps: int = 260,
    init: float = 65536.0,
    loss_of: Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor] = small_net.loss_in_half,
) -> Run:
    """Train the small network with PyTorch's scaler, growth interval 50, with something wrong in it, or not."""
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=init, growth_interval=50)
    scales, losses = [], []
    for step in range(steps):
        loss = loss_of(model, fault(step, model, x), y)
        if zero_grad:
            optimizer.zero_grad()
        scales.append(scaler.get_scale())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return Run(scales, losses)


def draw(runs: Mapping[str, Run], narrow: bool = False) -> Figure:
    """Return the scales as exponents of two over the steps: all of them, and below, larger, those that stay above 0.

    Where a scale has become 0 its line ends with a mark.
    """
    size = (3.6, 6.0) if narrow else (7.2, 5.2)
    figure, (all_of_them, alive_ones) = style.new(*size, rows=2, sharex=True)
    looks = zip((style.C1, style.C3, style.C4, style.C2), ("-", "--", "-.", "-"), strict=True)
    for (name, run), (color, line) in zip(runs.items(), looks, strict=False):
        alive = [math.log2(scale) for scale in run.scales if scale > 0]
        all_of_them.plot(alive, color=color, ls=line, label=name)
        if len(alive) < len(run.scales):
            all_of_them.plot(len(alive) - 1, alive[-1], "X", color=color, ms=9)
        else:
            alive_ones.step(range(len(alive)), alive, where="mid", color=color, ls=line)
    _powers(all_of_them, (0, -50, -100, -149))
    all_of_them.axhline(0, color=style.SOFT, lw=1, ls=":")
    low, high = (round(end) for end in alive_ones.dataLim.intervaly)
    _powers(alive_ones, range(low, high + 1))
    alive_ones.set_xlabel("step")
    figure.legend(loc="outside upper left", ncols=1 if narrow else 2)
    return figure


def _powers(ax: Axes, exponents: Iterable[int]) -> None:
    ticks = list(exponents)
    ax.set_yticks(ticks, [style.power(2, tick) for tick in ticks])
    ax.set_ylabel("scale")
