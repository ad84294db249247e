"""How far apart the numbers of a format are, by the size of the numbers (chapter 1)."""

from __future__ import annotations

import math
from typing import Final

from matplotlib.figure import Figure

from figures import style
from figures.bits import FORMATS, Format, decode

SHOWN: Final = {"fp16": "float16", "bf16": "bfloat16", "fp8 E5M2": "float8_e5m2", "fp8 E4M3": "float8_e4m3fn"}
FIRST: Final = -28
LAST: Final = 20


def gap(exponent: int, fmt: Format) -> float:
    """Return how far apart the format's numbers are from 2**exponent to the next power of two; nan beyond its end."""
    if 2.0**exponent > decode(fmt.largest, fmt):
        return math.nan
    return math.ldexp(1.0, max(exponent, 1 - fmt.bias) - fmt.fraction)


def stairs(fmt: Format) -> tuple[list[float], list[float]]:
    """Return the corners of a staircase: sizes, from 2**FIRST to the format's end or 2**LAST, and gaps."""
    top = min(LAST, math.frexp(decode(fmt.largest, fmt))[1])
    sizes: list[float] = []
    steps: list[float] = []
    for exponent in range(FIRST, top):
        end = min(2.0 ** (exponent + 1), decode(fmt.largest, fmt))
        sizes += [2.0**exponent, end]
        steps += [gap(exponent, fmt)] * 2
    return sizes, steps


def draw(narrow: bool = False) -> Figure:
    """Return the figure: a staircase for each format, on logarithmic axes."""
    figure, axes = style.new(3.6 if narrow else 7.2, 3.6 if narrow else 3.9)
    left = FIRST if narrow else -24
    labels = {"fp16": (left, -24), "fp8 E5M2": (left, -16), "fp8 E4M3": (left, -9), "bf16": (-20.5, -34)}
    for (name, key), color in zip(SHOWN.items(), (style.C1, style.C2, style.C3, style.C4), strict=True):
        sizes, steps = stairs(FORMATS[key])
        axes.plot(sizes, steps, color=color, linewidth=2.2 if name in ("fp16", "bf16") else 1.4)
        if math.isfinite(gap(LAST - 1, FORMATS[key])):
            axes.plot(sizes[-1:], steps[-1:], ">", color=color, markersize=6)
        else:
            axes.plot(sizes[-1:], steps[-1:], "o", color=color, markersize=5)
        x, y = labels[name]
        axes.annotate(name, (2.0**x, 2.0**y), (0, 4), textcoords="offset points", color=color, weight="bold")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    shown = [-24, -14, 0, 16] if narrow else [-24, -17, -14, -6, 0, 8, 16]
    axes.set_xticks([2.0**e for e in shown], [style.power(2, e) for e in shown])
    heights = [-32, -24, -16, -8, 0, 8]
    axes.set_yticks([2.0**e for e in heights], [style.power(2, e) for e in heights])
    axes.minorticks_off()
    axes.set_xlabel("size of the number")
    axes.set_ylabel("gap to the next one")
    return figure
