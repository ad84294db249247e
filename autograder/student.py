"""``check``: what a student's notebook calls. It runs in the student's own process, without a wall or a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder import catalog, read_once
from autograder.grading import grade_function
from autograder.models import CheckResult, Exercise, Score
from autograder.notebooks import failed_text, passed_line
from autograder.observations import Capture, quiet


class _Short:
    """An error of which Jupyter shows the message alone: the lines between are ours, and teach nothing."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class CheckFailed(_Short, AssertionError):
    """A check did not pass; the message says what was tried, what came back, and what a right answer does."""


class UnknownName(_Short, ValueError):
    """There is no exercise, or no check, of that name."""


class NotAFunction(_Short, TypeError):
    """What was given to ``check`` cannot be called."""


@dataclass(frozen=True, slots=True, repr=False)
class Feedback:
    """All checks of an exercise, tried on one answer; shows itself in a terminal and in Jupyter.

    What it is shown with is imported when it is: it takes longer than the rest, and a cell of nbgrader's shows nothing.
    """

    score: Score
    hints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        from autograder.report.places import place_in
        from autograder.report.terminal import feedback_text

        return feedback_text(self.score, self.hints, place=place_in(catalog.course_root()))

    def _repr_html_(self) -> str:
        from autograder.report.html import fragment

        return fragment(self.score, self.hints)


def check(slug: str, solution: object, check_id: str | None = None) -> Feedback | None:
    """Try an answer to an exercise, with the same inputs for everyone.

    Args:
        slug: name of the exercise, as its folder is called.
        solution: your function or class itself: ``check("halve", halve)``.
        check_id: the one check to try; leave it out to try all.

    Returns:
        The feedback; with ``check_id`` nothing: a check that passes prints one line.

    Raises:
        CheckFailed: the one check did not pass (an AssertionError).
        UnknownName: no such exercise or check (a ValueError).
        NotAFunction: ``solution`` cannot be called (a TypeError).
    """
    exercise = _exercise(slug)
    if not callable(solution):
        given = type(solution).__name__
        call = f"check({exercise.slug!r}, {exercise.entry})"
        raise NotAFunction(f"check needs {exercise.entry} itself and was given a value of type {given}. Write {call}.")
    if check_id is not None and check_id not in [known.id for known in exercise.checks]:
        known = ", ".join(check.id for check in exercise.checks)
        raise UnknownName(f"{exercise.slug} has no check {check_id!r}; its checks are {known}.")
    # nbgrader gives no points to a cell that writes to stderr, be it a warning of NumPy's or a print of the student's.
    with quiet(Capture()):
        expectations, patterns = read_once.expectations(slug)
        score = grade_function(exercise, expectations, patterns, solution, check_id)
    if check_id is None:
        return Feedback(score, () if score.score == score.max_score else exercise.hints)
    _show(score.checks[0])
    return None


def _show(result: CheckResult) -> None:
    if result.status != "passed":
        raise CheckFailed(failed_text(result.title, result.message))
    print(passed_line(result), end="")


def _exercise(slug: Any) -> Exercise:
    try:
        known = catalog.slugs()
        if slug in known:
            return read_once.exercise(slug)
    except catalog.CatalogError as error:
        raise UnknownName(str(error)) from None
    raise UnknownName(f"there is no exercise {slug!r}; there are {', '.join(known) or 'none'}.")
