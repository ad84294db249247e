# right: match on (flag, run) in a while loop over a copy of the list
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    rest = list(reversed(overflows))
    scale, run = float(init_scale), 1
    scales, skipped = [], []
    while rest:
        scales.append(scale)
        match bool(rest.pop()), run:
            case True, _:
                skipped.append(len(scales) - 1)
                scale, run = scale * backoff_factor, 1
            case False, n if n == growth_interval:
                scale, run = scale * growth_factor, 1
            case False, n:
                run = n + 1
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
