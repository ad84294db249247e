"""Judge one answer: observations in, check results out. Knows neither where the code runs nor who wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from autograder.checks import judge_check, with_misconception
from autograder.models import Case, Check, CheckResult, Exercise, Observation, Score
from autograder.observations import observe as observe_here
from autograder.observations import plainly
from autograder.recognize import TIMEOUT, Marks, Pattern, recognize
from autograder.reference.expectations import Expectations, Expected

Observe = Callable[[Check, Case], Observation]
"""Runs one case of a check on the student's code."""

NOT_RUN: Final = Observation(ended="not_run", detail="not run, because an earlier case of this check ended the process")
TEXT_LIMIT: Final = 8_000
"""Characters that a result's texts about one value may have."""


def judge_answer(
    exercise: Exercise,
    expectations: Expectations,
    patterns: Mapping[str, Pattern],
    observe: Observe,
    only: str | None = None,
) -> tuple[tuple[CheckResult, ...], Pattern]:
    """Return every check's result, in order, and the pattern of the answer on the fixed cases.

    Args:
        exercise: the checks.
        expectations: what the reference did on each case.
        patterns: how the known wrong answers fail; empty to name no misconception.
        observe: runs one case.
        only: the id of the one check to judge.
    """
    results: list[CheckResult] = []
    pattern: dict[str, Marks] = {}
    plain: dict[str, Marks] = {}
    for check in exercise.checks:
        if only is not None and check.id != only:
            continue
        expected = expectations.checks[check.id]
        tried = try_cases(check, expected, observe)
        result, marks = judge_check(check, exercise.entry, tried)
        results.append(_bounded(result))
        # Which case ran out of time or memory, and of which first, depends on the machine; that one did does not.
        late = any(seen.ended in ("timeout", "memory", "crashed") for _, seen, _ in tried)
        pattern[check.id] = (TIMEOUT,) * expected.fixed if late else marks[: expected.fixed]
        other = [(case, plainly(got), want) for case, got, want in tried]
        same = late or all(one[1] is two[1] for one, two in zip(tried, other, strict=True))
        plain[check.id] = pattern[check.id] if same else judge_check(check, exercise.entry, other)[1][: expected.fixed]
    beliefs = recognize(exercise, patterns, pattern)
    if plain != pattern:
        # What fits as it stands comes first; the form itself is no mistake of the plain one, and is not named by it.
        beliefs = {**recognize(exercise, patterns, plain), **beliefs}
    return tuple(_name(exercise, result, beliefs.get(result.id, "")) for result in results), pattern


def try_cases(check: Check, expected: Expected, observe: Observe) -> list[tuple[Case, Observation, Observation]]:
    """Run a check's cases and return each with what was observed and expected.

    Where a case ended the process, the rest of the check is not run: it cannot pass any more.
    """
    tried = []
    ended = False
    for case, want in zip(expected.cases, expected.observations, strict=True):
        got = NOT_RUN if ended else observe(check, case)
        ended = ended or bool(got.ended)
        tried.append((case, got, want))
    return tried


def _bounded(result: CheckResult) -> CheckResult:
    # What comes back may nest so that showing it takes megabytes; the record is kept, mailed and put in a page.
    return replace(
        result,
        message=_cut(result.message),
        returned=_cut(result.returned),
        difference=_cut(result.difference),
    )


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT - 1]}…"


def _name(exercise: Exercise, result: CheckResult, belief: str) -> CheckResult:
    return with_misconception(result, exercise.misconceptions[belief]) if belief else result


def not_started(results: tuple[CheckResult, ...]) -> bool:
    """Return whether every check met the starter's NotImplementedError and nothing else."""
    return bool(results) and all(r.status == "error" and r.returned == "raised NotImplementedError" for r in results)


def total(results: tuple[CheckResult, ...]) -> float:
    """Return the sum of the points earned."""
    return sum(result.earned for result in results)


def grade_function(
    exercise: Exercise,
    expectations: Expectations,
    patterns: Mapping[str, Pattern],
    function: Callable[..., Any],
    only: str | None = None,
) -> Score:
    """Grade a function of this very process: a student's own check in their notebook, where no wall is needed."""
    outputs: list[str] = []

    def observe(check: Check, case: Case) -> Observation:
        seen = observe_here(function, case, check.scenario)
        outputs.append(seen.output)
        return seen

    results, _ = judge_answer(exercise, expectations, patterns, observe, only)
    score = Score(
        student="",
        exercise=exercise.slug,
        status="graded",
        score=total(results),
        max_score=sum(result.points for result in results),
        seed_id=expectations.seed_id,
        checks=results,
        reference=expectations.reference,
        sandbox=(),
        duration_s=0.0,
        version=exercise.version,
        output=first_output(outputs),
    )
    if not_started(results):
        return replace(score, status="not_started", reason=f"{exercise.entry} still raises NotImplementedError")
    return score


def first_output(outputs: list[str]) -> str:
    """Return the first thing printed: with many cases the rest repeats it."""
    return next((text for text in outputs if text), "")
