"""The share of steps that a dynamic scaler skips in its steady state, against its growth interval."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from matplotlib.figure import Figure

from figures import style
from figures.sawtooth import Trace

LIMIT = 3 * 2.0**13
"""A scale above this overflows: no power of two, so that none is borderline."""


def steady_share(trace: Trace) -> Fraction:
    """Return the exact share of skipped steps from one skipped step to a later one, whole cycles.

    The two first skipped steps are left out: they may belong to the way down from the first scale.

    Raises:
        ValueError: the run has fewer than four skipped steps.
    """
    if len(trace.skipped) < 4:
        raise ValueError("the run is too short for a steady state: it has fewer than four skipped steps")
    first, last = trace.skipped[2], trace.skipped[-1]
    return Fraction(len(trace.skipped) - 3, last - first)


def percent(share: Fraction) -> str:
    """Return a share in percent with four significant digits at most."""
    return f"{float(100 * share):.4g} %"


def draw(shares: Mapping[int, Fraction], narrow: bool = False) -> Figure:
    """Return the measured shares as labeled points on the line 1 / (N + 1), both axes logarithmic."""
    figure, ax = style.new(*((3.6, 3.2) if narrow else (7.2, 3.2)))
    top = 2 * max(shares)
    line = [10 ** (step / 20) for step in range(101) if 10 ** (step / 20) <= top]
    ax.plot(line, [100 / (n + 1) for n in line], color=style.SOFT, lw=1.5, ls="--", label="1 / (N + 1)")
    ax.plot(list(shares), [float(100 * s) for s in shares.values()], "o", color=style.C1, ms=7, label="measured")
    first, last = min(shares), max(shares)
    for n, share in shares.items():
        side = {"ha": "right", "xytext": (-9, -14)} if n == last else {"ha": "left", "xytext": (10, 2)}
        if n == first:
            side = {"ha": "left", "xytext": (8, 9)}
        label = f"N = {n:,}: {share.numerator} in {share.denominator:,}"
        ax.annotate(label, (n, float(100 * share)), textcoords="offset points", **side)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    ax.set_ylim(top=200)
    ax.set_yticks([0.1, 1, 10, 100], ["0.1 %", "1 %", "10 %", "100 %"])
    ax.set_xlabel("growth interval N")
    ax.set_ylabel("steps skipped")
    figure.legend(loc="outside upper right", ncols=2)
    return figure
