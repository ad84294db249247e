"""What to do with a gradient that has overflowed: five ways, each trained for the same number of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor

from figures import small_net, style

HALF_MAX = torch.finfo(torch.float16).max


@dataclass(frozen=True, slots=True)
class Run:
    """One training: the loss of each step, in float32; how many steps overflowed; the scale at the end."""

    losses: list[float]
    overflows: int
    scale: float


def train(on_overflow: str, back_off: bool, scale: float, steps: int = 100) -> Run:
    """Train the small network by SGD with momentum, at a scale that halves after an overflow if back_off says so.

    Args:
        on_overflow: "skip" the step, take inf and nan for "zeros", "clip" them to what fp16 could just hold, or
            "drop" the tensors that hold one and step with the others.
        back_off: whether the scale halves after an overflow; it never grows here.
        scale: the first scale.
        steps: how many.
    """
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    losses, overflows = [], 0
    for _ in range(steps):
        with torch.no_grad():
            losses.append(small_net.loss_in_float32(model, x, y).item())
        optimizer.zero_grad()
        (small_net.loss_in_half(model, x, y) * scale).backward()
        for parameter in model.parameters():
            parameter.grad /= scale
        bad = small_net.not_finite({name: parameter.grad for name, parameter in model.named_parameters()}) > 0
        overflows += bad
        if not (bad and on_overflow == "skip"):
            for parameter in model.parameters():
                parameter.grad = mended(parameter.grad, on_overflow, HALF_MAX / scale)
            optimizer.step()
        if bad and back_off:
            scale /= 2
    return Run(losses, overflows, scale)


def train_in_float32(steps: int = 100) -> Run:
    """Train the same network with nothing in fp16, and no scale."""
    model, (x, y) = small_net.network(), small_net.data()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = small_net.loss_in_float32(model, x, y)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    return Run(losses, 0, 1.0)


def mended(gradient: Tensor, on_overflow: str, limit: float) -> Tensor | None:
    """Return the gradient with inf and nan replaced, or None where it is dropped; a finite one as it is."""
    if on_overflow == "drop" and not gradient.isfinite().all():
        return None
    limit = limit if on_overflow == "clip" else 0.0
    return torch.nan_to_num(gradient, nan=0.0, posinf=limit, neginf=-limit)


def draw(runs: Mapping[str, Run], narrow: bool = False) -> Figure:
    """Return the losses over the steps, each line labeled in the legend; the first one is drawn as the yardstick."""
    figure, ax = style.new(*((3.6, 3.9) if narrow else (7.2, 3.4)))
    looks = zip((style.INK, *style.COLORS), ("--", "-", "-.", ":", "-", "--"), strict=True)
    for (name, run), (color, line) in zip(runs.items(), looks, strict=False):
        ax.plot(run.losses, color=color, ls=line, label=name)
    ax.set_yscale("log")
    ax.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    ax.minorticks_off()
    ax.set_xlabel("step")
    ax.set_ylabel("loss")
    ax.set_xlim(0, len(next(iter(runs.values())).losses) - 1)
    figure.legend(loc="outside upper center" if narrow else "outside right upper", ncols=1)
    return figure
