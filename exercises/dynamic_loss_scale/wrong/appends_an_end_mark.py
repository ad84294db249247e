# caught by pure: the_list_is_mine
# like empties_its_input: it makes the list longer, and forgets to take the mark away again
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scale = float(init_scale)
    scales, skipped = [], []
    start = 0
    overflows.append(True)
    for end, overflow in enumerate(overflows):
        if not overflow:
            continue
        for good in range(1, end - start + 1):
            scales.append(scale)
            if good % growth_interval == 0:
                scale *= growth_factor
        if end + 1 < len(overflows):
            scales.append(scale)
            skipped.append(end)
            scale *= backoff_factor
        start = end + 1
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
