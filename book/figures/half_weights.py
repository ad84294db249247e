"""The small network with its weights kept in fp16: trained with an fp32 master copy of them, or without one.

It is no figure itself. Forward, backward and gradients are the same in both; what differs is where the sum is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import functional_call

from figures import small_net

SCALE = 1024.0
"""A loss scale at which neither training overflows; a test says so."""


@dataclass(frozen=True, slots=True)
class Run:
    """One training: the loss of each step, the share of the first updates that were swallowed, and the last weights."""

    losses: list[float]
    swallowed: float
    weights: list[Tensor]


def train(master: bool, steps: int, lr: float, start: Sequence[Tensor] | None = None) -> Run:
    """Train the small network by plain SGD from fp16 weights, at a fixed loss scale.

    Args:
        master: whether the weights are summed in fp32 and copied to fp16, or rounded to fp16 after every update.
        steps: how many.
        lr: the learning rate.
        start: the first weights, in the order of the network's parameters; the fresh network's when left out.

    Returns:
        Losses; of the first step's updates that are not zero, the share that would leave an fp16 weight as it is; and
        the last weights in fp32 (those kept in fp16 alone are fp16 numbers).

    Raises:
        ValueError: a gradient was inf or nan. The scale is a fixed one, so the comparison would be off.
    """
    model, (x, y) = small_net.network(), small_net.data()
    names = [name for name, _ in model.named_parameters()]
    first = start if start is not None else list(model.parameters())
    kept = [weight.detach().half().float() for weight in first]
    losses: list[float] = []
    swallowed = 0.0
    for step in range(steps):
        halves = [weight.half().requires_grad_() for weight in kept]
        with torch.autocast("cpu", dtype=torch.float16):
            out = functional_call(model, dict(zip(names, halves, strict=True)), (x,))
        loss = torch.nn.functional.mse_loss(out.float(), y)
        (loss * SCALE).backward()
        losses.append(loss.item())
        updates = [lr * (half.grad.float() / SCALE) for half in halves]
        if not all(update.isfinite().all() for update in updates):
            raise ValueError(f"the gradients of step {step} overflowed at scale {SCALE:g}: use a smaller one")
        if step == 0:
            swallowed = share_swallowed(kept, updates)
        kept = [weight - update for weight, update in zip(kept, updates, strict=True)]
        if not master:
            kept = [weight.half().float() for weight in kept]
    return Run(losses, swallowed, kept)


def share_swallowed(weights: Sequence[Tensor], updates: Sequence[Tensor]) -> float:
    """Return the share of the updates other than zero that leave an fp16 weight where it is."""
    lost = real = 0
    for weight, update in zip(weights, updates, strict=True):
        half = weight.half()
        stays = (half.float() - update).half() == half
        lost += int((stays & (update != 0)).sum())
        real += int((update != 0).sum())
    return lost / real
