"""Where the bits of each format go: exponents to the left of one line, fractions to its right (chapter 1)."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures import style
from figures.bits import FORMATS, Format

SHOWN: Final = {
    "fp32": "float32",
    "tf32": "tfloat32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp8 E5M2": "float8_e5m2",
    "fp8 E4M3": "float8_e4m3fn",
}
"""What each format is called in the book, and its key in ``bits.FORMATS``; the widest first."""


def draw(narrow: bool = False) -> Figure:
    """Return the figure: a row for each format, a box for each bit."""
    figure, axes = style.new(3.6 if narrow else 7.2, 3.9 if narrow else 3.0)
    axes.set_axis_off()
    names = 4.5 if narrow else 7.5
    axes.set_xlim(-10.5 - (0 if narrow else names), 24)
    axes.set_ylim(-len(SHOWN) * (1.5 if narrow else 1.0) - 0.1, 1.1)
    for place, (name, key) in enumerate(SHOWN.items()):
        _row(axes, name, FORMATS[key], -place * (1.5 if narrow else 1.0), narrow)
    axes.text(-0.4, 0.3, "range", ha="right", color=style.C2, weight="bold")
    axes.text(0.4, 0.3, "precision", ha="left", color=style.C1, weight="bold")
    return figure


def _row(axes: Any, name: str, fmt: Format, top: float, narrow: bool) -> None:
    for place in range(fmt.width):
        x = place - fmt.exponent - 1
        color = style.SOFT if place == 0 else style.C2 if x < 0 else style.C1
        axes.add_patch(Rectangle((x + 0.06, top - 0.8), 0.88, 0.62, color=color, linewidth=0))
    axes.plot([0, 0], [top - 0.9, top - 0.08], color=style.INK, linewidth=1.4)
    said = f"{name}: {fmt.width} bits" if narrow else name
    where = (-fmt.exponent - 1, top - 1.14) if narrow else (-17.5, top - 0.49)
    axes.text(*where, said, ha="left", va="center", color=style.INK, size=9.5 if narrow else 10.5)
    if not narrow:
        counted = f"1 + {fmt.exponent} + {fmt.fraction} = {fmt.width} bits"
        axes.text(fmt.fraction + 0.5, top - 0.49, counted, ha="left", va="center", color=style.SOFT, size=9.5)
