# right: writes the run as a text and lets a regular expression cut it at every change
from __future__ import annotations

import re


def dynamic_loss_scale(
    overflows: list[bool],
    init_scale: float = 65536.0,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> dict[str, list[float] | list[int] | float]:
    text = "".join("x" if overflow else "." for overflow in overflows)
    scale = float(init_scale)
    scales, skipped = [], []
    for token in re.finditer(rf"x|[.]{{{growth_interval}}}|[.]+?(?=x|$)", text):
        scales += [scale] * len(token[0])
        if token[0] == "x":
            skipped.append(token.start())
            scale *= backoff_factor
        elif len(token[0]) == growth_interval:
            scale *= growth_factor
    return {"scales": scales, "skipped": skipped, "final_scale": scale}
