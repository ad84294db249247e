"""A course whose gradebook is in PostgreSQL: the whole of `grade`, its connection lost, and nbgrader's own pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import postgres
import pytest
import tiny_exercise
from nbgrader.api import Gradebook
from postgres import rows
from test_nbgrader import NOISY, jupyter_server

from autograder import catalog, files
from autograder.gradebook import read_scores, url_of
from autograder.models import Exercise
from autograder.notebooks import source_notebook, submission_notebook
from autograder.stock import run_nbgrader, stock_environment

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.needs("bubblewrap")]

ANSWERS = {
    "ada": tiny_exercise.BY_SHIFTING,
    "ben": tiny_exercise.LOSES_SIGN,
    "cy": tiny_exercise.STARTER,
    "O'Neil 100% 名": NOISY,
}
HELD = """\
import sys
from autograder.cli import main
from autograder.gradebook import GradebookWriter

def held(*arguments, write=GradebookWriter.write):
    sys.stdin.readline()
    return write(*arguments)

GradebookWriter.write = held
main()
"""
"""The command line, but that no score goes to the gradebook before it is told to go on."""


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as started:
        yield started


@dataclass(frozen=True)
class Course:
    """A course of its own, laid out as this one is."""

    exercise: Exercise
    work: Path
    environment: dict[str, str]

    @property
    def out(self) -> Path:
        return self.work / "build" / "course"

    @property
    def tree(self) -> Path:
        return self.out / "submitted"

    def hand_in(self, answers: Mapping[str, str]) -> None:
        for student, answer in answers.items():
            text = submission_notebook(self.exercise, answer)
            files.write(self.tree / student / "halve" / "halve.ipynb", text)

    def command(self, out: Path, *more: str) -> list[str]:
        options = ["--out", str(out), "--seed", "1", "--workers", "1", *more]
        return [sys.executable, "-m", "autograder", "grade", str(self.tree), *options]

    def grade(self, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**self.environment, "NO_COLOR": "1", **environment}
        return subprocess.run(self.command(out), cwd=self.work, env=env, capture_output=True, text=True)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tiny_exercise.write(tmp_path)
    exercise = catalog.load("halve", root)
    made = Course(exercise, root, stock_environment(root, root))
    made.hand_in(ANSWERS)
    files.write(made.tree / "eve" / "halve" / "halve.ipynb", "{")
    return made


def mark_by_hand(url: str) -> None:
    with Gradebook(url) as gradebook:
        for student in ("ada", "ben"):
            grade = gradebook.find_grade("halves", "halve", "halve", student)
            grade.manual_score, grade.needs_manual_grade = 0.5, False
        gradebook.db.commit()


def test_grade_writes_what_it_writes_to_sqlite_and_nbgrader_shows_it(course: Course, server: postgres.Server) -> None:
    url, file = server.database(), url_of(course.work / "out" / "gradebook.db")
    in_server = {"AUTOGRADER_GRADEBOOK": url}
    for out, environment in ((course.out, in_server), (course.work / "out", {})):
        done = course.grade(out, **environment)
        assert (done.returncode, "could not grade eve" in done.stderr) == (1, True), done.stderr
    assert not (course.out / "gradebook.db").exists()
    assert rows(url) == rows(file)
    assert [(row["student"], row["score"]) for row in read_scores(url)] == [
        ("O'Neil 100% 名", 3.0), ("ada", 3.0), ("ben", 2.0), ("cy", 0.0), ("eve", None),
    ]  # fmt: skip

    course.hand_in({"ada": tiny_exercise.BY_SHIFTING + "\n1\n", "cy": tiny_exercise.BY_SHIFTING})
    for out, environment, each in ((course.out, in_server, url), (course.work / "out", {}, file)):
        mark_by_hand(each)
        done = course.grade(out, **environment)
        assert "ada: halve (halves)" in done.stdout
        assert "3 of them unchanged since an earlier run" in done.stdout  # the damaged one as well
    assert rows(url) == rows(file)
    expected = {"O'Neil 100% 名": 3.0, "ada": 2.0, "ben": 1.0, "cy": 3.0}
    assert {row["student"]: row["score"] for row in read_scores(url)} == {**expected, "eve": None}

    files.write(course.out / "source" / "halve" / "halve.ipynb", source_notebook(course.exercise, ""))
    nbgrader = {**course.environment, **in_server}
    run_nbgrader(["generate_feedback", "halve", "--force"], course.work, nbgrader)
    for student, score in (("ada", 2.0), ("ben", 1.0)):
        page = (course.out / "feedback" / student / "halve" / "halve.html").read_text(encoding="utf-8")
        assert f"(Score: {score} / 3.0)" in page
    run_nbgrader(["export"], course.work, nbgrader)
    exported = (course.work / "grades.csv").read_text(encoding="utf-8")
    assert [line.split(",")[3] for line in exported.splitlines()[1:]] == sorted(ANSWERS | {"eve": ""})
    assert not (course.out / "gradebook.db").exists()

    shown = Course(course.exercise, course.work, nbgrader)
    with jupyter_server(shown) as pages:
        [assignment] = json.loads(pages.get("formgrader/api/assignments"))
        assert (assignment["name"], assignment["num_submissions"], assignment["max_score"]) == ("halve", 5, 3.0)
        assert "halve" in pages.get("formgrader/gradebook/halve/halve")
        found = json.loads(pages.get("formgrader/api/submitted_notebooks/halve/halve"))
        assert {row["student"]: row["score"] for row in found} == {**expected, "eve": 0.0}
        assert {row["student"] for row in found if row["needs_manual_grade"]} == {"ada", "eve"}
        [ben] = [row["id"] for row in found if row["student"] == "ben"]
        page = pages.get(f"formgrader/submissions/{ben}/")
        assert "✗ Keeps the sign of x" in page
        marks = json.loads(pages.get(f"formgrader/api/grades?submission_id={ben}"))
        assert {(mark["name"], mark["auto_score"], mark["manual_score"]) for mark in marks} == {
            ("halves", 1.5, 0.5), ("keeps_the_sign", 0.0, None), ("is_a_float", 0.5, None),
        }  # fmt: skip


def test_a_connection_lost_in_mid_run_costs_no_score(course: Course, server: postgres.Server) -> None:
    url, out = server.database(), course.work / "lost"
    python, _, _, *arguments = course.command(out, "--json", "--gradebook", url)
    with subprocess.Popen(
        [python, "-c", HELD, *arguments], cwd=course.work, env=course.environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert json.loads(running.stdout.readline())["student"]
        assert server.end_sessions("course") == 1
        _, said = running.communicate("\n")
    assert running.returncode == 2
    [line] = said.strip().splitlines()
    assert "the connection to the server was lost" in line
    assert f"kept in {out / 'journal.jsonl'}: the same command goes on from there" in line
    assert server.password not in said
    assert read_scores(url) == []
    done = course.grade(out, AUTOGRADER_GRADEBOOK=url)
    assert "before the run was interrupted" in done.stdout, done.stderr
    assert [row["student"] for row in read_scores(url)] == sorted([*ANSWERS, "eve"])
    assert not (out / "journal.jsonl").exists()


def test_what_is_wrong_with_the_server_is_said_before_anything_is_graded(
    course: Course, server: postgres.Server
) -> None:
    out, nowhere = course.work / "out", {"PGPASSFILE": os.devnull, "PGPASSWORD": ""}
    cases = {
        server.url("postgres", password="hunter2"): "the server does not accept this user with this password",
        server.url("none"): "the server has no such database",
        "postgresql+psycopg://teacher:hunter2@127.0.0.1:1/course": "no server answers there",
        "postgresql+psycopg://teacher:hunter2@127.0.0.1:x/course": "the gradebook's URL cannot be understood",
    }
    for url, sentence in cases.items():
        done = course.grade(out, AUTOGRADER_GRADEBOOK=url, **nowhere)
        assert done.returncode == 2
        [line] = done.stderr.strip().splitlines()
        assert sentence in line
        assert "hunter2" not in done.stdout + done.stderr
        assert server.password not in done.stdout + done.stderr
        assert not (out / "journal.jsonl").exists()
