"""What fp16 does to gradients at each scale of a slider, for the live histogram of chapter 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from figures import gradient_histogram, style

LOWEST, HIGHEST = -8, 34
"""The exponents of the slider's smallest and largest scale."""


@dataclass(frozen=True, slots=True)
class Fates:
    """What becomes of the non-zero elements of one tensor that are multiplied by a scale and rounded to fp16."""

    lost: int
    """How many become zero."""
    infinite: int
    """How many become inf."""
    mass: float
    """What share of the sum of all magnitudes the lost ones are; 0 of nothing."""


def fates(gradient: Tensor, scale: float) -> Fates:
    """Return what a scale, a power of two, does to a finite gradient; torch's own rounding to fp16 says so."""
    true = gradient.detach().flatten()
    stored = (true * scale).half()
    gone = (true != 0) & (stored == 0)
    size = true.double().abs()
    total = size.sum().item()
    # Both sums in one order, whatever is lost: all of the mass is then all of it, not 1 + 2**-52.
    mass = (size * gone).sum().item() / total if total else 0.0
    return Fates(int(gone.sum()), int(stored.isinf().sum()), mass)


def exponents(gradient: Tensor) -> tuple[int, list[int]]:
    """Return the smallest exponent of a gradient's non-zero elements, and how many there are of each from there on."""
    size = gradient.detach().double().abs().flatten()
    found = torch.frexp(size[size > 0]).exponent.long() - 1
    if not len(found):
        return 0, []
    first = int(found.min())
    return first, torch.bincount(found - first).tolist()


def data(layers: Mapping[str, Tensor], start: int, lowest: int = LOWEST, highest: int = HIGHEST) -> dict[str, Any]:
    """Return what book/live/histogram.js needs: for each layer its bins, and its fates by the exponent of the scale.

    Args:
        layers: the unscaled fp32 gradients of each layer, in the order of the rows.
        start: the exponent that the slider begins at.
        lowest: the slider's first exponent.
        highest: its last.

    Raises:
        ValueError: a layer has an inf, a nan or no element; or the slider begins beyond its ends, or has no scale
            without an overflow, or none with one, so that nobody could find the largest that has none.
    """
    for name, gradient in layers.items():
        if not gradient.numel() or not gradient.isfinite().all():
            raise ValueError(f"{name} has {'an inf or a nan' if gradient.numel() else 'no element'}: nothing to scale")
    if not lowest <= start <= highest:
        raise ValueError(f"start={start} lies outside of the slider, which goes from {lowest} to {highest}")
    together = torch.cat([gradient.detach().flatten() for gradient in layers.values()])
    total = _row("all layers", together, lowest, highest)
    without = [power for power, count in enumerate(total["inf"], lowest) if not count]
    if not without or without[-1] == highest:
        which = "every" if without else "no"
        raise ValueError(f"from 2^{lowest} to 2^{highest} {which} scale keeps all finite: give the slider other ends")
    return {
        "lowest": lowest,
        "start": start,
        "largest": without[-1],
        "scales": [_words(power) for power in range(lowest, highest + 1)],
        "rows": [_row(name, gradient, lowest, highest) for name, gradient in layers.items()],
        "total": total,
        "axis": [gradient_histogram.FIRST, gradient_histogram.LAST],
        "edges": [gradient_histogram.LOST, gradient_histogram.NORMAL, gradient_histogram.INFINITE],
    }


def _row(name: str, gradient: Tensor, lowest: int, highest: int) -> dict[str, Any]:
    first, bins = exponents(gradient)
    found = [fates(gradient, 2.0**power) for power in range(lowest, highest + 1)]
    return {
        "name": name,
        "size": gradient.numel(),
        "zeros": int((gradient == 0).sum()),
        "first": first,
        "bins": bins,
        "lost": [each.lost for each in found],
        "inf": [each.infinite for each in found],
        "mass": [each.mass for each in found],
    }


def _words(power: int) -> str:
    value = f"{2**power:,}" if power >= 0 else f"1/{2**-power:,}"
    return f"{style.power(2, power)} = {value}"
