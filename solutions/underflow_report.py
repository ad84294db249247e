from __future__ import annotations

import torch

SMALLEST_NORMAL = torch.finfo(torch.float16).smallest_normal  # 2**-14


def underflow_report(grads: list[torch.Tensor | None], scale: float) -> dict[str, int | float]:
    """Count what fp16 makes of the gradients once they are multiplied by the scale.

    Of the finite, non-zero elements: ``total``, the four classes ``zeroed``, ``subnormal``, ``normal`` and
    ``overflowed`` that add up to it, and ``fraction_zeroed``. ``None`` is skipped.
    """
    total = zeroed = subnormal = overflowed = 0
    for grad in grads:
        if grad is None:  # a parameter that the loss did not reach
            continue
        # A zero has nothing to lose, and an inf or nan is another disease: neither says anything about underflow.
        counted = grad[torch.isfinite(grad) & (grad != 0)].float()

        # Multiply first, in fp32, and round to fp16 last: that is what scaling the loss does to what backward computes.
        # `counted` is a copy, so the caller's gradients stay as they are.
        size = (counted * scale).half().abs()

        # Ask fp16 itself what became of each element: no threshold has to be known but the one between its own kinds.
        total += size.numel()
        zeroed += int((size == 0).sum())
        subnormal += int(((size > 0) & (size < SMALLEST_NORMAL)).sum())
        overflowed += int(torch.isinf(size).sum())

    return {
        "total": total,
        "zeroed": zeroed,
        "subnormal": subnormal,
        "normal": total - zeroed - subnormal - overflowed,
        "overflowed": overflowed,
        "fraction_zeroed": zeroed / total if total else 0.0,
    }
