"""What the walls cost: a submission in its confined process, against the same in an ordinary one."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from autograder import catalog
from autograder.attempt import Cage, grade_one
from autograder.models import Cell, Exercise, Submission
from autograder.plan import Plan, recorded_plan
from autograder.sandbox import walls
from bench.timing import Amount, Line, Skipped, Target, in_turn

ROUNDS: Final = 31
_WHAT: Final = "one fully isolated submission, against the same without isolation"


def isolation() -> Iterator[Line | Skipped]:
    """Median seconds of each exercise's solution, in turn with and without walls; the sums are compared."""
    if walls.bubblewrap() is None:
        yield Skipped("isolation", _WHAT, "bubblewrap is not installed")
        return
    inside, outside = Cage(walled=True), Cage(walled=False)
    try:
        pairs = {slug: _one(exercise, inside, outside) for slug, exercise in catalog.load_all().items()}
        layers = inside.layers()
    finally:
        inside.drop()
        outside.drop()
    yield Line(
        "isolation",
        _WHAT,
        Amount("isolated", statistics.fmean(walled for walled, _ in pairs.values()), "s"),
        Amount("without", statistics.fmean(free for _, free in pairs.values()), "s"),
        Target("≤", 1.3),
        ROUNDS,
        f"Means of the {len(pairs)} exercises' medians; layers: {', '.join(layers)}.",
        {
            "exercises": {
                slug: {"isolated_s": walled, "without_s": free, "ratio": walled / free}
                for slug, (walled, free) in pairs.items()
            },
            "layers": layers,
        },
    )


def _one(exercise: Exercise, inside: Cage, outside: Cage) -> tuple[float, float]:
    plan = recorded_plan(exercise)
    assert plan is not None, "recorded.json is not current: autograder release"
    submission = Submission("bench", exercise.slug, Path(f"{exercise.slug}.py"), (Cell(1, exercise.solution),))

    def graded(plan: Plan, cage: Cage) -> None:
        score = grade_one(plan, submission, cage)
        assert score.score == score.max_score, score.reason

    graded(plan, inside)  # both are warm
    graded(plan, outside)
    return in_turn(lambda: graded(plan, inside), lambda: graded(plan, outside), ROUNDS)
