"""What a run holds of a submission: small, whatever the submission, and enough for every table."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from test_classroom import EXERCISES, address, with_checks
from test_report import ALL, BROKEN, CLASS, HOSTILE, MIXED, NOT_STARTED, UNREADABLE, a_score

from autograder.models import CheckResult, Score
from autograder.report import words
from autograder.report.classroom import class_page
from autograder.report.rows import PROBLEM, TEXT, Row, Shared, Verdict, row_of
from autograder.report.tables import grades_csv
from autograder.report.terminal import class_table


def size(objects: Iterable[Any]) -> int:
    """Return the bytes of objects and of all that they hold, each counted once."""
    seen: dict[int, Any] = {}

    def walk(part: Any) -> int:
        if id(part) in seen or part is None or isinstance(part, bool):
            return 0
        seen[id(part)] = part
        below = part if isinstance(part, tuple) else ()
        if is_dataclass(part):
            below = tuple(getattr(part, field.name) for field in fields(part))
        return sys.getsizeof(part) + sum(map(walk, below))

    return sum(map(walk, objects))


def long_score(student: str, text: str, checks: int = 40) -> Score:
    """Return a score that is as large as they get: every text of every check is long, and no two are one object."""

    def own() -> str:
        return "".join((text, student))

    failed = [
        CheckResult(
            f"c{n}", own(), 1.0, 0.0, "error", own(), "", "", own(), own(), own(), own(), rule=own(), difference=own()
        )
        for n in range(checks)
    ]
    return a_score(student, failed, output=own(), path=own())


def test_a_row_is_small_whatever_the_score():
    score = long_score("s", "grads[0][0] is 3.25; " * 500)
    assert size([score]) > 1_000_000
    assert size([row_of(score)]) < 8_000  # forty checks that no other row has
    assert size([row_of(replace(score, checks=score.checks[:10]))]) < 3_000


def test_no_text_of_a_student_makes_a_row_large():
    long = "\U0001f52c" * 100_000  # four bytes a character
    score = replace(long_score("s", long, 10), reason=long, notes=(long,) * 50, look=(long,) * 50)
    row = row_of(score)
    assert [len(text) for text in (row.reason, row.notes, row.problem, row.look)] == [TEXT + 1] * 2 + [PROBLEM + 1] * 2
    assert size([row]) < 4 * 2 * (TEXT + PROBLEM) + 3_000


def test_a_class_of_rows_is_less_than_a_kilobyte_a_submission():
    shared, rows = Shared(), []
    for number in range(1_000):
        kind = (MIXED, BROKEN, a_score(), long_score("", f"grads[0][{number}] is 3.25; " * 20, 10))[number % 4]
        score = pickle.loads(pickle.dumps(replace(kind, student=f"student{number:04}")))  # nothing is one object yet
        rows.append(shared.row(row_of(score)))
    assert size(rows) < 1_000 * len(rows)
    assert size(rows) < size(map(row_of, (long_score(f"{n}", "x" * 300, 10) for n in range(1_000)))) / 2


def test_shared_rows_are_the_same_rows_with_equal_parts_held_once():
    shared = Shared()
    rows = [row_of(pickle.loads(pickle.dumps(score))) for score in (MIXED, replace(MIXED, student="s002"))]
    one, other = (shared.row(row) for row in rows)
    assert [one, other] == rows
    assert one.checks is other.checks
    assert (one.version, one.seed_id, one.exercise) == (other.version, other.seed_id, other.exercise)
    assert one.version is other.version
    assert one.problem is other.problem
    changed = replace(MIXED, checks=(*MIXED.checks[:-1], replace(MIXED.checks[-1], status="passed")))
    third = shared.row(row_of(pickle.loads(pickle.dumps(changed))))
    assert third.checks[-1].status == "passed"
    assert third.checks[0] is one.checks[0]


def test_a_student_is_held_once_for_all_exercises():
    shared = Shared()
    names = ["".join(("a", "da")) for _ in range(2)]
    assert names[0] is not names[1]
    one, other = (shared.row(row_of(a_score(name, exercise=f"e{n}"))) for n, name in enumerate(names))
    assert one.student is other.student
    assert shared.row(row_of(a_score("ben"))).student == "ben"


@pytest.mark.parametrize("score", CLASS, ids=lambda score: ascii(score.student[:4]))
def test_a_row_says_what_its_score_says(score: Score):
    row = row_of(score)
    assert row.key == (score.student, score.exercise)
    assert (row.status, row.score, row.max_score, row.duration_s) == (
        score.status, score.score, score.max_score, score.duration_s,
    )  # fmt: skip
    assert row.problem == words.first_problem(score)
    for says in (words.headline, words.marks_of, words.is_full):
        assert says(row) == says(score)
    assert [(verdict.id, verdict.status) for verdict in row.checks] == [
        (result.id, result.status) for result in score.checks
    ]
    assert [words.mark(verdict) for verdict in row.checks] == [words.mark(result) for result in score.checks]


def test_a_verdict_keeps_the_belief_and_nothing_without_one():
    believed = next(result for result in ALL if result.misconception)
    row = row_of(a_score("s", [believed, ALL[0], replace(believed, misconception="")]))
    assert row.checks == (
        Verdict(believed.id, "failed", believed.misconception, believed.belief, believed.truth, believed.see),
        Verdict(ALL[0].id, "passed"),
        Verdict(believed.id, "failed"),
    )


def test_what_does_not_run_is_told_from_what_fails_everywhere():
    assert row_of(BROKEN).does_not_run
    failed = tuple(replace(result, status="failed") for result in BROKEN.checks)
    for other in (MIXED, UNREADABLE, NOT_STARTED, replace(BROKEN, checks=failed), a_score("s", ())):
        assert not row_of(other).does_not_run


def rows_at(limit: int, extra: int) -> Row:
    checks = tuple(
        replace(result, status="crashed", message="x", difference="x" * (limit + extra)) for result in ALL[1:4]
    )
    checks = tuple(replace(result, id=f"c{n}", misconception="") for n, result in enumerate(checks))
    return row_of(with_checks("s", checks, reason="", look=(f"see {HOSTILE}" + "y" * (limit + extra),)))


def test_tables_say_the_same_of_a_row_as_of_texts_that_were_not_cut():
    cut = rows_at(PROBLEM, 400)
    whole = replace(cut, problem="x" * (PROBLEM + 400), look=f"see {HOSTILE}" + "y" * (PROBLEM + 400))
    assert cut.problem != whole.problem
    pages = ["".join(class_page([row], EXERCISES, address=address)) for row in (cut, whole)]
    assert pages[0] == pages[1]
    assert class_table([cut]) == class_table([whole])
    long = replace(cut, reason="r" * 5_000, notes="n" * 5_000)
    short = replace(cut, reason="r" * (TEXT + 1), notes="n" * (TEXT + 1))
    assert list(grades_csv([short])) == list(grades_csv([long]))
