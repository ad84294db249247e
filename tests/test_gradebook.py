"""Scores in nbgrader's gradebook: read back through nbgrader, written twice, beside a human's marks, and refused."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import tiny_exercise
from nbgrader.api import Gradebook, MissingEntry, get_alembic_version
from sqlalchemy import Engine, event

from autograder import catalog, files, gradebook_db, gradebook_final
from autograder.errors import CourseError
from autograder.gradebook import GradebookError, GradebookWriter, read_scores, url_of
from autograder.models import CheckResult, Exercise, Reference, Score
from autograder.notebooks import source_notebook
from autograder.stock import run_nbgrader, stock_environment

FULL = {"halves": 1.5, "keeps_the_sign": 1.0, "is_a_float": 0.5}
REFERENCE = Reference("solutions/halve.py", "cpu", "")


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return url_of(tmp_path / "gradebook.db")


def a_score(student: str, earned: dict[str, float] | None = None, **changed: Any) -> Score:
    points = FULL if earned is None else earned
    results = tuple(
        CheckResult(name, name, FULL.get(name, 1.0), value, "passed" if value else "failed")
        for name, value in points.items()
    )
    score = Score(
        student, "halve", "graded", sum(points.values()), 3.0, "seed:1", results, REFERENCE, (), 0.0, version="v"
    )
    return replace(score, **changed)


def unreadable(student: str, reason: str = "s1/halve/halve.ipynb: the file is empty") -> Score:
    return a_score(student, dict.fromkeys(FULL, 0.0), status="unreadable", score=None, reason=reason)


def write(url: str, exercise: Exercise, *scores: Score) -> None:
    with GradebookWriter(url, {exercise.slug: exercise}) as gradebook:
        gradebook.write(scores)


def without(exercise: Exercise, check: str) -> Exercise:
    return replace(exercise, checks=tuple(each for each in exercise.checks if each.id != check))


@contextmanager
def opened(url: str) -> Iterator[Any]:
    with Gradebook(url) as gradebook:
        yield gradebook


def grades(url: str, student: str = "s1") -> dict[str, tuple[float | None, float | None, bool]]:
    """Return (automatic score, manual score, needs manual grade) by check, as nbgrader reads them."""
    with opened(url) as gradebook:
        found = gradebook.find_submission_notebook("halve", "halve", student).grades
        return {grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade) for grade in found}


def comment(url: str, student: str = "s1") -> tuple[str | None, str | None]:
    with opened(url) as gradebook:
        found = gradebook.find_comment("halve_solution", "halve", "halve", student)
        return found.auto_comment, found.manual_comment


def grade_by_hand(url: str, name: str, **values: Any) -> None:
    """Do what formgrader does when an instructor types a score."""
    with opened(url) as gradebook:
        grade = gradebook.find_grade(name, "halve", "halve", "s1")
        for key, value in values.items():
            setattr(grade, key, value)
        grade.needs_manual_grade = False
        gradebook.db.commit()


def dump(url: str) -> str:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        return "\n".join(connection.iterdump())


# ---------------------------------------------------------------------------- written


def test_nbgrader_reads_what_was_written(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"), a_score("s2", {"halves": 1.5, "keeps_the_sign": 0.0, "is_a_float": 0.5}))
    with opened(url) as gradebook:
        assert [student.id for student in gradebook.students] == ["s1", "s2"]
        [assignment] = gradebook.assignments
        assert (assignment.name, assignment.max_score, assignment.num_submissions) == ("halve", 3.0, 2)
        [notebook] = assignment.notebooks
        assert (notebook.name, notebook.max_code_score, notebook.needs_manual_grade) == ("halve", 3.0, False)
        cells = {cell.name: (cell.max_score, cell.cell_type) for cell in notebook.grade_cells}
        assert cells == {name: (points, "code") for name, points in FULL.items()}
        assert [cell.name for cell in notebook.solution_cells] == ["halve_solution"]
        submission = gradebook.find_submission("halve", "s2")
        assert (submission.score, submission.needs_manual_grade, submission.timestamp) == (2.0, False, None)
        assert submission.notebooks[0].failed_tests
        assert not gradebook.find_submission_notebook("halve", "halve", "s1").failed_tests
    assert grades(url, "s2") == {
        "halves": (1.5, None, False),
        "keeps_the_sign": (0.0, None, False),
        "is_a_float": (0.5, None, False),
    }
    assert read_scores(url) == [
        {"student": "s1", "exercise": "halve", "score": 3.0, "max_score": 3.0, "needs_manual_grade": False},
        {"student": "s2", "exercise": "halve", "score": 2.0, "max_score": 3.0, "needs_manual_grade": False},
    ]


def test_an_empty_database_needs_no_command_on_the_path(
    url: str, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("PATH", "")
        write(url, exercise, a_score("s1"))
        assert grades(url)["halves"] == (1.5, None, False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(get_alembic_version(),)]


def test_writing_the_same_scores_again_changes_nothing(url: str, exercise: Exercise) -> None:
    scores = [a_score("s1"), unreadable("s2"), a_score("s3", {"halves": 0.0, "keeps_the_sign": 1.0, "is_a_float": 0.5})]
    write(url, exercise, *scores)
    before = dump(url)
    assert before.count('INSERT INTO "grade" ') == 9
    write(url, exercise, *scores)
    write(url, exercise, *reversed(scores))
    assert dump(url) == before


def test_a_later_score_replaces_an_earlier_one(url: str, exercise: Exercise) -> None:
    none = dict.fromkeys(FULL, 0.0)
    write(url, exercise, a_score("s1", none, status="not_started", reason="the starter, untouched"))
    assert comment(url) == ("the starter, untouched", None)
    assert grades(url) == dict.fromkeys(FULL, (0.0, None, False))
    write(url, exercise, a_score("s1", none), a_score("s2", none), a_score("s1"))  # the last one counts
    assert comment(url) == (None, None)
    assert grades(url) == {name: (points, None, False) for name, points in FULL.items()}
    assert [row["score"] for row in read_scores(url)] == [3.0, 0.0]


def test_a_submission_that_could_not_be_graded_waits_for_a_human(url: str, exercise: Exercise) -> None:
    write(url, exercise, unreadable("s1"))
    assert grades(url) == dict.fromkeys(FULL, (None, None, True))
    assert comment(url) == ("s1/halve/halve.ipynb: the file is empty", None)
    [row] = read_scores(url)
    assert (row["score"], row["needs_manual_grade"]) == (None, True)
    write(url, exercise, a_score("s1"))
    assert grades(url) == {name: (points, None, False) for name, points in FULL.items()}
    assert comment(url) == (None, None)


def test_a_check_without_a_result_waits_for_a_human(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1", {"halves": 1.5, "is_a_float": 0.5}))
    assert grades(url)["keeps_the_sign"] == (None, None, True)


def test_a_batch_is_one_transaction(url: str, exercise: Exercise) -> None:
    commits = []

    def committed(connection: object) -> None:
        commits.append(connection)

    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        event.listen(Engine, "commit", committed)
        try:
            gradebook.write([])
            assert len(commits) == 0
            gradebook.write([a_score(f"s{number:04}") for number in range(1200)])
        finally:
            event.remove(Engine, "commit", committed)
    assert len(commits) == 1
    assert [row["score"] for row in read_scores(url)] == [3.0] * 1200


def test_a_batch_with_a_fault_is_not_written_at_all(url: str, exercise: Exercise) -> None:
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        with pytest.raises(ValueError, match=r"^s2: halve has no check of_old$"):
            gradebook.write([a_score("s1"), a_score("s2", {"of_old": 1.0})])
        with pytest.raises(ValueError, match=r"^s2: a score of 'other', which is no exercise of this gradebook$"):
            gradebook.write([a_score("s1"), a_score("s2", exercise="other")])
    assert read_scores(url) == []
    with pytest.raises(ValueError, match="the gradebook is not open"):
        gradebook.write([a_score("s1")])


def test_a_batch_that_the_database_breaks_off_leaves_nothing(url: str, exercise: Exercise) -> None:
    write(url, exercise)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON comment BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        connection.commit()
    before = dump(url)
    with pytest.raises(GradebookError, match=r"gradebook\.db: the gradebook cannot be used \(disk full\)$"):
        write(url, exercise, a_score("s1"))
    assert dump(url) == before


def test_texts_that_no_database_takes_are_written_all_the_same(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s\udcff", reason="half a \ud800 character, a \0 and a 名"))
    [row] = read_scores(url)
    assert row["student"] == r"s\udcff"
    assert comment(url, r"s\udcff") == (r"half a \ud800 character, a  and a 名", None)


def test_several_exercises_share_a_gradebook(url: str, exercise: Exercise) -> None:
    double = replace(exercise, slug="double", checks=exercise.checks[:1])
    with GradebookWriter(url, {"halve": exercise, "double": double}) as gradebook:
        gradebook.write([a_score("s1"), a_score("s1", {"halves": 1.5}, exercise="double"), a_score("s2")])
    rows = [(row["student"], row["exercise"], row["score"], row["max_score"]) for row in read_scores(url)]
    assert rows == [("s1", "double", 1.5, 1.5), ("s1", "halve", 3.0, 3.0), ("s2", "halve", 3.0, 3.0)]


# -------------------------------------------------------------------- a human's marks


def test_manual_marks_stay_and_a_changed_automatic_one_asks_for_another_look(url: str, exercise: Exercise) -> None:
    lost = {**FULL, "halves": 0.0}
    write(url, exercise, a_score("s1", lost, reason="automatic"))
    grade_by_hand(url, "halves", manual_score=1.0)
    grade_by_hand(url, "is_a_float", extra_credit=0.25)
    with opened(url) as gradebook:
        gradebook.find_comment("halve_solution", "halve", "halve", "s1").manual_comment = "Well tried."
        gradebook.db.commit()
    before = dump(url)
    write(url, exercise, a_score("s1", lost, reason="automatic"))
    assert dump(url) == before

    write(url, exercise, a_score("s1", reason="other"))
    assert grades(url)["halves"] == (1.5, 1.0, True)
    assert grades(url)["keeps_the_sign"] == (1.0, None, False)
    assert comment(url) == ("other", "Well tried.")
    assert read_scores(url)[0]["score"] == 1.0 + 1.0 + 0.5 + 0.25
    before = dump(url)
    write(url, exercise, a_score("s1", reason="other"))
    assert dump(url) == before  # still waiting for that look


def test_an_unreadable_submission_that_was_graded_by_hand_stays_graded(url: str, exercise: Exercise) -> None:
    write(url, exercise, unreadable("s1"))
    for name in FULL:
        grade_by_hand(url, name, manual_score=0.5)
    before = dump(url)
    write(url, exercise, unreadable("s1"))
    assert dump(url) == before
    [row] = read_scores(url)
    assert (row["score"], row["needs_manual_grade"]) == (1.5, False)


def test_a_late_penalty_is_taken_off(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    for penalty, score in ((1.0, 2.0), (9.0, 0.0)):
        with opened(url) as gradebook:
            gradebook.find_submission_notebook("halve", "halve", "s1").late_submission_penalty = penalty
            gradebook.db.commit()
        write(url, exercise, a_score("s1"))
        assert read_scores(url)[0]["score"] == score


# ------------------------------------------------------------------- a changed exercise


def test_points_follow_the_exercise(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    first, *others = exercise.checks
    write(url, replace(exercise, checks=(replace(first, points=4.0), *others)), a_score("s1", {**FULL, "halves": 4.0}))
    assert read_scores(url)[0] == {
        "student": "s1", "exercise": "halve", "score": 5.5, "max_score": 5.5, "needs_manual_grade": False,
    }  # fmt: skip


def test_a_new_check_is_added_to_submissions_that_are_there(url: str, exercise: Exercise) -> None:
    write(url, without(exercise, "is_a_float"), a_score("s1", {"halves": 1.5, "keeps_the_sign": 1.0}))
    write(url, exercise, a_score("s1"))
    assert grades(url)["is_a_float"] == (0.5, None, False)
    with opened(url) as gradebook:
        assert gradebook.find_source_cell("is_a_float", "halve", "halve").locked
        assert len(gradebook.find_notebook("halve", "halve").source_cells) == 6


def test_a_vanished_check_is_removed(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"), a_score("s2"))
    less = without(exercise, "is_a_float")
    write(url, less, a_score("s1", {"halves": 1.5, "keeps_the_sign": 1.0}))
    for student in ("s1", "s2"):  # the second was not graded again
        assert grades(url, student).keys() == {"halves", "keeps_the_sign"}
    with opened(url) as gradebook:
        for find in (gradebook.find_grade_cell, gradebook.find_source_cell):
            with pytest.raises(MissingEntry):
                find("is_a_float", "halve", "halve")
    assert [row["max_score"] for row in read_scores(url)] == [2.5, 2.5]
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        cells = "SELECT id FROM base_cell"
        for table, column in (("grade", "cell_id"), ("grade_cells", "id")):
            orphans = connection.execute(f"SELECT * FROM {table} WHERE {column} NOT IN ({cells})").fetchall()
            assert orphans == []


@pytest.mark.parametrize("mark", ["manual_score", "extra_credit"])
def test_a_vanished_check_with_a_humans_mark_is_kept_for_it_alone(url: str, exercise: Exercise, mark: str) -> None:
    write(url, exercise, a_score("s1"), a_score("s2"))
    grade_by_hand(url, "is_a_float", **{mark: 0.4})
    less = without(exercise, "is_a_float")
    rest = {"halves": 1.5, "keeps_the_sign": 1.0}
    write(url, less, a_score("s1", rest), a_score("s2", rest), a_score("s3", rest))
    rows = [(row["student"], row["score"], row["max_score"], row["needs_manual_grade"]) for row in read_scores(url)]
    assert rows == [("s1", 2.9, 2.5, False), ("s2", 2.5, 2.5, False), ("s3", 2.5, 2.5, False)]
    kept = {"manual_score": (0.5, 0.4, False), "extra_credit": (0.0, None, False)}
    assert grades(url)["is_a_float"] == kept[mark]
    before = dump(url)
    write(url, less, a_score("s1", rest), a_score("s2", rest), a_score("s3", rest))
    assert dump(url) == before

    write(url, exercise, a_score("s1"), a_score("s2"), a_score("s3"))  # the check comes back
    assert grades(url)["is_a_float"][:2] == (0.5, 0.4 if mark == "manual_score" else None)
    assert [row["max_score"] for row in read_scores(url)] == [3.0] * 3
    assert grades(url, "s2")["is_a_float"] == (0.5, None, False)


# --------------------------------------------------------------- an assignment of nbgrader


def test_an_instructors_own_cells_and_notebooks_stay(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    with opened(url) as gradebook:
        gradebook.add_source_cell("essay", "halve", "halve", cell_type="markdown", source="Why?", locked=False)
        gradebook.add_grade_cell("essay", "halve", "halve", max_score=5.0, cell_type="markdown")
        gradebook.add_solution_cell("essay", "halve", "halve")
        source = "assert halve(8) == 4"
        gradebook.add_source_cell("own_test", "halve", "halve", cell_type="code", source=source, locked=True)
        gradebook.add_grade_cell("own_test", "halve", "halve", max_score=1.0, cell_type="code")
        gradebook.add_task_cell("task", "halve", "halve", max_score=2.0, cell_type="markdown")
        gradebook.add_notebook("second", "halve")
        gradebook.add_grade_cell("more", "second", "halve", max_score=1.0, cell_type="code")
    write(url, exercise, a_score("s1"), a_score("s2"))
    for student in ("s1", "s2"):
        waiting = dict.fromkeys(("essay", "own_test", "task"), (None, None, True))
        assert grades(url, student) == {**{name: (points, None, False) for name, points in FULL.items()}, **waiting}
        with opened(url) as gradebook:
            submission = gradebook.find_submission("halve", student)
            assert sorted(notebook.name for notebook in submission.notebooks) == ["halve", "second"]
            assert gradebook.find_grade("more", "second", "halve", student).needs_manual_grade
            assert gradebook.find_comment("essay", "halve", "halve", student).comment is None
            assert gradebook.find_comment("task", "halve", "halve", student).comment is None
    assert [(row["score"], row["max_score"]) for row in read_scores(url)] == [(3.0, 12.0), (3.0, 12.0)]
    before = dump(url)
    write(url, exercise, a_score("s1"), a_score("s2"))
    assert dump(url) == before


@pytest.mark.parametrize("first", ["nbgrader", "autograder"])
def test_generate_assignment_works_before_and_after(tmp_path: Path, first: str) -> None:
    root = tiny_exercise.write(tmp_path)
    exercise = catalog.load("halve", root)
    course = root / "build" / "course"
    files.write(course / "source" / "halve" / "halve.ipynb", source_notebook(exercise, "https://example.org/course"))
    environment = stock_environment(root, tmp_path)
    url = url_of(course / "gradebook.db")
    if first == "nbgrader":
        run_nbgrader(["generate_assignment", "halve"], root, environment)
        with opened(url) as gradebook:
            sources = {cell.name: cell.source for cell in gradebook.find_notebook("halve", "halve").source_cells}
    write(url, exercise, a_score("s1"), unreadable("s2"))
    if first == "nbgrader":
        with opened(url) as gradebook:
            kept = gradebook.find_notebook("halve", "halve")
            assert {cell.name: cell.source for cell in kept.source_cells} == sources
    grade_by_hand(url, "halves", manual_score=1.0)
    marks = grades(url), grades(url, "s2"), read_scores(url)
    run_nbgrader(["generate_assignment", "halve", "--force"], root, environment)
    assert (grades(url), grades(url, "s2"), read_scores(url)) == marks
    before = dump(url)
    write(url, exercise, a_score("s1"), unreadable("s2"))
    assert dump(url) == before


# ------------------------------------------------------------------ time of submission


def test_the_time_of_submission_is_that_of_nbgraders_file(tmp_path: Path, url: str, exercise: Exercise) -> None:
    def time_of(text: str | None) -> datetime | None:
        beside = tmp_path / "s1" / "halve" / "timestamp.txt"
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        if text is not None:
            beside.write_text(text)
        write(url, exercise, a_score("s1", path=str(beside.with_name("halve.ipynb"))))
        with opened(url) as gradebook:
            found: datetime | None = gradebook.find_submission("halve", "s1").timestamp
            return found

    assert time_of(None) is None
    assert time_of("no time at all") is None
    assert time_of("2026-11-29 10:00:00.5 UTC\n") == datetime(2026, 11, 29, 10, 0, 0, 500_000)
    assert time_of("2026-11-29T12:00:00+02:00") == datetime(2026, 11, 29, 10)
    for useless in (None, "", "ü", "9" * 90, "0001-01-01 00:00:00 +2300", "2026-11-29 10:00:00 \0"):
        assert time_of(useless) == datetime(2026, 11, 29, 10)
    (tmp_path / "elsewhere").write_text("2020-01-01 00:00:00 UTC")
    beside = tmp_path / "s1" / "halve" / "timestamp.txt"
    beside.unlink()
    beside.symlink_to(tmp_path / "elsewhere")
    write(url, exercise, a_score("s1", path=str(beside.with_name("halve.ipynb"))))
    with opened(url) as gradebook:
        assert gradebook.find_submission("halve", "s1").timestamp == datetime(2026, 11, 29, 10)


# ------------------------------------------------------------------------------- cost


def statements_of(
    url: str, exercises: dict[str, Exercise], scores: list[Score], code: str = "one"
) -> list[tuple[str, Any]]:
    """Return the statements, with their parameters, that write these scores."""
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, *_: object) -> None:
        seen.append((statement, parameters))

    with GradebookWriter(url, exercises) as gradebook:
        event.listen(Engine, "before_cursor_execute", note)
        try:
            gradebook.write(scores, {(score.student, score.exercise): code for score in scores})
        finally:
            event.remove(Engine, "before_cursor_execute", note)
    return seen


def test_no_statement_of_a_batch_reads_a_table_of_the_class_whole(url: str, exercise: Exercise) -> None:
    exercises = {"halve": exercise, "double": replace(exercise, slug="double")}
    scores = [a_score(f"s{number}", exercise=slug) for number in range(30) for slug in exercises]
    other = [replace(a_score(f"s{number}", dict.fromkeys(FULL, 0.0)), reason="other") for number in range(20, 40)]
    statements_of(url, exercises, scores)
    seen = [*statements_of(url, exercises, scores), *statements_of(url, exercises, other, "two")]
    of_a_class = "student|submitted_assignment|submitted_notebook|grade|comment|autograder_code"
    plans: list[str] = []
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        for statement, parameters in seen:
            if statement.startswith(("SELECT", "UPDATE", "DELETE")):
                row = parameters[0] if isinstance(parameters, list) else parameters
                plans += [each[3] for each in connection.execute(f"EXPLAIN QUERY PLAN {statement}", row)]
    assert [plan for plan in plans if re.match(rf"SCAN ({of_a_class})\b", plan)] == []
    for table in of_a_class.split("|"):
        assert [plan for plan in plans if re.match(rf"SEARCH {table} USING (COVERING )?INDEX ", plan)], table


def test_the_statements_of_a_batch_are_as_many_whatever_its_size(url: str, exercise: Exercise) -> None:
    exercises = {f"e{number}": replace(exercise, slug=f"e{number}") for number in range(5)}
    small = [a_score("s1", exercise=slug) for slug in exercises]
    large = [a_score(f"s{number}", exercise=slug) for number in range(80) for slug in exercises]
    statements_of(url, exercises, small)
    again = len(statements_of(url, exercises, small))
    statements_of(url, exercises, large)
    assert len(statements_of(url, exercises, large)) == again <= 30
    none = [replace(a_score(score.student, dict.fromkeys(FULL, 0.0)), exercise=score.exercise) for score in large]
    assert len(statements_of(url, exercises, none, "two")) == again + 2  # codes and grades


# ------------------------------------------------------------------------------- urls


@pytest.mark.parametrize(
    "name",
    ["plain.db", "a b.db", "ü ñ.db", "what?.db", "50%.db", "%3F.db", "a#b.db", "a+b.db", "c:d.db", "caf\udce9.db"],
)
def test_a_path_with_odd_characters_works_for_nbgrader_too(tmp_path: Path, exercise: Exercise, name: str) -> None:
    path = tmp_path / name
    url = url_of(path)
    assert url.isascii()
    write(url, exercise, a_score("s1"))
    assert path.stat().st_size > 0
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert grades(url)["halves"] == (1.5, None, False)
    assert read_scores(url)[0]["score"] == 3.0


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert url_of(Path("gradebook.db")) == f"sqlite:///{tmp_path}/gradebook.db"


# ----------------------------------------------------------------------------- errors


def refusal(url: str, exercise: Exercise) -> str:
    """Return the one sentence with which a gradebook is refused."""
    with pytest.raises(GradebookError) as caught:
        write(url, exercise, a_score("s1"))
    assert isinstance(caught.value, CourseError)
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_gradebook_that_cannot_be_opened_is_named(tmp_path: Path, exercise: Exercise) -> None:
    sentence = "the gradebook cannot be opened; its folder must exist and be writable"
    for path in (tmp_path / "missing" / "gradebook.db", tmp_path, tmp_path / "what?" / "gradebook.db"):
        assert refusal(url_of(path), exercise) == f"{path}: {sentence}"
        with pytest.raises(GradebookError, match=re.escape(f"{path}: the gradebook cannot be ")):
            read_scores(url_of(path))


def test_a_gradebook_that_may_not_be_written_is_named(tmp_path: Path, url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s0"))
    path = tmp_path / "gradebook.db"
    read_only = f"sqlite:///file:{path}?mode=ro&uri=true"
    sentence = "the gradebook cannot be written; make the file and its folder writable"
    assert refusal(read_only, exercise) == f"{path}: {sentence}"
    assert read_scores(read_only) == read_scores(url)


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, exercise: Exercise) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("student,score\n" * 100)
    said = refusal(url_of(path), exercise)
    assert said.startswith(f"{path}: this file is no database; choose another gradebook (nothing was changed). ")
    assert path.read_text() == "student,score\n" * 100


def test_a_database_of_something_else_is_left_alone(tmp_path: Path, url: str, exercise: Exercise) -> None:
    with closing(sqlite3.connect(tmp_path / "gradebook.db")) as connection:
        connection.execute("CREATE TABLE student (id INTEGER, name TEXT)")
        connection.commit()
    before = dump(url)
    why = "a database, but not one of this nbgrader's gradebooks"
    assert refusal(url, exercise) == (
        f"{tmp_path / 'gradebook.db'}: {why}: it has no course.id; choose another gradebook"
    )
    assert dump(url) == before
    with pytest.raises(GradebookError, match="choose another gradebook"):
        read_scores(url)


def test_a_gradebook_of_an_older_nbgrader_is_named_with_the_command(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("ALTER TABLE grade DROP COLUMN extra_credit")
        connection.commit()
    assert refusal(url, exercise).endswith(
        "it has no grade.extra_credit; bring it up to date with `nbgrader db upgrade`"
    )


def test_a_locked_gradebook_is_waited_for(
    tmp_path: Path, url: str, exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(url, exercise, a_score("s1"))
    before = dump(url)
    monkeypatch.setattr(gradebook_db, "WAIT_S", 0.05)
    with closing(sqlite3.connect(tmp_path / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert refusal(url, exercise) == (
            f"{tmp_path / 'gradebook.db'}: another program has been writing to this gradebook for 0.05 s; "
            "let it end, then run this again"
        )
        other.execute("ROLLBACK")
        with GradebookWriter(url, {"halve": exercise}) as gradebook:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(GradebookError, match="another program has been writing"):
                gradebook.write([a_score("s2")])
            other.execute("ROLLBACK")
            assert dump(url) == before
            gradebook.write([a_score("s2")])  # the writer is none the worse for it
    assert [row["student"] for row in read_scores(url)] == ["s1", "s2"]


def test_nobody_writes_between_our_reading_and_our_writing(tmp_path: Path, url: str, exercise: Exercise) -> None:
    refused = []

    def intrude(connection: Any, cursor: Any, statement: str, *_: object) -> None:
        if "FROM grade" in statement:
            with closing(sqlite3.connect(tmp_path / "gradebook.db", isolation_level=None, timeout=0)) as other:
                try:
                    other.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    refused.append(str(error))

    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        event.listen(Engine, "after_cursor_execute", intrude)
        try:
            gradebook.write([a_score("s1")])  # nothing changes, so that reading is all there is
        finally:
            event.remove(Engine, "after_cursor_execute", intrude)
    assert set(refused) == {"database is locked"}


def test_a_lock_that_is_released_in_time_costs_nothing(tmp_path: Path, url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    with closing(sqlite3.connect(tmp_path / "gradebook.db", isolation_level=None)) as other:
        with GradebookWriter(url, {"halve": exercise}) as gradebook:
            other.execute("BEGIN IMMEDIATE")
            waiting = []

            def release(*_: object) -> None:
                waiting.append(1)
                other.execute("ROLLBACK")

            # Our connection asks for the lock; the other one lets go just before.
            event.listen(Engine, "begin", release, once=True)
            gradebook.write([a_score("s2")])
        assert waiting == [1]
    assert [row["student"] for row in read_scores(url)] == ["s1", "s2"]


@pytest.mark.parametrize(
    "url",
    ["gradebook.db", "", "nonsense://teacher:hunter2@host/x", "postgresql+psycopg://teacher:hunter2@host:port/x"],
)
def test_a_url_that_is_none_is_not_repeated_since_it_may_hold_a_password(url: str, exercise: Exercise) -> None:
    assert refusal(url, exercise) == (
        "the gradebook's URL cannot be understood; "
        "it looks like sqlite:////home/me/gradebook.db or postgresql+psycopg://user@host/name"
    )


def test_a_missing_driver_is_named(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert refusal("postgresql+psycopg://teacher:hunter2@host/x", exercise) == (
        "this gradebook's database needs the Python package psycopg; install it"
    )


def test_reading_makes_no_file(tmp_path: Path, url: str) -> None:
    with pytest.raises(GradebookError, match="cannot be opened"):
        read_scores(url)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------- runs after others


def write_code(url: str, exercise: Exercise, score: Score, code: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Write a score of that code; return where a mark given by hand waits for another look."""
    with GradebookWriter(url, {exercise.slug: exercise}) as gradebook:
        gradebook.write([score], {(score.student, score.exercise): code})
        return gradebook.look_again([score])


def test_other_code_asks_for_another_look_at_what_a_human_gave_and_changes_nothing_of_it(
    url: str, exercise: Exercise
) -> None:
    assert write_code(url, exercise, a_score("s1"), "one") == {}
    assert write_code(url, exercise, a_score("s2"), "one") == {}
    grade_by_hand(url, "halves", manual_score=1.0)
    grade_by_hand(url, "is_a_float", extra_credit=0.25)
    with opened(url) as gradebook:
        gradebook.find_comment("halve_solution", "halve", "halve", "s1").manual_comment = "Well tried."
        gradebook.db.commit()
    before = dump(url)
    assert write_code(url, exercise, a_score("s1"), "one") == {}
    assert dump(url) == before

    expected = {("s1", "halve"): ("halves", "is_a_float")}
    assert write_code(url, exercise, a_score("s1"), "two") == expected  # the same marks, by other code
    assert grades(url) == {
        "halves": (1.5, 1.0, True),
        "keeps_the_sign": (1.0, None, False),
        "is_a_float": (0.5, None, True),
    }
    with opened(url) as gradebook:
        assert gradebook.find_grade("is_a_float", "halve", "halve", "s1").extra_credit == 0.25
        assert gradebook.find_submission("halve", "s1").needs_manual_grade
    assert comment(url) == (None, "Well tried.")
    before = dump(url)
    assert write_code(url, exercise, a_score("s1"), "two") == expected  # still waiting, and not more
    assert dump(url) == before
    assert write_code(url, exercise, a_score("s2"), "two") == {}

    grade_by_hand(url, "halves")  # the instructor looks at one of them, and saves it
    assert write_code(url, exercise, a_score("s1"), "two") == {("s1", "halve"): ("is_a_float",)}
    grade_by_hand(url, "is_a_float")
    assert write_code(url, exercise, a_score("s1"), "two") == {}
    assert set(write_code(url, exercise, a_score("s1"), "one")) == {("s1", "halve")}


