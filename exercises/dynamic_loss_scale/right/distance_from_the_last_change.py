# right: keeps the last overflow instead of a run: grows where the distance is a multiple
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale, last = float(init_scale), -1
    scales, skipped = [], []
    for i, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(i)
            scale *= backoff_factor
            last = i
        elif (i - last) % growth_interval == 0:
            scale *= growth_factor
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
