"""PyTorch's raw scaler operators on inputs that matter, as plain values: what a trace of them holds.

``_amp_foreach_non_finite_check_and_unscale_`` multiplies by an inverse scale and judges what came in;
``_amp_update_scale_`` grows or backs off an fp32 scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from autograder.models import Value
from autograder.tensors import plain

_UNSCALE: Final[Mapping[str, tuple[tuple[float, ...], float]]] = {
    "powers of two": ((2048.0, -4096.0, 0.0, -0.0), 2.0**-10),
    "a reciprocal that rounds": ((1.0, 10.0, -7.0), 1 / 3),
    "the smallest subnormal": ((2.0**-149, 2.0**-126), 0.5),
    "inf": ((1.0, math.inf), 0.5),
    "-inf": ((1.0, -math.inf), 0.5),
    "nan": ((math.nan, 1.0), 0.5),
    "judged before the multiply": ((3e38, 1.0), 2.0),
    "inverse of a scale of zero": ((1.0, 0.0), math.inf),
    "inverse of an infinite scale": ((1.0, -2.0), 0.0),
    "inverse one": ((3.0, math.nan), 1.0),
}
_UPDATE: Final[Mapping[str, tuple[float, str, float, float, int]]] = {
    "backs off": (65536.0, "x", 2.0, 0.5, 2000),
    "grows at the interval": (8.0, "..x...", 2.0, 0.5, 2),
    "the run restarts": (8.0, ".x..x....", 4.0, 0.25, 3),
    "saturates at 2^127": (2.0**125, "....", 2.0, 0.5, 1),
    "dies at zero": (2.0**-147, "xxxx.", 2.0, 0.5, 1),
    "rounds to fp32": (8.0, "xx", 2.0, 0.7, 2000),
    "product in double": (1e-5, ".", 1e39, 0.5, 1),
}


def runs(device: str) -> dict[str, Callable[[], Value]]:
    """Return each run by name; calling it returns its plain values, computed on ``device``."""
    made: dict[str, Callable[[], Value]] = {}
    for name, (values, inverse) in _UNSCALE.items():
        for dtype in ("float32", "float64"):
            made[f"unscale {dtype}: {name}"] = lambda v=values, i=inverse, d=dtype: _unscale(v, i, d, device)  # type: ignore[misc]
    for name, arguments in _UPDATE.items():
        made[f"update: {name}"] = lambda a=arguments: _update(a, device)  # type: ignore[misc]
    return made


def _unscale(values: tuple[float, ...], inverse: float, dtype: str, device: str) -> Value:
    import torch

    grad = torch.tensor(values, dtype=getattr(torch, dtype), device=device)
    found = torch.zeros(1, device=device)
    torch._amp_foreach_non_finite_check_and_unscale_([grad], found, torch.tensor([inverse], device=device))
    return {"grad": plain(grad), "found_inf": found.item()}


def _update(arguments: tuple[float, str, float, float, int], device: str) -> Value:
    import torch

    scale, steps, growth, backoff, interval = arguments
    now: Any = torch.tensor([scale], device=device)
    tracker = torch.zeros(1, dtype=torch.int32, device=device)
    scales, trackers = [], []
    for step in steps:
        found = torch.tensor([1.0 if step == "x" else 0.0], device=device)
        torch._amp_update_scale_(now, tracker, found, growth, backoff, interval)
        scales.append(now.item())
        trackers.append(int(tracker.item()))
    return {"scales": scales, "trackers": trackers}
