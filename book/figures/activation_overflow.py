"""Two trainings whose first layer overflows fp16 in the forward pass: one says so, the other does not.

Both have inputs around 1000, a first layer whose outputs are near 72,000 or near -72,000, a normalization with fixed
statistics that would bring them back to ordinary size, and a ReLU. They differ in the sign of the first layer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn import functional

from figures import style

EXAMPLES, FEATURES, WIDTH = 256, 8, 16


def data() -> tuple[Tensor, Tensor]:
    """Return inputs of shape (256, 8), 1000 give or take 30, and targets of shape (256, 1); the same at each call."""
    draw = torch.randn(EXAMPLES, FEATURES, generator=torch.Generator().manual_seed(1))
    return 1000 + 30 * draw, draw[:, :1] + 0.5


class Network(nn.Module):
    """Linear, a normalization whose mean and variance are fixed, ReLU, Linear.

    Args:
        sign: 1.0 for first outputs near 72,000, -1.0 for first outputs near -72,000.
        wide: whether the first layer runs in fp32 whatever autocast says.
    """

    def __init__(self, sign: float, wide: bool = False) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(0)
        self.wide = wide
        self.first = nn.Linear(FEATURES, WIDTH, bias=False)
        self.last = nn.Linear(WIDTH, 1)
        with torch.no_grad():
            self.first.weight.copy_(sign * (9 + torch.randn(WIDTH, FEATURES, generator=draw)))
            self.last.weight.copy_(torch.randn(1, WIDTH, generator=draw) / 4)
            self.last.bias.zero_()
            seen = self.first(data()[0])
        self.register_buffer("mean", seen.mean(0))
        self.register_buffer("var", seen.var(0))

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs, shape (examples, 1)."""
        with torch.autocast("cpu", enabled=torch.is_autocast_enabled("cpu") and not self.wide):
            before = self.first(x)
        normal = functional.batch_norm(before, self.mean, self.var)
        return self.last(torch.relu(normal))


class Rounded(Network):
    """The network whose first layer's outputs lie near -72,000, in fp32, but for one thing that is rounded to bf16.

    Args:
        what: "outputs" or "weights", of the first layer. Gradients pass through the rounding as they are.
    """

    def __init__(self, what: str) -> None:
        super().__init__(-1.0)
        self.what = what

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs, shape (examples, 1)."""
        weight = as_bf16(self.first.weight) if self.what == "weights" else self.first.weight
        before = functional.linear(x, weight)
        before = as_bf16(before) if self.what == "outputs" else before
        return self.last(torch.relu(functional.batch_norm(before, self.mean, self.var)))


def as_bf16(values: Tensor) -> Tensor:
    """Return the values rounded to bf16, as float32, with a gradient as if they were not."""
    return values + (values.bfloat16().float() - values).detach()


def centered(x: Tensor) -> Tensor:
    """Return the inputs with their mean of 1000 taken away, divided by 30: what a careful pipeline hands over."""
    return (x - 1000) / 30


@dataclass(frozen=True, slots=True)
class Run:
    """One training: the loss and the scale of each step, and how many steps were skipped."""

    losses: list[float]
    scales: list[float]
    skipped: int


def train(model: nn.Module, dtype: torch.dtype | None, steps: int = 200, x: Tensor | None = None) -> Run:
    """Train by Adam with PyTorch's scaler, growth interval 50, under autocast to that dtype; None is fp32."""
    own, y = data()
    x = own if x is None else x
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scaler = torch.amp.GradScaler("cpu", growth_interval=50)
    losses, scales, skipped = [], [], 0
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype or torch.float16, enabled=dtype is not None):
            out = model(x)
        loss = functional.mse_loss(out.float(), y)
        losses.append(loss.item())
        scales.append(scaler.get_scale())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        grads = [p.grad for p in model.parameters()]
        skipped += not all(grad.isfinite().all() for grad in grads)
        scaler.step(optimizer)
        scaler.update()
    return Run(losses, scales, skipped)


def draw(pairs: Mapping[str, tuple[Run, Run]], narrow: bool = False) -> Figure:
    """Return, for each pair of an fp32 and an fp16 run, the losses above and fp16's scale below, over the steps.

    A loss that is nan has no line; a cross on the upper edge marks where the losses stopped being numbers.
    """
    shape = {"rows": 4, "cols": 1} if narrow else {"rows": 2, "cols": 2}
    figure, axes = style.new(*((3.6, 8.4) if narrow else (7.2, 4.6)), **shape, sharex=True)
    columns = (axes[0:2], axes[2:4]) if narrow else (axes[:, 0], axes[:, 1])
    top = 1.15 * max(max(plain.losses) for plain, _ in pairs.values())
    for (upper, lower), (name, (plain, half)) in zip(columns, pairs.items(), strict=True):
        upper.plot(plain.losses, color=style.INK, ls="--", label="fp32")
        upper.plot(half.losses, color=style.C2, label="fp16")
        bad = [step for step, loss in enumerate(half.losses) if not math.isfinite(loss)]
        if bad:
            mark = (bad[0], top * 0.95)
            upper.plot(*mark, "X", color=style.C2, ms=9, clip_on=False)
            upper.annotate("nan from here on", mark, (10, -4), textcoords="offset points", color=style.C2)
        upper.set_title(name)
        upper.set_ylabel("loss")
        upper.set_ylim(0, top)
        alive = [math.log2(scale) for scale in half.scales if scale > 0]
        lower.step(range(len(alive)), alive, where="mid", color=style.C1)
        if len(alive) < len(half.scales):
            lower.plot([len(alive) - 1], [alive[-1]], "X", color=style.C1, ms=9)
        lower.set_ylabel("scale")
        lower.set_xlim(0, len(half.losses) - 1)
        low, high = round(min(alive)), round(max(alive))
        ticks = range(low, high + 1) if high - low < 8 else (16, -50, -100, -149)
        lower.set_yticks(ticks, [style.power(2, tick) for tick in ticks])
        if narrow:
            lower.tick_params(labelbottom=True)
        if high - low < 8:
            lower.set_ylim(low - 1, high + 1)
    for _, lower in columns:
        lower.set_xlabel("step")
    figure.legend(*columns[1][0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure
