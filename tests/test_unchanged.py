"""Unchanged work costs a look at it: nothing is started, computed or written; and what changed is found."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
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
from autograder.report.terminal import by_hand_text, class_table

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

    def start(self, at_least: int = 0) -> None:
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


def marks(school: School) -> dict[str, tuple[str, str]]:
    """Return (score, final_score) by student and exercise, as grades.csv has them."""
    with (school.out.folder / pipeline.CSV).open(encoding="utf-8", newline="") as stream:
        return {
            f"{row['student']}/{row['exercise']}": (row["score"], row["final_score"]) for row in csv.DictReader(stream)
        }


def give(school: School, student: str, **values: float | None) -> None:
    with Gradebook(school.out.gradebook) as gradebook:
        grade = gradebook.find_grade("halves", "halve", "halve", student)
        for name, value in values.items():
            setattr(grade, name, value)
        gradebook.db.commit()


def test_a_mark_given_by_hand_reaches_the_tables_and_costs_an_unchanged_class_nothing(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    (school.tree / "cy" / "halve" / "halve.ipynb").write_text("damaged")
    school.grade(workers)
    untouched = {name: marks(school)[name] for name in ("ben/halve", "ben/share", "ada/share")}
    assert set(untouched.values()) == {("3", "3")}
    assert marks(school)["cy/halve"] == ("", "")
    give(school, "ada", manual_score=0.5, extra_credit=0.25)
    give(school, "cy", manual_score=1.25)
    assert school.grade(workers) == []
    expected = {**untouched, "ada/halve": ("3", "2.25"), "cy/halve": ("", "1.25"), "cy/share": ("3", "3")}
    assert marks(school) == expected
    report = school.out.report.read_text()
    assert '>by hand</span><br><span class="own">checks: 3<' in report
    assert '>by hand</span><br><span class="own">checks: –<' in report
    table = class_table(school.rows)
    assert "by hand 2.25/3 " in table
    assert "by hand 1.25/3 " in table
    assert table.count("by hand") == 2
    assert by_hand_text(school.rows).startswith("2 marks are the gradebook's own")

    before = school.files()
    assert school.grade(request.getfixturevalue("idle")) == []
    assert school.files() == before
    assert class_table(school.rows) == table  # of the damaged file as well, which is read again


def test_a_mark_that_a_human_took_back_is_the_checks_again(school: School, workers: Class):
    school.grade(workers)
    give(school, "ada", manual_score=0.5)
    school.grade(workers)
    assert marks(school)["ada/halve"] == ("3", "2")
    school.grade(workers, force=True)
    assert marks(school)["ada/halve"] == ("3", "2")
    give(school, "ada", manual_score=None)
    school.grade(workers)
    assert marks(school)["ada/halve"] == ("3", "3")
    assert by_hand_text(school.rows) == ""
    assert "by hand" not in class_table(school.rows)


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


def pages(school: School, kind: str = "feedback") -> list[str]:
    """Return whose pages there are, as student/exercise."""
    return sorted(
        str(path.parent.relative_to(school.out.folder / kind)) for path in school.out.folder.glob(PAGES[kind])
    )


def linked(school: School) -> list[str]:
    """Return whose pages the class report links to, as student/exercise."""
    found = re.findall(r'href="\.\./feedback/([^/"]+/[^/"]+)/', school.out.report.read_text())
    return sorted(set(found))


PAGES = {"feedback": "feedback/*/*/*.html", "autograded": "autograded/*/*/*.ipynb"}
ALL = sorted(f"{student}/{slug}" for student in STUDENTS for slug in SLUGS)


def without(school: School) -> None:
    school.out = replace(school.out, with_feedback=False)


def with_pages(school: School) -> None:
    school.out = replace(school.out, with_feedback=True)


def interrupted(school: School, workers: Class, after: int) -> None:
    """Start a run that ends, as if it were killed, once so many results are there."""
    arrived = 0

    def told(graded: Graded) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == after:
            raise KeyboardInterrupt

    plans = Told(school.exercises(), Seed("seed:1"), Reference("x", "cpu", "2"))
    with pytest.raises(KeyboardInterrupt):
        grade_class(workers, handed_in(school.tree, SLUGS), plans, school.out, on_result=told)


def test_a_class_graded_without_feedback_has_marks_and_no_page(school: School, workers: Class):
    without(school)
    assert school.grade(workers) == ALL
    assert pages(school, "autograded") == ALL
    assert not (school.out.folder / "feedback").exists()
    assert linked(school) == []


def test_an_unchanged_class_without_feedback_costs_nothing_and_keeps_its_pages(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    school.grade(workers)
    before = school.files()
    idle = request.getfixturevalue("idle")
    without(school)
    assert school.grade(idle) == []
    assert school.files() == before
    with_pages(school)
    assert school.grade(idle) == []
    assert school.files() == before


def test_a_class_graded_without_feedback_that_is_unchanged_costs_nothing(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    without(school)
    school.grade(workers)
    before = school.files()
    assert school.grade(request.getfixturevalue("idle")) == []
    assert school.files() == before


def test_without_feedback_the_page_of_what_is_graded_anew_alone_is_removed(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    school.grade(workers)
    before = school.files()
    without(school)
    school.hand_in("ben", "halve", submission_notebook(school.exercises()["halve"], RIGHT + "# again\n"))
    assert school.grade(workers) == ["ben/halve"]
    rest = [one for one in ALL if one != "ben/halve"]
    assert pages(school) == rest
    assert linked(school) == rest
    assert pages(school, "autograded") == ALL
    kept = {name: at for name, at in before.items() if "/feedback/" in name and "/ben/halve/" not in name}
    assert kept.items() <= school.files().items()
    # The next run makes what is missing, and runs nothing.
    with_pages(school)
    assert school.grade(workers) == []
    assert pages(school) == linked(school) == ALL
    assert {item for item in kept.items() if item[0].endswith(".html")} <= school.files().items()
    after = school.files()
    assert school.grade(request.getfixturevalue("idle")) == []
    assert school.files() == after


def test_without_feedback_no_page_outlives_a_forced_run(school: School, workers: Class):
    school.grade(workers)
    without(school)
    assert school.grade(workers, force=True) == ALL
    assert (pages(school), pages(school, "autograded"), linked(school)) == ([], ALL, [])
    with_pages(school)
    assert school.grade(workers) == []  # nothing is run for pages alone
    assert pages(school) == linked(school) == ALL


@pytest.mark.parametrize("damaged", [False, True])
def test_a_notebook_that_is_made_again_costs_no_page(school: School, workers: Class, damaged: bool):
    if damaged:
        school.hand_in("ben", "halve", "{")
    school.grade(workers)
    without(school)
    (school.out.folder / "autograded/ben/halve/halve.ipynb").unlink()
    assert school.grade(workers) == []
    assert [one.reused for one in school.seen] == [True] * 6
    assert pages(school) == pages(school, "autograded") == linked(school) == ALL


@pytest.mark.parametrize("reason", ["version", "book", "boot"])
def test_pages_that_are_no_longer_right_stay_known_as_such(
    school: School, workers: Class, monkeypatch: pytest.MonkeyPatch, reason: str
):
    school.grade(workers)
    stale = "<p>of before</p>"
    for path in school.out.folder.glob(PAGES["feedback"]):
        path.write_text(stale)
    if reason == "version":
        monkeypatch.setattr(pipeline, "__version__", "9.9.9")
    elif reason == "book":
        school.out = replace(school.out, book="https://book.test/elsewhere")
    else:
        monkeypatch.setattr(pipeline, "_boot", lambda: "another")
    without(school)
    assert school.grade(workers) == []
    assert school.grade(workers) == []
    assert {path.read_text() for path in school.out.folder.glob(PAGES["feedback"])} == {stale}
    with_pages(school)
    assert school.grade(workers) == []
    texts = [path.read_text() for path in school.out.folder.glob(PAGES["feedback"])]
    assert len(texts) == 6
    assert stale not in texts


def test_notebooks_that_are_no_longer_right_are_made_again_without_feedback(
    school: School, workers: Class, monkeypatch: pytest.MonkeyPatch
):
    school.grade(workers)
    for path in school.out.folder.glob(PAGES["autograded"]):
        path.write_text("{}")
    without(school)
    monkeypatch.setattr(pipeline, "_boot", lambda: "another")
    assert school.grade(workers) == []
    assert {len(path.read_text()) > 2 for path in school.out.folder.glob(PAGES["autograded"])} == {True}


def test_pages_of_an_interrupted_run_are_made_anew_though_one_without_feedback_finished_it(
    school: School, workers: Class
):
    school.grade(workers)
    first = school.tree / "ben/halve/halve.ipynb"
    text = first.read_text()
    school.hand_in("ben", "halve", submission_notebook(school.exercises()["halve"], RIGHT + "# other work\n"))
    interrupted(school, workers, after=6)
    assert "other work" in (school.out.folder / "feedback/ben/halve/halve.html").read_text()
    first.write_text(text)  # it is handed in as it was before, and known from the records
    without(school)
    assert school.grade(workers) == []
    with_pages(school)
    assert school.grade(workers) == []
    assert "other work" not in (school.out.folder / "feedback/ben/halve/halve.html").read_text()
    assert pages(school) == ALL


def test_what_an_interrupted_run_graded_has_no_page_of_before(school: School, workers: Class):
    school.grade(workers)
    school.hand_in("ben", "halve", submission_notebook(school.exercises()["halve"], RIGHT + "# other work\n"))
    interrupted(school, workers, after=6)
    page = school.out.folder / "feedback/ben/halve/halve.html"
    page.write_text("<p>of before</p>")  # as after a power failure
    without(school)
    assert school.grade(workers) == []
    assert pages(school) == linked(school) == [one for one in ALL if one != "ben/halve"]
    with_pages(school)
    assert school.grade(workers) == []
    assert "other work" in page.read_text()


# ------------------------------------------------------------------ what lies around the work


class Restful(Class):
    """Workers that must not be needed, while the gradebook may be."""

    def start(self, at_least: int = 0) -> None:
        raise AssertionError("a worker was started")


def records(out: Output) -> list[dict[str, Any]]:
    lines = (out.folder / "records.jsonl").read_text().splitlines()
    return [{**json.loads(line), "duration_s": 0} for line in lines]


def afresh(school: School, workers: Class) -> list[dict[str, Any]]:
    """Return the records of a first run over the class as it is now."""
    kept, school.out = school.out, Output(school.out.folder / "new", url_of(school.out.folder / "new.db"))
    school.grade(workers)
    found, school.out = records(school.out), kept
    return found


def moved(school: School) -> None:
    school.tree = school.tree.rename(school.tree.with_name("moved"))


def test_a_class_that_has_moved_is_not_run_again_and_its_records_name_where_it_is(
    school: School, workers: Class, request: pytest.FixtureRequest
):
    school.hand_in("ben", "share", "{")
    school.grade(workers)
    pages = {name: stat for name, stat in school.files().items() if name.endswith((".html", ".ipynb"))}
    moved(school)
    with Restful(workers=2) as restful:
        school.hand_in("ben", "share", submission_notebook(school.exercises()["share"], RIGHT))
        with pytest.raises(AssertionError, match="a worker was started"):
            school.grade(restful)  # the one that is new
        school.hand_in("ben", "share", "{")
    assert school.grade(workers) == []
    found = records(school.out)
    assert {str(Path(record["path"]).parents[2]) for record in found} == {str(school.tree)}
    assert found == afresh(school, workers)
    assert pages.items() <= school.files().items()
    request.getfixturevalue("idle")
    assert school.grade(Idle(workers=2)) == []


def test_a_class_that_has_moved_starts_no_worker(school: School, workers: Class):
    school.grade(workers)
    moved(school)
    with Restful(workers=2) as restful:
        assert school.grade(restful) == []
    assert all(graded.reused for graded in school.seen)
    assert records(school.out) == afresh(school, workers)


def test_a_file_that_comes_to_lie_beside_unchanged_work_is_told_and_forgotten_with_it(school: School, workers: Class):
    school.grade(workers)
    beside = school.tree / "ben" / "halve" / "halve (1).ipynb"
    beside.write_text("{}")
    note = "halve.ipynb was taken; halve (1).ipynb beside it was not read"
    for here in (True, False):
        assert school.grade(workers) == []
        assert [graded.reused for graded in school.seen] == [True] * 6
        assert records(school.out) == afresh(school, workers)
        told = [record["student"] for record in records(school.out) if record["notes"] == [note]]
        assert told == (["ben"] if here else [])
        assert (note in (school.out.folder / "grades.csv").read_text()) is here
        page = school.out.feedback(next(row for row in school.rows if row.key == ("ben", "halve")))
        assert (note in page.read_text()) is here
        beside.unlink(missing_ok=True)


def test_a_time_that_is_mended_reaches_the_gradebook_and_its_note_goes(school: School, workers: Class):
    stamp = school.tree / "ben" / "halve" / "timestamp.txt"
    stamp.write_text("yesterday evening")
    school.grade(workers)

    def of_gradebook() -> Any:
        with Gradebook(school.out.gradebook) as gradebook:
            return gradebook.find_submission("halve", "ben").timestamp

    assert of_gradebook() is None
    stamp.write_text("2026-02-03 15:27:00 UTC")
    assert school.grade(workers) == []
    assert of_gradebook() == datetime(2026, 2, 3, 15, 27)
    assert not any(record["notes"] for record in records(school.out))


def test_what_an_interrupted_run_graded_is_brought_up_to_date_too(school: School, workers: Class):
    def stop(graded: Graded) -> None:
        if graded.row.key == ("cy", "halve"):
            raise KeyboardInterrupt

    school.hand_in("ada", "share", "{")
    plans = Told(school.exercises(), Seed("seed:1"), Reference("x", "cpu", "2"))
    with pytest.raises(pipeline.Halted) as halted:
        grade_class(workers, handed_in(school.tree, SLUGS), plans, school.out, on_result=stop)
    kept = int(re.search(r"(\d+) scores are kept", str(halted.value))[1])
    moved(school)
    (school.tree / "ada" / "halve" / "other.ipynb").write_text("")
    school.grade(workers)
    # The one that cannot be read says where it lies, so it is read anew.
    assert sum(graded.resumed for graded in school.seen) == kept - 1
    assert records(school.out) == afresh(school, workers)


def test_a_crash_in_a_class_that_has_moved_is_still_the_same_crash(
    school: School, workers: Class, monkeypatch: pytest.MonkeyPatch
):
    def crash(plan: Plan, submission: Submission, cage: Any, lost: int = 0) -> Score:
        blank = ungraded(plan, submission, "")
        checks = tuple(replace(check, status="crashed") for check in blank.checks)
        return replace(blank, status="graded", score=0.0, checks=checks, sandbox=("bubblewrap",))

    monkeypatch.setattr(worker, "grade_one", crash)
    school.grade(workers)
    assert [graded.retried for graded in school.seen] == [False] * 6
    moved(school)
    school.grade(workers)
    assert [graded.retried for graded in school.seen] == [True] * 6
    assert [record["crashes"] for record in records(school.out)] == [2] * 6
    school.grade(workers)
    assert [(graded.retried, graded.reused) for graded in school.seen] == [(False, True)] * 6


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("indexed", [False, True])
def test_what_was_in_the_last_run_and_is_gone_is_told_once(school: School, workers: Class, force: bool, indexed: bool):
    told: list[Any] = []
    school.grade(workers, on_gone=told.append)
    if not indexed:
        (school.out.folder / ".graded.index").unlink()
    shutil.rmtree(school.tree / "ben")
    shutil.rmtree(school.tree / "cy" / "share")
    school.grade(workers, on_gone=told.append, force=force)
    school.grade(workers, on_gone=told.append, force=force)
    tree = str(school.tree) if indexed else ""
    gone = {("ben", "halve"): tree, ("ben", "share"): tree, ("cy", "share"): tree}
    assert told == [{}, gone, {}]


def test_an_exercise_that_the_course_has_no_more_is_nobodys_leaving(school: School, workers: Class):
    told: list[Any] = []
    school.grade(workers)
    school.grade(workers, slugs=["halve"], on_gone=told.append)
    assert told == [{}]
