"""The page judges every known answer as the command line does: one judge, in two Pythons, on two torches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from known import ELSEWHERE, ENDLESS
from page_python import PagePython

from autograder import catalog
from autograder.attempt import Cage, grade_one
from autograder.browser import archive, numpy_free
from autograder.browser.absent import ELSEWHERE as WHERE
from autograder.models import Cell, Exercise, Score, Submission
from autograder.plan import Plan, recorded_plan
from autograder.recognize import TIMEOUT, recognize
from autograder.report.records import from_record
from autograder.sandbox import walls

ROOT: Final = Path(__file__).resolve().parents[2]
SLUGS: Final = archive.slugs(ROOT)
ONCE_ANOTHER: Final = {
    ("dynamic_loss_scale", "multiplies_powers"),  # a system's own words for a power that is too large
    ("grad_scaler_step", "one_good_row_will_do"),  # torch.all(dim=...)
}
"""Wrong answers that the page once judged in another way."""
EVERY: Final = 6
"""One in so many wrong answers is tried by `make test`; `make test-long` tries all."""


def answers(exercise: Exercise) -> dict[str, str]:
    """Return every known answer's source by its name."""
    named = {f"right/{answer.name}": answer.source for answer in exercise.right}
    named |= {f"wrong/{answer.name}": answer.source for answer in exercise.wrong}
    return {"starter": exercise.starter, "solution": exercise.solution, **named}


def plan_of(slug: str) -> Plan:
    plan = recorded_plan(catalog.load(slug, ROOT))
    assert plan is not None
    return plan


def verdict(score: Score) -> tuple[str, list[tuple[str, str, str]]]:
    """Return what two judges must agree on."""
    return score.status, [(check.id, check.status, check.misconception) for check in score.checks]


def in_the_page(python: PagePython, slug: str, source: str) -> Score:
    return from_record(python.grade(slug, source)["record"])


# ------------------------------------------------------------------------------- by what is recorded


def recorded_verdict(plan: Plan, name: str) -> dict[str, str] | None:
    """Return the misconception, or "", of each check that a wrong answer fails by what is recorded of it."""
    marks = numpy_free.plan(plan).patterns.get(name)
    if marks is None:
        return None  # it is forbidden, so nothing was observed
    found = recognize(plan.exercise, numpy_free.plan(plan).patterns, marks)
    return {check: found.get(check, "") for check, row in marks.items() if set(row) != {"."}}


@pytest.mark.parametrize("slug", SLUGS)
def test_the_page_agrees_with_what_confined_processes_recorded(page_python: PagePython, slug: str) -> None:
    """Patterns in recorded.json come from confined processes with real torch; `release --check` keeps them current."""
    plan = plan_of(slug)
    exercise = plan.exercise
    wrong = [answer for answer in exercise.wrong if (slug, f"wrong/{answer.name}") not in {*ELSEWHERE, *ENDLESS}]
    always = [answer for answer in wrong if answer.caught_by == "forbids" or (slug, answer.name) in ONCE_ANOTHER]
    for answer in {answer.name: answer for answer in (*wrong[::EVERY], *always)}.values():
        score = in_the_page(page_python, slug, answer.source)
        failed = {check.id: check.misconception for check in score.checks if check.status != "passed"}
        expected = recorded_verdict(plan, answer.name)
        if expected is None:
            assert {check.status for check in score.checks} == {"forbidden"}, answer.name
        else:
            assert failed == expected, answer.name
    for answer in exercise.right:
        if (slug, f"right/{answer.name}") not in ELSEWHERE:
            score = in_the_page(page_python, slug, answer.source)
            assert (score.score, score.status) == (exercise.max_score, "graded"), answer.name


def test_what_the_page_cannot_run_says_so(page_python: PagePython) -> None:
    assert len(ELSEWHERE) == 20
    for (slug, name), reason in ELSEWHERE.items():
        score = in_the_page(page_python, slug, answers(catalog.load(slug, ROOT))[name])
        assert score.score == 0.0
        failed = [check for check in score.checks if check.status != "passed"]
        assert failed
        assert all(f"{reason}; {WHERE}" in check.message for check in failed), (slug, name)


def test_what_is_endless_is_known_as_such() -> None:
    assert len(ENDLESS) == 7
    for slug, name in ENDLESS:
        patterns = plan_of(slug).patterns[name.removeprefix("wrong/")]
        assert any(TIMEOUT in row for row in patterns.values()), (slug, name)


# ------------------------------------------------------------------------------------ live, everything


@pytest.fixture(scope="module")
def cage() -> Iterator[Cage]:
    made = Cage(walled=walls.bubblewrap() is not None)
    yield made
    made.drop()


@pytest.mark.long
@pytest.mark.parametrize("slug", SLUGS)
def test_every_known_answer_gets_the_command_lines_verdict(page_python: PagePython, cage: Cage, slug: str) -> None:
    plan = plan_of(slug)
    differing: dict[str, Any] = {}
    for name, source in answers(plan.exercise).items():
        if (slug, name) in ELSEWHERE or (slug, name) in ENDLESS:
            continue
        submission = Submission("", slug, Path(f"{slug}.py"), (Cell(1, source),))
        there, here = grade_one(plan, submission, cage), in_the_page(page_python, slug, source)
        if verdict(there) != verdict(here):
            differing[name] = [
                pair for pair in zip(verdict(there)[1], verdict(here)[1], strict=True) if len({*pair}) > 1
            ]
    assert differing == {}
