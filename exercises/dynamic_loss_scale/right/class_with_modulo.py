# right: an object with PyTorch-like methods; grows where its count is a multiple
from __future__ import annotations


class _Scaler:
    def __init__(self, scale: float, growth: float, backoff: float, interval: int) -> None:
        self.scale, self.growth, self.backoff, self.interval = scale, growth, backoff, interval
        self.good = 0

    def step(self, overflow: bool) -> float:
        """Return the scale that the step uses, and make the update after it."""
        used = self.scale
        if overflow:
            self.scale *= self.backoff
            self.good = 0
        else:
            self.good += 1
            if self.good % self.interval == 0:
                self.scale *= self.growth
        return used


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    scaler = _Scaler(float(init_scale), growth_factor, backoff_factor, growth_interval)
    scales = [scaler.step(overflow) for overflow in overflows]
    skipped = [step for step in range(len(overflows)) if overflows[step]]
    return {"scales": scales, "skipped": skipped, "final_scale": scaler.scale}
