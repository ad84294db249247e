# right: finds the overflows first, and fills what lies between them a segment at a time
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    skipped = [step for step, overflow in enumerate(overflows) if overflow]
    scales: list[float] = []
    scale = float(init_scale)
    for end in [*skipped, len(overflows)]:
        while end - len(scales) >= growth_interval:
            scales += [scale] * growth_interval
            scale *= growth_factor
        scales += [scale] * (end - len(scales))
        if end < len(overflows):
            scales.append(scale)
            scale *= backoff_factor
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
