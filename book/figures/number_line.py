"""Five places of the number line of fp16, each with all the numbers that it has there (chapter 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from matplotlib.figure import Figure

from figures import style
from figures.bits import FORMATS, decode

HALF: Final = FORMATS["float16"]
CUTOFF: Final = 2.0**-25
END: Final = 65520.0
"""From here on a number is rounded to inf."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the number line."""

    title: str
    first: int
    last: int
    """The patterns of its first and its last number."""
    labels: tuple[tuple[int, str], ...]
    """Patterns with what is written under them."""
    unit: float
    """The smallest distance of two neighbors in it."""
    narrow_hides: tuple[int, ...] = ()
    """Patterns whose labels a phone has no room for."""

    @property
    def numbers(self) -> list[float]:
        """Every fp16 number of the stretch."""
        return [decode(pattern, HALF) for pattern in range(self.first, self.last + 1)]


WINDOWS: Final = (
    Window(
        "next to zero: 2⁻²⁴ apart",
        0,
        8,
        ((0, "0"), (1, "2⁻²⁴"), (2, "2·2⁻²⁴"), (4, "4·2⁻²⁴"), (8, "8·2⁻²⁴")),
        2.0**-24,
        (2,),
    ),
    Window("subnormal, then normal: still 2⁻²⁴ apart", 0x3F8, 0x408, ((0x400, "2⁻¹⁴"),), 2.0**-24),
    Window("the first doubling: 2⁻²⁴, then 2⁻²³", 0x7F8, 0x804, ((0x800, "2⁻¹³"),), 2.0**-24),
    Window(
        "where odd numbers end: 1, then 2", 0x67F8, 0x6804, ((0x67F8, "2040"), (0x6800, "2048"), (0x6804, "2056")), 1.0
    ),
    Window(
        "the end: 32 apart, then none",
        0x7BF7,
        0x7BFF,
        ((0x7BF7, "65,248"), (0x7BFB, "65,376"), (0x7BFF, "65,504")),
        32.0,
    ),
)


def draw(narrow: bool = False) -> Figure:
    """Return the figure: a line for each window, a tick for each number."""
    figure, rows = style.new(3.6 if narrow else 7.2, 5.0 if narrow else 4.6, rows=len(WINDOWS))
    for axes, window in zip(rows, WINDOWS, strict=True):
        _line(axes, window, narrow)
    zero, end = rows[0], rows[-1]
    _note(zero, CUTOFF, style.C2, style.power(2, -25) if narrow else "cut-off 2⁻²⁵")
    zero.plot([0, CUTOFF], [0, 0], color=style.C2, linewidth=4, solid_capstyle="butt")
    _note(end, END, style.C2, "65,520")
    end.plot([END, END + 24], [0, 0], color=style.C2, linewidth=4, solid_capstyle="butt")
    end.annotate("inf", (END + 24, 0), (3, 0), textcoords="offset points", va="center", color=style.C2)
    return figure


def _line(axes: Any, window: Window, narrow: bool) -> None:
    numbers = window.numbers
    axes.set_title(window.title, fontsize=10.5, pad=8)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.grid(False)
    axes.tick_params(left=False, labelleft=False, bottom=False)
    span = numbers[-1] - numbers[0]
    axes.set_xlim(numbers[0] - 0.04 * span, numbers[-1] + 0.16 * span)
    axes.set_ylim(-0.7, 1.0)
    axes.axhline(0, color=style.SOFT, linewidth=1)
    for pattern, number in enumerate(numbers, window.first):
        subnormal = 0 < pattern < 0x400
        color = style.C5 if subnormal else style.INK if pattern == 0 else style.C1
        axes.plot([number, number], [-0.38, 0.38], color=color, linewidth=2.4, solid_capstyle="butt")
    kept = [(at, said) for at, said in window.labels if not (narrow and at in window.narrow_hides)]
    axes.set_xticks([decode(at, HALF) for at, _ in kept], [said for _, said in kept])


def _note(axes: Any, x: float, color: str, text: str) -> None:
    axes.plot([x, x], [-0.38, 0.55], color=color, linewidth=1.4, linestyle=(0, (2, 1.5)))
    axes.annotate(text, (x, 0.55), (3, 1), textcoords="offset points", va="bottom", color=color, size=9.5)
