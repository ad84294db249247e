"""The largest gradient of each step of a training, and how large a gradient each static scale bears."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from figures import style

LARGEST = 65504.0
COLORS = {"between the layers": style.C2, "of the parameters": style.C1}


def draw(peaks: Mapping[str, Sequence[float]], exponents: Sequence[int], narrow: bool = False) -> Figure:
    """Return the figure.

    Args:
        peaks: for each name in COLORS the largest gradient of each step.
        exponents: of the scales 2**exponent, each drawn as the line above which a gradient overflows.
        narrow: draw it for a phone.
    """
    figure, axes = style.new(3.6 if narrow else 7.2, 3.6)
    steps = max(len(values) for values in peaks.values())
    for name, values in peaks.items():
        axes.plot(range(len(values)), values, color=COLORS[name], lw=1.3, label=name)
    for exponent in exponents:
        limit = LARGEST / 2.0**exponent
        axes.axhline(limit, color=style.SOFT, lw=1.2, ls="--")
        axes.annotate(
            style.power(2, exponent),
            (steps, limit),
            (4, 0),
            textcoords="offset points",
            va="center",
            color=style.INK,
            annotation_clip=False,
        )
    axes.set_yscale("log", base=2)
    axes.set_yticks([1, 4, 16, 64], ["1", "4", "16", "64"])
    axes.minorticks_off()
    axes.set_xlim(0, steps)
    axes.set_xlabel("step")
    axes.set_ylabel("largest gradient")
    axes.grid(visible=False)
    figure.legend(loc="outside upper left", ncols=1 if narrow else 2)
    return figure
