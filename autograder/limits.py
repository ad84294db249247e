"""What one submission may use, and how large its answers may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from autograder.models import Case, Tensor


@dataclass(frozen=True, slots=True)
class Limits:
    """What one submission may use."""

    memory: int = 512 * 2**20
    """Bytes of data above what the warm process has."""
    cpu: int = 120
    """Seconds of processor time; the wall clock is the runner's."""
    file: int = 16 * 2**20
    """Bytes that a file may have."""
    frame: int = 2**19
    """Bytes that any answer may have, beside what its question earns it."""
    elements: int = 20_000
    """Elements that any answer may have, beside what its question earns it."""

    def answer(self, case: Case) -> tuple[int, int]:
        """Return how many bytes, and how many elements, the answer to one case may have."""
        size = _size(tuple(case.calls))
        return self.frame + 64 * size, self.elements + 4 * size


STUDENT: Final = Limits()
MOST_WAITING: Final = 10
"""Budgets of time for which others may keep a submission from a processor before that, too, counts as its time.

Code that does nothing but offer its processor to others counts as waiting: it holds a worker for so long at most.
"""
MAX_TIMEOUTS: Final = 4
"""Checks that may run out of time before the rest of a submission is not run."""


def allowance(seconds: float, timeouts: int) -> float:
    """Return how many seconds a check may take, after so many that ran out of time, of an exercise's ``seconds``."""
    return float(seconds * 0.5 ** (1 + timeouts))


def _size(value: Any) -> int:
    """Return how many elements a plain value has: an answer may be a few times as large as its question."""
    if isinstance(value, Tensor):
        return len(value.values)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value)) if len(value) < 100 else len(value)
    return 1
