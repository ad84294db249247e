"""Name the belief behind a wrong answer, by comparing how it fails with how the known wrong answers fail.

The pattern of an answer is, for each check, one mark a fixed case: "." where it passed, else the digest of what was
observed. Two answers with the same marks were wrong on the same inputs in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from autograder.models import Exercise

Marks: TypeAlias = tuple[str, ...]
Pattern: TypeAlias = Mapping[str, Marks]

PASS: Final = "."
NOT_RUN: Final = "-"
TIMEOUT: Final = "late"
"""Mark of every case of a check that ran out of time or memory, or died, on one of them."""


def recognize(exercise: Exercise, patterns: Mapping[str, Pattern], marks: Pattern) -> dict[str, str]:
    """Return the misconception's id for each failing check where exactly one fits.

    A known wrong answer that fails as this one does on *every* check names all of them. Otherwise each check is looked
    at by itself, among those wrong answers that fail on no case where this one passes - who has two mistakes fails at
    least where each of them does. Of those that fail it alike, the ones come first that explain the most of the other
    failing checks as well, then those that the check is there to catch.

    Args:
        exercise: whose wrong answers are known.
        patterns: the pattern of each wrong answer, by its name.
        marks: the pattern of the answer at hand, fixed cases only.
    """
    failing = [check for check, row in marks.items() if any(mark not in (PASS, NOT_RUN) for mark in row)]
    if not failing:
        return {}
    beliefs = {answer.name: answer.misconception for answer in exercise.wrong if answer.name in patterns}
    caught_by = {answer.name: answer.caught_by for answer in exercise.wrong}
    whole = _single(beliefs[name] for name in beliefs if all(patterns[name].get(c) == row for c, row in marks.items()))
    if whole:
        return dict.fromkeys(failing, whole)
    found = {}
    possible = [name for name in beliefs if _fails_at_most_where(patterns[name], marks)]
    explained = {name: sum(patterns[name].get(check) == marks[check] for check in failing) for name in possible}
    for check in failing:
        fitting = [name for name in possible if patterns[name].get(check) == marks[check]]
        most = max((explained[name] for name in fitting), default=0)
        alike = [name for name in fitting if explained[name] == most]
        belief = _single(beliefs[n] for n in alike if caught_by[n] == check) or _single(beliefs[n] for n in alike)
        if belief:
            found[check] = belief
    return found


def _fails_at_most_where(known: Pattern, marks: Pattern) -> bool:
    pairs = (pair for check, row in marks.items() for pair in zip(known.get(check, ()), row, strict=False))
    return all(mine != PASS or theirs in (PASS, NOT_RUN) for theirs, mine in pairs)


def _single(beliefs: Iterable[str]) -> str:
    distinct = set(beliefs)
    return distinct.pop() if len(distinct) == 1 else ""
