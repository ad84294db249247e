"""Fight: a class of attacks through the whole product, with an honest submission right after each one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attack import OTHER, STEP, Attack
from host import host, picture

from autograder.collect import collect
from autograder.models import Exercise, Score
from autograder.notebooks import submission_notebook
from autograder.pipeline import RECORDS, Class, Output, grade_class
from autograder.plan import Plan, recorded_plan
from autograder.report.records import read_records

HONEST = submission_notebook(OTHER, OTHER.solution)
"""Handed in after each attack: of the other exercise."""

PATIENCE = 20.0
"""The time budget where nothing loops: a machine that stands still for seconds costs no mark."""


@dataclass(frozen=True, slots=True)
class Fight:
    """What came of it."""

    scores: dict[str, Score]
    """Of each attack, by its name."""
    honest: dict[str, Score]
    """Of the honest submission after each attack, by the attack's name."""
    before: dict[str, Any]
    """A picture of the host, and below, one afterwards."""
    after: dict[str, Any]
    out: Path
    secret: str
    gradebook: dict[str, float]
    """Points of each attack and, as ``after <attack>``, of each honest submission, in the gradebook."""


def plans(seconds: float) -> dict[str, Plan]:
    """Return the plans of both exercises, ``grad_scaler_step``, which is attacked, with so many seconds."""
    known = {chosen.slug: recorded_plan(chosen) for chosen in (STEP, OTHER)}
    found = {slug: one for slug, one in known.items() if one is not None}
    assert len(found) == 2, "recorded.json is not current: autograder release"
    budgets = {STEP.slug: seconds, OTHER.slug: PATIENCE}
    return {slug: replace(one, exercise=replace(one.exercise, seconds=budgets[slug])) for slug, one in found.items()}


def fight(attacks: Sequence[Attack], seconds: float, folder: Path) -> Fight:
    """Grade all attacks with one worker, an honest submission after each, and look at the host before and after."""
    with host(folder) as made:
        for number, attack in enumerate(attacks):
            hand_in(made.tree, f"{number:03}a", STEP, made.fill(attack.file))
            hand_in(made.tree, f"{number:03}b", OTHER, HONEST)
        output = Output(made.out, f"sqlite:///{made.out / 'gradebook.db'}")
        before = picture(made)
        with Class(workers=1) as workers:
            grade_class(workers, collect(made.tree, [STEP.slug, OTHER.slug]), plans(seconds), output)
        after = picture(made)
        by_student = {student: score for (student, _), score in read_records(made.out / RECORDS).items()}
        named = {attack.name: f"{number:03}" for number, attack in enumerate(attacks)}
        in_book = _gradebook(made.out / "gradebook.db")
        points = {name: in_book[f"{student}a"] for name, student in named.items()}
        points |= {f"after {name}": in_book[f"{student}b"] for name, student in named.items()}
        return Fight(
            {name: by_student[f"{student}a"] for name, student in named.items()},
            {name: by_student[f"{student}b"] for name, student in named.items()},
            before, after, made.out, made.secret, points,
        )  # fmt: skip


def hand_in(tree: Path, student: str, exercise: Exercise, text: str) -> None:
    """Put a notebook where a student's belongs."""
    path = tree / student / exercise.slug / f"{exercise.slug}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def _gradebook(path: Path) -> dict[str, float]:
    query = """
        SELECT submitted.student_id, SUM(grade.auto_score) FROM grade
        JOIN submitted_notebook AS notebook ON grade.notebook_id = notebook.id
        JOIN submitted_assignment AS submitted ON notebook.assignment_id = submitted.id
        GROUP BY submitted.student_id
    """
    connection = sqlite3.connect(path)
    try:
        return {student: points or 0.0 for student, points in connection.execute(query)}
    finally:
        connection.close()
