# right: functools.reduce over a record that carries its own lists
from __future__ import annotations

from functools import reduce


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    start = {"scales": [], "skipped": [], "scale": float(init_scale), "run": 0}

    def take(record, numbered):
        step, overflow = numbered
        record["scales"].append(record["scale"])
        if overflow:
            record["skipped"].append(step)
            record.update(scale=record["scale"] * backoff_factor, run=0)
        elif record["run"] + 1 < growth_interval:
            record["run"] += 1
        else:
            record.update(scale=record["scale"] * growth_factor, run=0)
        return record

    end = reduce(take, enumerate(overflows), start)
    return {"scales": end["scales"], "skipped": end["skipped"], "final_scale": end["scale"]}
