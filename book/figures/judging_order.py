"""On how many fp16 numbers does judging before unscaling differ from judging after it, for scales from tiny to huge?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from matplotlib.figure import Figure
from torch import Tensor

from figures import style


def every_half() -> Tensor:
    """Return all 65,536 fp16 numbers: each pattern of 16 bits once, infs and nans among them."""
    return torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(torch.float16)


def differing(values: Tensor, scale: float) -> int:
    """Return on how many elements the two verdicts differ: finite as they come, and finite once divided by scale."""
    return int((values.isfinite() != (values / scale).isfinite()).sum())


def draw(counts: Mapping[float, int], narrow: bool = False) -> Figure:
    """Return the counts over the scales, which are powers of two; below 1 the zone is marked."""
    figure, ax = style.new(*((3.6, 2.9) if narrow else (7.2, 3.0)))
    exponents = [round(math.log2(scale)) for scale in counts]
    colors = [style.C2 if exponent < 0 else style.C1 for exponent in exponents]
    ax.bar(exponents, list(counts.values()), width=0.75, color=colors)
    ax.plot([e for e in exponents if e >= 0], [counts[2.0**e] for e in exponents if e >= 0], "o", color=style.C1, ms=4)
    top = max(counts.values())
    ax.set_ylim(0, top * 1.12)
    ax.axvline(-0.5, color=style.SOFT, lw=1, ls="--")
    name = "" if narrow else "scale "
    ax.text(-1.2, top * 1.04, f"{name}below 1", ha="right", color=style.C2)
    ax.text(0.2, top * 1.04, f"{name}1 or more", ha="left", color=style.C1)
    if not narrow:
        ax.text(exponents[-1] / 2, top * 0.1, "0 everywhere: the order is free", ha="center", color=style.C1)
    ticks = range(exponents[0], exponents[-1] + 1, 8 if narrow else 4)
    ax.set_xticks(ticks, [style.power(2, tick) for tick in ticks])
    ax.set_yticks(range(0, top + 1, 10000), [f"{tick:,}" for tick in range(0, top + 1, 10000)])
    ax.set_xlabel("scale")
    ax.set_ylabel("patterns that differ" if narrow else "fp16 patterns with two verdicts")
    ax.grid(visible=False, axis="x")
    return figure
