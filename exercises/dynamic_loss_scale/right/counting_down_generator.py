# right: a generator of scales that counts down; star-unpacking splits off the last
from __future__ import annotations


def _trace(overflows, scale, growth_factor, backoff_factor, growth_interval):
    left = growth_interval
    yield scale
    for overflow in overflows:
        left -= 1
        if overflow:
            scale, left = scale * backoff_factor, growth_interval
        elif left == 0:
            scale, left = scale * growth_factor, growth_interval
        yield scale


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    *scales, final_scale = _trace(overflows, float(init_scale), growth_factor, backoff_factor, growth_interval)
    skipped = [step for step, overflow in enumerate(overflows) if overflow]
    return {"scales": scales, "skipped": skipped, "final_scale": final_scale}
