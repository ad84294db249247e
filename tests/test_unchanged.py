"""Unchanged work costs a look at it: nothing is started, computed or written; and what changed is found."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_exercise
from nbgrader.api import Gradebook
from stand_in import Threads

from autograder import catalog, pipeline, worker
from autograder.attempt import ungraded
from autograder.collect import handed_in
from autograder.gradebook import GradebookWriter, read_scores, url_of
from autograder.models import Exercise, Reference, Score, Submission
from autograder.notebooks import submission_notebook
from autograder.pipeline import Class, Graded, Output, grade_class
from autograder.plan import Plan, Prospect
from autograder.reference.device import foreseen_reference, live_reference
from autograder.reference.expectations import Expectations, Seed

RIGHT = "def halve(x):\n    return x / 2\n"
STUDENTS = ("ada", "ben", "cy")
SLUGS = ("halve", "share")


class Told(Prospect):
    """Plans that need no reference."""

    def plans(self) -> dict[str, Plan]:
        return {slug: Plan(one, Expectations(self.seed.id, self.reference, {})) for slug, one in self.exercises.items()}


class School:
    """A course of two exercises, a class, and what a run over it did."""

    def __init__(self, folder: Path) -> None:
        self.root, self.tree = tiny_exercise.write(folder / "course"), folder / "in"
        self.out = Output(folder / "out", url_of(folder / "out" / "gradebook.db"))
        for path in [*(self.root / "exercises/halve").rglob("*.*"), self.root / "solutions/halve.py"]:
            copy = self.root / path.relative_to(self.root).as_posix().replace("halve", "share")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(path.read_text().replace("halve", "share"))
        for student in STUDENTS:
            for slug, exercise in self.exercises().items():
                self.hand_in(student, slug, submission_notebook(exercise, RIGHT))
        self.ran: list[str] = []
        self.rows: Sequence[Any] = []
        self.seen: list[Graded] = []
        self.look_again: dict[Any, Any] = {}

    def exercises(self, slugs: Sequence[str] = SLUGS) -> dict[str, Exercise]:
        return {slug: catalog.load(slug, self.root) for slug in slugs}

    def hand_in(self, student: str, slug: str, text: str) -> None:
        path = self.tree / student / slug / f"{slug}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def grade(self, workers: Class, slugs: Sequence[str] = SLUGS, **more: Any) -> list[str]:
        """Grade the class; return who was graded anew, as student/exercise."""
        self.ran.clear()
        self.seen.clear()
        self.look_again.clear()
        plans = Told(self.exercises(slugs), Seed("seed:1"), Reference("x", "cpu", "2"))
        work = handed_in(self.tree, slugs)
        self.rows = grade_class(
            workers, work, plans, self.out, on_result=self.seen.append, on_look_again=self.look_again.update, **more
        )
        return sorted(self.ran)

    def files(self) -> Mapping[str, tuple[int, int]]:
        """Return each file that a run leaves, with its number and time."""
        return {
            str(path): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in self.out.folder.rglob("*")
            if path.is_file() and not path.name.endswith(".lock")
        }


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> School:
    made = School(tmp_path)

    def grade(plan: Plan, submission: Submission, cage: Any, lost: int = 0) -> Score:
        if submission.unreadable:
            return ungraded(plan, submission, submission.unreadable)
        made.ran.append(f"{submission.student}/{submission.exercise}")
        blank = ungraded(plan, submission, "")
        checks = tuple(replace(check, status="passed", earned=check.points) for check in blank.checks)
        return replace(blank, status="graded", score=blank.max_score, checks=checks, sandbox=("bubblewrap",))

    monkeypatch.setattr(worker, "grade_one", grade)
    return made


@pytest.fixture
def workers() -> Iterator[Class]:
    with Threads() as started:
        yield started


class Idle(Class):
    """Workers that must not be needed."""

    def start(self) -> None:
        raise AssertionError("a worker was started")


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Class]:
    """Return workers that must not start, while no gradebook may be opened."""

    def opened(self: GradebookWriter) -> GradebookWriter:
        raise AssertionError("the gradebook was opened")

    monkeypatch.setattr(GradebookWriter, "__enter__", opened)
    with Idle(workers=2) as started:
        yield started


def test_nothing_is_started_opened_or_written_for_an_unchanged_class(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    assert len(school.grade(workers)) == 6
    rows, before = school.rows, school.files()
    idle = request.getfixturevalue("idle")
    assert school.grade(idle) == []
    assert school.rows == rows
    assert [one.reused for one in school.seen] == [True] * 6
    assert school.files() == before


def test_records_can_be_read_of_what_was_not_graded_again(school: School, workers: Class):
    school.grade(workers)
    lines = (school.out.folder / pipeline.RECORDS).read_bytes().splitlines()
    found: list[bytes] = []
    plans = Told(school.exercises(), Seed("seed:1"), Reference("x", "cpu", "2"))
    work = handed_in(school.tree, SLUGS)
    grade_class(workers, work, plans, school.out, on_result=lambda one: found.append(one.record()))
    assert found == lines


def test_only_the_exercise_whose_checks_were_edited_is_graded_again(school: School, workers: Class):
    school.grade(workers)
    lines = (school.out.folder / pipeline.RECORDS).read_bytes().splitlines()
    checks = school.root / "exercises/share/checks.py"
    checks.write_text(checks.read_text().replace("1.5", "2.5"))
    assert school.grade(workers) == ["ada/share", "ben/share", "cy/share"]
    assert {(row.exercise, row.max_score) for row in school.rows} == {("halve", 3.0), ("share", 4.0)}
    again = (school.out.folder / pipeline.RECORDS).read_bytes().splitlines()
    assert [one == other for one, other in zip(lines, again, strict=True)] == [True, False] * 3
    book = {(row["student"], row["exercise"]): row["score"] for row in read_scores(school.out.gradebook)}
    assert book == {(student, slug): 3.0 + (slug == "share") for student in STUDENTS for slug in SLUGS}
    assert school.grade(workers) == []


def test_only_what_was_handed_in_anew_is_graded_and_everything_says_so(school: School, workers: Class):
    school.grade(workers)
    exercise = school.exercises()["halve"]
    school.hand_in("ben", "halve", submission_notebook(exercise, RIGHT + "# again\n"))
    school.hand_in("dan", "halve", submission_notebook(exercise, RIGHT))
    assert school.grade(workers) == ["ben/halve", "dan/halve"]
    assert len(school.rows) == 7
    assert "dan" in school.out.report.read_text()
    assert "dan,halve" in (school.out.folder / pipeline.CSV).read_text()
    assert len(read_scores(school.out.gradebook)) == 7


def test_who_handed_in_nothing_any_more_is_in_no_table(school: School, workers: Class):
    school.grade(workers)
    for slug in SLUGS:
        (school.tree / "cy" / slug / f"{slug}.ipynb").unlink()
        (school.tree / "cy" / slug).rmdir()
    assert school.grade(workers) == []
    assert "cy," not in (school.out.folder / pipeline.CSV).read_text()
    assert (school.out.folder / pipeline.RECORDS).read_text().count("\n") == 4


def test_a_damaged_file_that_stays_as_it_is_starts_nothing(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    school.hand_in("ben", "halve", "{")
    school.grade(workers)
    before = school.files()
    assert school.grade(request.getfixturevalue("idle")) == []
    assert [row.status for row in school.rows].count("unreadable") == 1
    assert school.files() == before


def test_a_mark_given_by_hand_is_kept_and_looked_at_once(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    school.grade(workers)
    with Gradebook(school.out.gradebook) as gradebook:
        for student in ("ada", "ben"):
            gradebook.find_grade("halves", "halve", "halve", student).manual_score = 0.5
        gradebook.db.commit()
    exercise = school.exercises()["halve"]
    school.hand_in("ada", "halve", submission_notebook(exercise, RIGHT + "print()\n"))
    assert school.grade(workers) == ["ada/halve"]
    assert school.look_again == {("ada", "halve"): ("halves",)}
    assert school.grade(request.getfixturevalue("idle")) == []
    assert school.look_again == {("ada", "halve"): ("halves",)}  # still, and known without the gradebook


def test_a_gradebook_that_another_wrote_to_is_compared_and_brought_up_to_date(school: School, workers: Class):
    school.grade(workers)
    with closing(sqlite3.connect(school.out.folder / "gradebook.db")) as connection:
        connection.execute("UPDATE grade SET auto_score = 0.0")
        connection.commit()
    assert school.grade(workers) == []
    assert {row["score"] for row in read_scores(school.out.gradebook)} == {3.0}


@pytest.mark.parametrize(
    "name", ["gradebook.db", "records.jsonl", "grades.csv", "report/index.html", ".graded.json", ".graded.index"]
)
def test_what_was_removed_is_made_again(school: School, workers: Class, name: str):
    school.grade(workers)
    (school.out.folder / name).unlink()
    school.grade(workers)
    assert (school.out.folder / name).is_file()
    assert len(read_scores(school.out.gradebook)) == 6
    before = school.files()
    assert school.grade(workers) == []
    assert school.files() == before


def test_a_change_that_waits_in_a_log_beside_the_gradebook_is_not_overlooked(school: School, workers: Class):
    school.grade(workers)
    file = school.out.folder / "gradebook.db"
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    school.grade(workers)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        at = file.stat().st_mtime_ns, file.stat().st_size
        connection.execute("UPDATE grade SET auto_score = 0.0")
        assert (file.stat().st_mtime_ns, file.stat().st_size) == at
        assert school.grade(workers) == []
        assert {row["score"] for row in read_scores(school.out.gradebook)} == {3.0}


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff", b'{"student": "ada"}'])
def test_a_record_that_does_not_read_back_is_graded_again(school: School, workers: Class, damage: bytes):
    school.grade(workers)
    path = school.out.folder / pipeline.RECORDS
    lines = path.read_bytes().splitlines()
    lines[2] = damage or lines[2].replace(b'"points"', b'"paints"')
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert school.grade(workers) == ["ben/halve"]
    assert len(school.rows) == 6


def test_an_exercise_that_is_new_in_the_course_reaches_the_report(school: School, workers: Class):
    school.grade(workers)
    for path in [*(school.root / "exercises/halve").rglob("*.*"), school.root / "solutions/halve.py"]:
        copy = school.root / path.relative_to(school.root).as_posix().replace("halve", "third")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text().replace("halve", "third").replace("Halve a number", "The third one"))
    assert "The third one" not in school.out.report.read_text()
    assert school.grade(workers, slugs=(*SLUGS, "third")) == []
    assert "The third one" in school.out.report.read_text()


# ----------------------------------------------------------------- what is not imported

CODE = """
import sys
from pathlib import Path
from autograder.commands.grade import Options, run
folder = Path(sys.argv[1])
status = run(Options(folder / "in", folder / "out", "", 2, 1, False, False, False, (), False, ""))
print(status, *sorted({"torch", "numpy", "sqlalchemy", "nbgrader", "jinja2"} & set(sys.modules)))
"""


@pytest.mark.needs("bubblewrap")
def test_a_second_run_of_the_command_imports_neither_torch_nor_the_gradebook(course: Path, tmp_path: Path):
    exercise = catalog.load("double", course)
    path = tmp_path / "in" / "ada" / "double" / "double.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(submission_notebook(exercise, exercise.solution))
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", CODE, str(tmp_path)],
            capture_output=True, text=True, check=True, env={**os.environ, catalog.ROOT_VARIABLE: str(course)},
        )  # fmt: skip
        said.append(done.stdout.splitlines())
    assert {"torch", "sqlalchemy"} <= set(said[0][-1].split())
    assert said[1][-1] == "0"
    assert "1 of them unchanged" in said[1][-3]


def test_the_reference_is_foreseen_as_it_will_be():
    code = "from autograder.reference.device import *; import sys; print(foreseen_reference(), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    reference = live_reference()
    assert done.stdout.startswith(f"{reference} ")
    assert done.stdout.endswith("False\n") or any(name.startswith("nvidia") for name in os.listdir("/dev"))
    assert foreseen_reference() == reference


# ------------------------------------------------------------------- without feedback


def test_without_feedback_there_are_marks_and_no_page_of_before_or_now(school: School, workers: Class):
    def pages(kind: str) -> list[str]:
        return sorted(
            path.name for path in (school.out.folder / kind).rglob("*.*") if path.suffix in (".html", ".ipynb")
        )

    school.grade(workers)
    marked, made = pages("autograded"), pages("feedback")
    assert len(marked) == len(made) == 6
    linked = school.out.report.read_text().count(".html")
    school.out = replace(school.out, with_feedback=False)
    assert len(school.grade(workers, force=True)) == 6
    assert (pages("feedback"), pages("autograded")) == ([], marked)
    assert school.out.report.read_text().count(".html") == linked - 6
    assert school.grade(workers) == []
    school.out = replace(school.out, with_feedback=True)
    assert school.grade(workers) == []  # nothing is run for pages alone
    assert pages("feedback") == made
