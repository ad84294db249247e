# right: a frozen dataclass for the state, replaced at every step; returns tuples
from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class _State:
    scale: float
    run: int = 0


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    state = _State(float(init_scale))
    scales: tuple[float, ...] = ()
    trace, skipped = [], []
    for step, overflow in enumerate(overflows):
        trace.append(state.scale)
        if overflow:
            skipped.append(step)
            state = _State(state.scale * backoff_factor)
        elif state.run + 1 == growth_interval:
            state = _State(state.scale * growth_factor)
        else:
            state = replace(state, run=state.run + 1)
    scales = tuple(trace)
    return {"scales": scales, "skipped": tuple(skipped), "final_scale": state.scale}
