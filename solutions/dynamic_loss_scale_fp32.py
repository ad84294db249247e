from __future__ import annotations

import math
import struct

LARGEST = (2.0 - 2.0**-23) * 2.0**127
"""The largest fp32 number."""


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    """Return what PyTorch's scaler, which keeps its scale in fp32, does during a run of training steps.

    The dict holds ``scales`` (the scale that each step used), ``skipped`` (the numbers of the steps that overflowed)
    and ``final_scale`` (the scale after the last step). Raises ValueError where ``init_scale`` is above the
    largest fp32 number, or nan.
    """
    if not init_scale <= LARGEST:  # nan too
        raise ValueError(f"init_scale must fit fp32, and {init_scale} does not")
    scale = to_fp32(init_scale)
    good_run = 0

    scales: list[float] = []
    skipped: list[int] = []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            # Nothing guards this end: once it has rounded to zero, the scale stays there.
            scale = to_fp32(scale * backoff_factor)
            good_run = 0
        else:
            good_run += 1
            if good_run == growth_interval:
                grown = to_fp32(scale * growth_factor)
                if math.isfinite(grown):  # else the growth is dropped, and the run begins anew all the same
                    scale = grown
                good_run = 0

    return {"scales": scales, "skipped": skipped, "final_scale": scale}


def to_fp32(x: float) -> float:
    """Return the fp32 number nearest to x, ties to even: infinity beyond the largest, zero below half the smallest."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
