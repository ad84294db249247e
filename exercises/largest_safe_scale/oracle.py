"""What PyTorch's own backward pass says about the same gradients, to prove the reference with.

A float32 parameter is read as fp16 by the forward pass, as a layer under autocast does, and the loss is chosen so that
its gradient is headroom times the one asked about. The loss is then multiplied by one power of two after the other: the
largest at which no inf arrives in ``.grad`` is the largest that is safe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

POWERS = tuple(2.0**exponent for exponent in range(24, -25, -1))
LARGEST, OVERFLOWS = 65504.0, 65520.0
MARGIN = 1e-6
"""Relative distance from a border within which the rounding of float32 products decides, and nothing is claimed."""


def coincides(arguments: Mapping[str, Any]) -> bool:
    """Return whether PyTorch's rule and the exercise's must agree on these plain arguments.

    They must where there is an answer, and where no power of two takes the largest gradient between 65504 and 65520,
    which fp16 stores as 65504: the exercise calls that too large, and backward does not notice.
    """
    headroom = arguments.get("headroom", 2.0)
    values = [value for grad in arguments["grads"] if grad is not None for value in grad.values]
    if not 1 <= headroom < math.inf or not all(map(math.isfinite, values)):
        return False
    largest = max(map(abs, values), default=0.0)
    products = [largest * power * headroom for power in POWERS]
    clear = all(product <= LARGEST or product >= OVERFLOWS * (1 + MARGIN) for product in products)
    return clear and products[-1] <= LARGEST


def pytorch(grads: list[Tensor | None], headroom: float = 2.0) -> float:
    """Return the largest power of two at which nothing overflows on the way back through fp16.

    Raises:
        StopIteration: there is none.
    """
    kept = [grad.float().flatten() for grad in grads if grad is not None]
    wanted = torch.cat([torch.zeros(1, device=grad.device) for grad in kept[:1]] + kept) if kept else torch.zeros(1)
    weight = torch.zeros_like(wanted, requires_grad=True)
    loss = (weight.half().float() * wanted).sum() * headroom

    def arrives(scale: float) -> Tensor:
        (grad,) = torch.autograd.grad(loss * scale, weight, retain_graph=True)
        return grad

    return next(scale for scale in POWERS if torch.isfinite(arrives(scale)).all())


def agrees(got: Any, want: Any) -> str | None:
    """Return one sentence on the difference between two results, or None where they agree."""
    return None if type(got) is float and got == want else f"the scale is {got!r}, and backward survives {want!r}"


DIFFERENCES = (
    (
        "Between 65504 and 65520",
        "fp16 rounds what lies between its largest number and 65520 down to 65504, so a backward pass at such a scale "
        "shows no inf. With the gradient 2047.25 it survives a scale of 32, and the exercise returns 16.0.",
    ),
)
