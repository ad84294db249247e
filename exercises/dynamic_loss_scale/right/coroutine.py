# right: a coroutine that is sent each flag and gives back the scale for the next step
from __future__ import annotations


def _scaler(scale, growth_factor, backoff_factor, growth_interval):
    while True:
        for _ in range(growth_interval):
            if (yield scale):
                scale *= backoff_factor
                break
        else:
            scale *= growth_factor


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scaler = _scaler(float(init_scale), growth_factor, backoff_factor, growth_interval)
    scale = next(scaler)
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
        scale = scaler.send(overflow)
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
