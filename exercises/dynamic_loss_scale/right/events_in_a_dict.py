# right: notes the steps that change the scale, then plays them back
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    factors: dict[int, float] = {}
    begin = 0
    for step, overflow in enumerate(overflows):
        if overflow:
            factors[step] = backoff_factor
            begin = step + 1
        elif step + 1 - begin == growth_interval:
            factors[step] = growth_factor
            begin = step + 1
    trace = [float(init_scale)]
    for step in range(len(overflows)):
        trace.append(trace[-1] * factors.get(step, 1))
    final_scale = trace.pop()
    skipped = [step for step in factors if overflows[step]]
    return {"scales": trace, "skipped": skipped, "final_scale": final_scale}
