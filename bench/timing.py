"""Two things measured in turn, so that what else the machine does falls on both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measured ratio with the medians that it is made of."""

    what: str
    ours: float
    other: float
    unit: str
    target: str
    rounds: int

    def line(self) -> str:
        """Return one line of the table."""
        ratio = f"{self.other / self.ours:6.1f} ×" if self.ours else "     - "
        figures = f"{self.ours:.4g} against {self.other:.4g} {self.unit}"
        return f"{ratio}  {self.what}: {figures}, {self.rounds} rounds (target: {self.target})"


def seconds(action: Callable[[], object]) -> float:
    """Return the wall-clock seconds that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turn(ours: Callable[[], object], other: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median seconds of both, measured one after the other ``rounds`` times."""
    pairs = [(seconds(ours), seconds(other)) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)
