# caught by keeps_the_form: an_iterator_is_a_list
from __future__ import annotations

from itertools import accumulate
from operator import itemgetter


def _rule(growth_factor, backoff_factor, growth_interval):
    def update(state, overflow):
        scale, run = state
        if overflow:
            return scale * backoff_factor, 0
        if run + 1 == growth_interval:
            return scale * growth_factor, 0
        return scale, run + 1

    return update


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    update = _rule(growth_factor, backoff_factor, growth_interval)
    states = list(accumulate(overflows, update, initial=(float(init_scale), 0)))
    return {
        "scales": map(itemgetter(0), states[:-1]),
        "skipped": [step for step, overflow in enumerate(overflows) if overflow],
        "final_scale": states[-1][0],
    }
