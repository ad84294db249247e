"""Two things measured in turn, so that what else the machine does falls on both, and the line that comes of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure with what it is of."""

    of: str
    amount: float
    unit: str = "s"

    def text(self) -> str:
        """Return it as it is printed, with three significant digits."""
        return f"{self.of} {number(self.amount)} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Target:
    """What a ratio should be."""

    sign: Literal["≥", "≤"]
    bound: float

    def holds(self, ratio: float) -> bool:
        """Return whether a ratio is on the right side of the bound."""
        return ratio >= self.bound if self.sign == "≥" else ratio <= self.bound

    def text(self) -> str:
        """Return it as it is printed."""
        return f"{self.sign} {ratio_text(self.bound)}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: one thing against another, both measured in this run."""

    name: str
    """By which the book's page finds it; no two lines of a run have the same."""
    what: str
    top: Amount
    bottom: Amount
    target: Target
    rounds: int
    """How often each was measured; where it is above 1, the amounts are medians."""
    note: str = ""
    """What else belongs to the ratio; a sentence or two."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further figures, as JSON."""

    @property
    def ratio(self) -> float:
        """The upper amount over the lower one."""
        return self.top.amount / self.bottom.amount

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.target.holds(self.ratio)

    def text(self) -> str:
        """Return the line as it is printed."""
        times = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        head = f"{ratio_text(self.ratio):>9} ×  {'✓' if self.holds else '✗'} {self.target.text():<8}  {self.what}"
        lines = [head, f"{self.top.text()}, {self.bottom.text()}; {times}", *filter(None, [self.note])]
        return f"\n{' ' * _INDENT}".join(lines)

    def record(self) -> dict[str, Any]:
        """Return the line as JSON, with ratio and verdict."""
        return {**asdict(self), "ratio": self.ratio, "holds": self.holds}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that cannot be measured here and now, with the reason."""

    name: str
    what: str
    why: str

    def text(self) -> str:
        """Return the line as it is printed."""
        return f"{'-':>9}    not measured  {self.what}: {self.why}"

    def record(self) -> dict[str, Any]:
        """Return the line as JSON."""
        return asdict(self)


_INDENT: Final = 24


def ratio_text(ratio: float) -> str:
    """Return a ratio with three significant digits; one far below 1 as a fraction: a fiftieth is 1/50."""
    return f"1/{number(1 / ratio)}" if 0 < ratio < 0.1 else number(ratio)


def number(value: float) -> str:
    """Return a figure with three significant digits, and thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds(action: Callable[[], object]) -> float:
    """Return the wall-clock seconds that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turn(ours: Callable[[], object], other: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median seconds of both, measured one after the other ``rounds`` times."""
    pairs = [(seconds(ours), seconds(other)) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)
