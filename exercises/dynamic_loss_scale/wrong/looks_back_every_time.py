# caught by one_pass: fast_when_short
# like adds_lists: it reads the whole past where the other copies it; both only run out of time
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = float(init_scale)
    changed = 0
    scales, skipped = [], []
    for step, overflow in enumerate(overflows):
        scales.append(scale)
        if overflow:
            skipped.append(step)
            scale *= backoff_factor
            changed = step + 1
        elif not any(overflows[changed:step]) and step + 1 - changed == growth_interval:
            scale *= growth_factor
            changed = step + 1
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
