# right: exact fractions of the bits that fp32 keeps
from __future__ import annotations

import math
from fractions import Fraction


def dynamic_loss_scale_fp32(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    if not init_scale <= 3.4028234663852886e38:
        raise ValueError("init_scale does not fit fp32")
    scale = single(init_scale)
    run = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale = single(scale * backoff_factor)
            run = 0
        else:
            run += 1
            if run == growth_interval:
                grown = single(scale * growth_factor)
                scale = grown if math.isfinite(grown) else scale
                run = 0
    return {"scales": scales, "skipped": skipped, "final_scale": scale}


def single(x: float) -> float:
    if x in (0, math.inf) or x != x:
        return float(x)
    exact = Fraction(x)
    power = max(exact.numerator.bit_length() - exact.denominator.bit_length() - 25, -149)
    while exact >= 2**24 * Fraction(2) ** power:
        power += 1
    kept = round(exact / Fraction(2) ** power) * Fraction(2) ** power
    return float(kept) if kept < 2**128 else math.inf
