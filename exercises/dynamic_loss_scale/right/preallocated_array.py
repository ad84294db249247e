# right: an array.array of doubles, written by index, made a list at the end
from __future__ import annotations

from array import array


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scales = array("d", bytes(8 * len(overflows)))
    skipped = array("q")
    scale, since = float(init_scale), 0
    for step, overflow in enumerate(overflows):
        scales[step] = scale
        since += 1
        if overflow:
            skipped.append(step)
            scale, since = scale * backoff_factor, 0
        if since == growth_interval:
            scale, since = scale * growth_factor, 0
    return {"scales": scales.tolist(), "skipped": skipped.tolist(), "final_scale": scale}
