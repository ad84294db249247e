"""The scale of a run that the reader sets: PyTorch's update rule under gradients of several kinds.

In the page it is a live figure (book/live/sawtooth.js); this computes what it begins with, and what it is held to.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from matplotlib.figure import Figure

from figures import style
from figures.live import live
from figures.sawtooth import Trace, drive
from figures.scale_trace import staircase

INTERVALS: Final = (*range(1, 11), 20, 50, 100, 200, 500, 1000, 2000)
LENGTHS: Final = (30, 60, 120, 250, 500, 1000, 2000, 5000)
GROWTHS: Final = (1.5, 2.0, 4.0)
BACKOFFS: Final = (0.25, 0.5, 0.75)
INITS: Final = (-20, 40)
LIMITS: Final = (0, 30)
"""The least and the largest power of two that the reader may choose."""
MANTISSA: Final = 1.5
"""A limit is this times a power of two, so that no power of two is borderline."""
DRIFT: Final = 32
"""How far growing or shrinking gradients move the limit in a run, in quarters of a doubling."""
GRADIENTS: Final = {
    "fixed": "stay as they are",
    "grow": "grow",
    "shrink": "shrink",
    "noisy": "change from batch to batch",
    "once": "are bad once",
    "always": "are bad at every step",
    "never": "never overflow",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What the controls say; `limit` and `init` are powers of two."""

    gradients: str = "fixed"
    interval: int = 10
    limit: int = 14
    length: int = 60
    init: int = 16
    growth: float = 2.0
    backoff: float = 0.5


def walk(length: int = LENGTHS[-1], seed: int = 1, reach: int = 10) -> list[int]:
    """Return a random walk from 0 within -reach ... reach, in quarters of a doubling."""
    dice, at, places = random.Random(seed), 0, []
    for _ in range(length):
        places.append(at)
        at = max(-reach, min(reach, at + dice.choice((-2, -1, 0, 1, 2))))
    return places


def limits(setting: Setting) -> list[float] | None:
    """Return the largest scale without overflow at each step; None where no step asks for the scale."""
    if setting.gradients in ("never", "always"):
        return None
    steps = range(setting.length)
    fall = [step * DRIFT // setting.length for step in steps]
    moved = {"grow": [-each for each in fall], "shrink": fall, "noisy": walk()[: setting.length]}
    places = moved.get(setting.gradients, [0 for _ in steps])
    return [MANTISSA * 2.0 ** (each % 4 / 4) * 2.0 ** (setting.limit + each // 4) for each in places]


def run(setting: Setting) -> Trace:
    """Run PyTorch's operator as the controls say."""
    most = limits(setting)
    step = iter(range(setting.length))

    def overflows(scale: float) -> bool:
        now = next(step)
        bad = setting.gradients == "once" and now == setting.length // 2
        return setting.gradients == "always" or bad or (most is not None and scale > most[now])

    rule = {"interval": setting.interval, "growth": setting.growth, "backoff": setting.backoff}
    return drive(overflows, steps=setting.length, init=2.0**setting.init, **rule)


def draw(trace: Trace, most: Sequence[float] | None, narrow: bool = False) -> Figure:
    """Return the staircase with its skipped steps, and the limit at each step as a dashed line."""
    figure, ax = style.new(3.6 if narrow else 7.2, 3.2)
    staircase(ax, trace.scales, trace.skipped, narrow)
    if most:
        high = [math.log2(limit) for limit in most]
        label = "largest scale without overflow"
        ax.step(range(len(high)), high, where="mid", color=style.SOFT, lw=1.2, ls="--", label=label)
    ax.set_xlabel("step")
    figure.legend(loc="outside upper left", ncols=1 if narrow else 3)
    return figure


def said(setting: Setting, trace: Trace) -> str:
    """Return what the picture shows, in words."""
    return (
        f"The scale over {setting.length:,} steps with growth interval {setting.interval:,}, from {trace.scales[0]:,g} "
        f"to {trace.final:,g} after the last one. {len(trace.skipped)} steps are skipped; each is marked, and the "
        f"scale is multiplied by {setting.backoff:g} after it."
    )


def show(start: Setting, gradients: Sequence[str], caption: str) -> style.Picture:
    """Return the live figure.

    Args:
        start: what its controls say at first.
        gradients: which of GRADIENTS the reader may choose.
        caption: of the picture as it stands in print.
    """
    trace, most = run(start), limits(start)
    pictures = (draw(trace, most), draw(trace, most, narrow=True))
    still = style.show(pictures[0], narrow=pictures[1], alt=said(start, trace), caption=caption)
    return live("sawtooth", still, data(start, gradients))


def data(start: Setting, gradients: Sequence[str]) -> dict[str, Any]:
    """Return what the script needs."""
    return {
        "start": asdict(start),
        "gradients": [(kind, GRADIENTS[kind]) for kind in gradients],
        "intervals": INTERVALS,
        "lengths": LENGTHS,
        "growths": GROWTHS,
        "backoffs": BACKOFFS,
        "inits": INITS,
        "limits": LIMITS,
        "mantissa": MANTISSA,
        "quarters": [2.0 ** (part / 4) for part in range(4)],
        "drift": DRIFT,
        "walk": walk() if "noisy" in gradients else [],
    }
