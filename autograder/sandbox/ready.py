"""The confined side of ``questions``: what a frame of them asks, with all arguments built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import frames
from autograder.scenarios import Built, prepare
from autograder.values import decode


@dataclass(frozen=True, slots=True)
class Ready:
    """One check's cases in the warm process. Each fork has them for itself, and uses each of them up at most once."""

    scenario: str
    cases: tuple[tuple[Built, ...], ...]


def ready(data: bytes) -> tuple[Ready, ...]:
    """Return what a frame of questions asks, with all arguments built: in the warm process, once."""
    return ready_of(frames.read(data))


def ready_of(asked: Sequence[Any]) -> tuple[Ready, ...]:
    """Return what a message asks: for each check its scenario and the calls of each case."""
    return tuple(
        Ready(scenario, tuple(tuple(prepare(_arguments(call)) for call in calls) for calls in cases))
        for scenario, cases in asked
    )


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: decode(value) for name, value in call.items()}
