# caught by one_pass: powers_fit_when_the_scale_does
from __future__ import annotations


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    growths = backoffs = run = 0
    counts, skipped = [(0, 0)], []
    for step, overflow in enumerate(overflows):
        if overflow:
            backoffs += 1
            skipped.append(step)
            run = 0
        elif (run := run + 1) == growth_interval:
            growths += 1
            run = 0
        counts.append((growths, backoffs))
    known = {pair: float(init_scale * growth_factor ** pair[0] * backoff_factor ** pair[1]) for pair in set(counts)}
    trace = [known[pair] for pair in counts]
    return {"scales": trace[:-1], "skipped": skipped, "final_scale": trace[-1]}
