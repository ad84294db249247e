"""Look for inputs that break a decoder: by Hypothesis, for a time rather than a number of examples."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

EXAMPLES = 300


def seconds() -> float:
    """Return how long to look, ``FUZZ_SECONDS``, 60 by default."""
    return float(os.environ.get("FUZZ_SECONDS", "60"))


def hunt(strategy: SearchStrategy[Any], holds: Callable[[Any], object]) -> int:
    """Try inputs until the time is up; return how many. A failing one is made small and shown by Hypothesis.

    Each round has another seed: ``FUZZ_SEED`` and the ones after it, or by default others at every run.
    """
    first = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(2**32)))
    end, tried, turn = time.monotonic() + seconds(), 0, 0

    def counted(value: Any) -> None:
        nonlocal tried
        tried += 1
        holds(value)

    while time.monotonic() < end:
        print(f"FUZZ_SEED={first + turn}")  # pytest shows it beside a failure
        chosen = settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=False,
            suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.target, Phase.shrink),
        )  # fmt: skip
        seed(first + turn)(chosen(given(strategy)(counted)))()
        turn += 1
    return tried
