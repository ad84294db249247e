from __future__ import annotations

import torch


def largest_safe_scale(grads: list[torch.Tensor | None], headroom: float = 2.0) -> float:
    """Return the largest power of two that the loss may be multiplied by, as these gradients tell.

    It is the largest S = 2.0**k with -24 <= k <= 24 and max|g| * S * headroom <= 65504, computed in double precision;
    2.0**24 where no element is different from zero.

    Args:
        grads: unscaled gradients: float16, bfloat16, float32 or float64 tensors of any shape; None is skipped.
        headroom: how many times larger gradients may become before they overflow; a finite number, 1 or more.

    Raises:
        ValueError: an element is inf or nan; headroom is below 1, inf or nan; or even S = 2.0**-24 is too large.
    """
    raise NotImplementedError("Write largest_safe_scale, then run this cell again")