def test_other_code_asks_for_another_look_at_an_instructors_own_cells(url: str, exercise: Exercise) -> None:
    write_code(url, exercise, a_score("s1"), "one")
    with opened(url) as gradebook:
        gradebook.add_grade_cell("style", "halve", "halve", max_score=2.0, cell_type="code")
    write_code(url, exercise, a_score("s1"), "one")
    grade_by_hand(url, "style", manual_score=2.0)
    assert write_code(url, exercise, a_score("s1"), "one") == {}
    assert write_code(url, exercise, a_score("s1"), "two") == {("s1", "halve"): ("style",)}
    assert grades(url)["style"] == (None, 2.0, True)


def test_code_that_nothing_is_known_of_asks_for_nothing(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"))
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("DROP TABLE autograder_code")  # a gradebook of before, or of nbgrader alone
        connection.commit()
    grade_by_hand(url, "halves", manual_score=1.0)
    assert write_code(url, exercise, a_score("s1"), "one") == {}
    write(url, exercise, a_score("s1"))
    assert write_code(url, exercise, a_score("s1"), "two") == {("s1", "halve"): ("halves",)}


# ------------------------------------------------------------------------ final marks


def finals(url: str, exercise: Exercise, *scores: Score) -> dict[str, float]:
    """Return the marks that the checks alone do not explain, by student, once the scores are written."""
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write(scores)
        found = gradebook.final_scores(scores)
        assert gradebook.look_again(scores).keys() <= {(score.student, "halve") for score in scores}
        assert gradebook.fingerprint()  # as a run asks, one after the other on one connection
        return {scores[n].student: final for n, final in found.items()}


def by_nbgrader(url: str) -> dict[str, float]:
    """Return each student's mark as nbgrader computes and exports it."""
    with opened(url) as gradebook:
        found = gradebook.assignment_submissions("halve")
        return {one.student_id: max(0.0, one.score - one.late_submission_penalty) for one in found}


def set_penalty(url: str, student: str, points: float) -> None:
    with opened(url) as gradebook:
        gradebook.find_submission_notebook("halve", "halve", student).late_submission_penalty = points
        gradebook.db.commit()


def mark_like_a_human(url: str) -> dict[str, float]:
    """Give points in every way there is, to seven of nine; return what their marks come to."""
    with opened(url) as gradebook:
        gradebook.add_grade_cell("style", "halve", "halve", max_score=2.0, cell_type="code")
        for student, cell, values in (
            ("less", "halves", {"manual_score": 0.5}),
            ("same", "halves", {"manual_score": 1.5}),
            ("extra", "is_a_float", {"extra_credit": 0.25}),
            ("both", "keeps_the_sign", {"manual_score": 0.0, "extra_credit": 0.125}),
            ("lost", "halves", {"manual_score": 1.0}),
            ("empty", "halves", {"extra_credit": 0.75}),
        ):
            for name, value in values.items():
                setattr(gradebook.find_grade(cell, "halve", "halve", student), name, value)
        gradebook.find_comment("halve_solution", "halve", "halve", "plain").manual_comment = "Well done."
        gradebook.db.commit()
    set_penalty(url, "late", 0.5)
    set_penalty(url, "too late", 4.0)
    return {"less": 2.0, "same": 3.0, "extra": 3.25, "both": 2.125, "lost": 1.0, "late": 2.5, "too late": 0.0}


HANDED_IN = [a_score(name) for name in ("plain", "less", "same", "extra", "both", "late", "too late")]
HANDED_IN += [unreadable("lost"), unreadable("empty")]


def test_marks_that_the_checks_alone_did_not_give_are_those_of_nbgrader(url: str, exercise: Exercise) -> None:
    assert finals(url, exercise, *HANDED_IN) == {}
    expected = mark_like_a_human(url)
    assert finals(url, exercise, *HANDED_IN) == expected
    nbgrader, exported = by_nbgrader(url), {row["student"]: row["score"] for row in read_scores(url)}
    assert {name: nbgrader[name] for name in expected} == expected
    assert {name: exported[name] for name in expected} == expected
    assert exported["empty"] is None  # extra credit on nothing is nothing, to nbgrader as well
    assert nbgrader["plain"] == exported["plain"] == 3.0


def test_an_instructors_own_cell_counts_whoever_gave_its_points(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"), a_score("s2"))
    with opened(url) as gradebook:
        gradebook.add_grade_cell("style", "halve", "halve", max_score=2.0, cell_type="code")
    assert finals(url, exercise, a_score("s1"), a_score("s2")) == {}
    with opened(url) as gradebook:
        gradebook.find_grade("style", "halve", "halve", "s2").auto_score = 1.0
        gradebook.db.commit()
    grade_by_hand(url, "style", manual_score=2.0)
    assert finals(url, exercise, a_score("s1"), a_score("s2")) == {"s1": 5.0, "s2": 4.0}


def test_of_several_scores_the_last_has_the_mark_and_others_work_is_passed_over(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s1"), a_score("s2"))
    grade_by_hand(url, "halves", manual_score=0.5)
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        assert gradebook.final_scores([a_score("s1"), a_score("s2"), a_score("s1")]) == {2: 2.0}
        assert gradebook.final_scores([a_score("s2")]) == {}


def test_more_marks_than_one_statement_takes(url: str, exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [a_score(f"s{n}") for n in range(23)]
    write(url, exercise, *scores)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("UPDATE grade SET extra_credit = 0.5")
        connection.commit()
    monkeypatch.setattr(gradebook_final, "_CHUNK", 5)
    assert finals(url, exercise, *scores) == {f"s{n}": 4.5 for n in range(23)}


# ----------------------------------------------------------------------------- changes


def test_before_the_first_change_somebody_is_told_and_not_when_nothing_changes(url: str, exercise: Exercise) -> None:
    told: list[tuple[Path | None, list[str]]] = []

    def tell(path: Path | None) -> None:
        told.append((path, [row["student"] for row in read_scores(url)] if path and path.stat().st_size else []))

    def run(*scores: Score) -> None:
        with GradebookWriter(url, {"halve": exercise}, tell) as gradebook:
            for score in scores:
                gradebook.write([score])

    path = Path(url.removeprefix("sqlite:///"))
    run(a_score("s1"), a_score("s2"))
    run(a_score("s1"), a_score("s2"))
    run(a_score("s1"), a_score("s2"), a_score("s3"), a_score("s4"))
    assert told == [(path, []), (path, ["s1", "s2"])]

    def refuse(path: Path | None) -> None:
        raise GradebookError("no room for a copy")

    before = dump(url)
    with (
        pytest.raises(GradebookError, match="no room"),
        GradebookWriter(url, {"halve": exercise}, refuse) as gradebook,
    ):
        gradebook.write([a_score("s9")])
    assert dump(url) == before


@pytest.mark.parametrize("replaced", [False, True])
def test_a_gradebook_that_goes_away_is_missed(url: str, exercise: Exercise, replaced: bool) -> None:
    path = Path(url.removeprefix("sqlite:///"))
    with GradebookWriter(url, {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        path.rename(path.with_name("away.db"))
        if replaced:
            path.write_bytes(path.with_name("away.db").read_bytes())
        with pytest.raises(GradebookError, match="the gradebook was removed or replaced while it was written"):
            gradebook.write([a_score("s2")])
    assert [row["student"] for row in read_scores(url_of(path.with_name("away.db")))] == ["s1"]
    assert path.exists() is replaced


def test_a_full_disk_is_named(url: str, exercise: Exercise) -> None:
    write(url, exercise, a_score("s0"))
    before = dump(url)
    with GradebookWriter(url, {"halve": exercise}) as gradebook:

        def no_more_pages(connection: Any, *_: object) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")

        engine = gradebook._engine
        assert engine is not None
        engine.dispose()
        event.listen(engine, "connect", no_more_pages)
        with pytest.raises(GradebookError, match=r"gradebook\.db: the disk is full; make room, then run this again$"):
            gradebook.write([a_score(f"s{number:04}") for number in range(1000)])
    assert dump(url) == before
