from __future__ import annotations

import math

import torch

LARGEST = torch.finfo(torch.float16).max  # 65504.0


def largest_safe_scale(grads: list[torch.Tensor | None], headroom: float = 2.0) -> float:
    """Return the largest power of two in [2**-24, 2**24] that keeps ``max|g| * scale * headroom`` within fp16.

    ``2.0**24`` where nothing is different from zero; ``None`` is skipped.

    Raises:
        ValueError: an inf or nan among the gradients, a headroom that is no finite number from 1 on, or no such power.
    """
    # Asked the other way round ("if headroom < 1") a nan would slip through: every comparison with nan but != is False.
    if not 1 <= headroom < math.inf:
        raise ValueError(f"headroom is {headroom}; give a finite number, 1 or more")

    largest = 0.0
    for grad in grads:
        if grad is None or grad.numel() == 0:  # the maximum of no elements does not exist
            continue
        # An overflow has destroyed the very number that is needed, so these gradients cannot tell a scale.
        if not torch.isfinite(grad).all():
            raise ValueError("a gradient holds inf or nan; measure on a step that has not overflowed")
        largest = max(largest, grad.abs().max().item())  # .item() gives a Python float: from here on, double precision

    # From the top down: the first that fits is the largest. 49 candidates are no work beside one backward pass, and
    # trying the very inequality leaves no room for a logarithm that is rounded up.
    for exponent in range(24, -25, -1):
        scale = 2.0**exponent
        if largest * scale * headroom <= LARGEST:
            return scale
    raise ValueError(f"with gradients up to {largest:g} even the scale 2**-24 overflows")
