"""A gradebook that is gone or damaged is told of, and the command that is said brings back what is left."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
import tiny_exercise
from nbgrader.api import Gradebook
from stand_in import Threads
from test_gradebook import a_score, dump, grade_by_hand, write
from test_unchanged import School
from test_unchanged import school as school

from autograder import catalog
from autograder.errors import CourseError
from autograder.gradebook import GradebookWriter, read_scores, url_of
from autograder.gradebook_copies import copy_gradebook
from autograder.gradebook_db import DamagedGradebookError, GradebookError, expect_usable
from autograder.gradebook_rescue import by_hand, copies_of, is_blank, trouble_in
from autograder.models import Exercise
from autograder.notebooks import submission_notebook
from autograder.pipeline import Class

WRONG = "def halve(x):\n    return x\n"
GONE = "the gradebook that the last run left is gone, and a new one was made with the automatic scores"


@pytest.fixture
def workers() -> Iterator[Class]:
    with Threads() as started:
        yield started


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))


def names(path: Path) -> list[str]:
    return [copy.path.name for copy in copies_of(path)]


def give(url: str, student: str = "ada", points: float = 0.5) -> None:
    with Gradebook(url) as gradebook:
        gradebook.find_grade("halves", "halve", "halve", student).manual_score = points
        gradebook.find_comment("halve_solution", "halve", "halve", student).manual_comment = "Seen."
        gradebook.db.commit()


def marks(url: str) -> dict[tuple[str, str], float | None]:
    return {(row["student"], row["exercise"]): row["score"] for row in read_scores(url)}


def run_command(said: str, number: int = 0) -> None:
    """Run a command that a message gives between backquotes."""
    subprocess.run(re.findall("`([^`]+)`", said)[number], shell=True, check=True)


class Course:
    """A class of which several runs were made, with marks given by hand in between."""

    def __init__(self, school: School, workers: Class) -> None:
        self.school, self.workers = school, workers
        self.said: list[str] = []
        self.path, self.url = school.out.folder / "gradebook.db", school.out.gradebook

    def grade(self, **more: bool) -> list[str]:
        self.said.clear()
        self.school.grade(self.workers, on_notice=self.said.append, **more)
        return self.said

    def hand_in(self, number: int) -> None:
        """Hand in other work, so that the next run changes the gradebook."""
        text = submission_notebook(self.school.exercises()["share"], f"{WRONG}# {number}\n")
        self.school.hand_in(f"new{number}", "share", text)


@pytest.fixture
def course(school: School, workers: Class) -> Course:
    return Course(school, workers)


# -------------------------------------------------------------------------------- gone


def test_a_gradebook_that_is_gone_is_told_and_the_command_brings_the_marks_back(course: Course):
    assert course.grade() == []
    give(course.url)
    course.hand_in(1)
    assert course.grade() == []
    assert names(course.path) == ["gradebook.1.db"]
    held = marks(course.url)
    assert held["ada", "halve"] == 2.0

    course.path.unlink()
    [said] = course.grade()
    kept = course.path.parent / "backups" / "gradebook.1.kept.db"
    assert said.startswith(
        f"{course.path}: {GONE}; 2 entries by hand (marks, comments, penalties, due dates, names) before "
    )
    assert f"are in {kept}, which later runs leave alone: `cp {kept} {course.path}` brings them back" in said
    assert marks(course.url)["ada", "halve"] == 3.0
    assert course.grade() == []  # said once

    for number in range(2, 8):
        course.hand_in(number)
        assert course.grade() == []
    assert names(course.path) == ["gradebook.7.db", "gradebook.6.db", "gradebook.5.db", "gradebook.1.kept.db"]
    run_command(said)
    assert course.grade() == []
    now = marks(course.url)
    assert {key: now[key] for key in held} == held
    with Gradebook(course.url) as gradebook:
        assert gradebook.find_comment("halve_solution", "halve", "halve", "ada").manual_comment == "Seen."


@pytest.mark.parametrize("how", ["emptied", "made by another", "journal left"])
def test_whatever_way_it_went_it_is_told(course: Course, how: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(
        "PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    )  # nbgrader calls `alembic` by name
    course.grade()
    give(course.url)
    course.hand_in(1)
    course.grade()
    course.path.unlink()
    if how == "emptied":
        course.path.touch()
    elif how == "made by another":  # a formgrader that still runs makes its tables
        Gradebook(course.url).close()
    else:
        Path(f"{course.path}-wal").write_bytes(b"of another file")
    [said] = course.grade(force=True)
    assert GONE in said
    assert "gradebook.1.kept.db" in said
    run_command(said)
    assert marks(course.url)["ada", "halve"] == 2.0


def test_where_no_copy_holds_what_was_given_by_hand_that_is_said(course: Course):
    course.grade()
    give(course.url)
    course.path.unlink()
    assert course.grade() == [
        f"{course.path}: {GONE}; what was entered by hand (marks, comments, penalties, due dates, names) went with it, "
        f"and there is no copy in {course.path.parent / 'backups'}"
    ]
    course.hand_in(1)
    course.grade()
    course.path.unlink()
    [said] = course.grade()
    assert said.endswith(f"and no copy in {course.path.parent / 'backups'} holds any")
    assert names(course.path) == ["gradebook.1.db"]  # nothing in it that a run does not make again


@pytest.mark.parametrize("what", ["due date", "penalty", "name"])
def test_a_copy_with_anything_that_a_human_entered_is_kept(course: Course, what: str):
    course.grade()
    with Gradebook(course.url) as gradebook:
        if what == "due date":
            gradebook.find_assignment("halve").duedate = datetime(2026, 2, 1)
        elif what == "penalty":
            gradebook.find_submission_notebook("halve", "halve", "ada").late_submission_penalty = 1.0
        else:
            gradebook.find_student("ada").first_name = "Ada"
        gradebook.db.commit()
    course.hand_in(1)
    course.grade()
    course.path.unlink()
    [said] = course.grade()
    assert f"{GONE}; 1 entry by hand (marks, comments, penalties, due dates, names) before " in said
    assert names(course.path) == ["gradebook.1.kept.db"]


def test_of_several_copies_with_entries_by_hand_all_are_named(course: Course):
    course.grade()
    give(course.url)
    course.hand_in(1)
    course.grade()
    course.path.unlink()
    course.grade()
    give(course.url, "ben")
    course.hand_in(2)
    course.grade()
    course.path.unlink()
    [said] = course.grade()
    latest, others = said.split("; other copies that hold some: ")
    assert "are in " in latest
    assert re.fullmatch(r"gradebook\.1\.kept\.db \([-0-9: ]+, 2 entries by hand\)", others)


def test_a_second_loss_keeps_both(course: Course):
    kept = []
    for number in (1, 2):
        course.grade()
        give(course.url, "ada", 0.5 * number)
        course.hand_in(number)
        course.grade()
        course.path.unlink()
        [said] = course.grade()
        kept.append(re.findall(r"cp (\S+\.kept\.db) ", said)[0])
    assert [Path(each).name for each in kept] == ["gradebook.1.kept.db", "gradebook.2.kept.db"]
    assert [marks(url_of(Path(each)))["ada", "halve"] for each in kept] == [2.0, 2.5]


def test_another_gradebook_that_is_new_is_no_loss(course: Course):
    course.grade()
    course.school.out = replace(course.school.out, gradebook=url_of(course.path.with_name("other.db")))
    assert course.grade() == []
    course.school.out = replace(course.school.out, folder=course.path.parent.with_name("again"))
    course.school.out = replace(course.school.out, gradebook=url_of(course.school.out.folder / "gradebook.db"))
    assert course.grade() == []


# ----------------------------------------------------------------------------- damaged


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "random":
        data[:] = random.Random(1).randbytes(len(data))
    elif how == "cut":
        del data[len(data) // 2 :]
    else:
        start = {"middle": len(data) // 2, "schema": 100}[how]
        data[start : start + 20_000] = random.Random(1).randbytes(len(data[start : start + 20_000]))
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["middle", "schema", "cut", "random"])
@pytest.mark.parametrize("force", [False, True])
def test_a_damaged_gradebook_is_left_alone_and_the_command_brings_it_back(course: Course, how: str, force: bool):
    course.grade()
    give(course.url)
    for number in (1, 2):
        course.hand_in(number)
        course.grade()
    damage(course.path, how)
    broken = course.path.read_bytes()
    said = ""
    for _ in range(3):  # however often
        with pytest.raises(CourseError) as caught:
            course.grade(force=force)
        said = str(caught.value)
        assert said.startswith(f"{course.path}: the gradebook is damaged (")
        assert "), and nothing was changed; whole copies of it" in said
        assert course.school.ran == []
        assert "The marks of before are whole" not in said
        assert "\n" not in said
        assert course.path.read_bytes() == broken
    listed = re.findall(r"(gradebook\.\d\.db) \((\d{4}-\d\d-\d\d \d\d:\d\d), ([^)]+)\)", said)
    assert [(name, held) for name, _, held in listed] == [
        ("gradebook.2.db", "2 entries by hand"),
        ("gradebook.1.db", "2 entries by hand"),
    ]
    assert names(course.path) == ["gradebook.2.db", "gradebook.1.db"]
    run_command(said)
    assert course.grade(force=force) == []
    assert marks(course.url)["ada", "halve"] == 2.0
    assert len(marks(course.url)) == 8


@pytest.mark.parametrize("number", [0, 1])
def test_what_sqlite_left_beside_a_damaged_gradebook_is_in_no_command_s_way(course: Course, number: int):
    course.grade()
    give(course.url)
    course.hand_in(1)
    course.grade()
    with closing(sqlite3.connect(course.path)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
        connection.execute("UPDATE student SET email = ''")
        connection.commit()
        beside = Path(f"{course.path}-wal").read_bytes()
    damage(course.path, "middle")
    Path(f"{course.path}-wal").write_bytes(beside)  # as after a crash
    with pytest.raises(CourseError) as caught:
        course.grade()
    run_command(str(caught.value), number)
    course.grade()
    assert marks(course.url)["ada", "halve"] == (2.0, 3.0)[number]


def test_moved_away_as_is_said_all_is_written_anew(course: Course):
    course.grade()
    damage(course.path, "middle")
    with pytest.raises(DamagedGradebookError, match=r"and nothing was changed; there is no copy of it in ") as caught:
        course.grade()
    run_command(str(caught.value))
    assert course.path.with_name("gradebook.db.damaged").is_file()
    [said] = course.grade()
    assert GONE in said
    assert set(marks(course.url).values()) == {3.0}


def test_a_copy_that_is_damaged_too_is_not_offered(course: Course):
    course.grade()
    for number in (1, 2):
        course.hand_in(number)
        course.grade()
    damage(course.path, "middle")
    damage(course.path.parent / "backups" / "gradebook.2.db", "middle")
    (course.path.parent / "backups" / "gradebook.3.db").touch()
    with pytest.raises(DamagedGradebookError) as caught:
        course.grade()
    assert "gradebook.2.db" not in str(caught.value)
    assert "gradebook.3.db" not in str(caught.value)
    run_command(str(caught.value))
    course.grade()
    assert len(marks(course.url)) == 8


def test_what_was_left_beside_a_damaged_file_is_not_written_into_its_copy(tmp_path: Path, exercise: Exercise):
    path = tmp_path / "it's here" / "gradebook.db"
    path.parent.mkdir()
    write(url_of(path), exercise, a_score("s1"))
    grade_by_hand(url_of(path), "halves", manual_score=0.5)
    whole = dump(f"sqlite:///{copy_gradebook(path)}")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:  # killed in mid-write: a journal waits
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN")
        other.execute("UPDATE comment SET auto_comment = hex(randomblob(200000))")
        shutil.copy(f"{path}-journal", tmp_path / "journal")
        other.execute("ROLLBACK")
    damage(path, "random")
    shutil.copy(tmp_path / "journal", f"{path}-journal")
    with pytest.raises(DamagedGradebookError) as caught:
        write(url_of(path), exercise, a_score("s1"))
    run_command(str(caught.value))
    assert not os.path.lexists(f"{path}-journal")
    assert dump(f"sqlite:///{path}") == whole


def test_a_gradebook_that_is_named_is_refused_before_anything_starts(tmp_path: Path, exercise: Exercise):
    path = tmp_path / "gradebook.db"
    write(url_of(path), exercise, a_score("s1"))
    copy_gradebook(path)
    damage(path, "random")
    with pytest.raises(DamagedGradebookError, match=r"gradebook is damaged \(file is not a database\), and nothing"):
        expect_usable(url_of(path), tmp_path)


def test_damage_that_is_met_in_mid_run_does_not_say_that_nothing_was_changed(tmp_path: Path, exercise: Exercise):
    path = tmp_path / "gradebook.db"
    scores = [a_score(f"s{n}") for n in range(400)]
    write(url_of(path), exercise, *scores[:200])
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        gradebook.write(scores[200:300])
        damage(path, "random")
        with pytest.raises(DamagedGradebookError, match=r"and the last scores may not be in it; there is no copy"):
            gradebook.write([a_score(score.student, dict.fromkeys(("halves",), 0.0)) for score in scores])


def test_no_damage_of_a_few_bytes_ends_in_anything_but_one_sentence(tmp_path: Path, exercise: Exercise):
    path, scores = tmp_path / "gradebook.db", [a_score(f"s{n}") for n in range(60)]
    write(url_of(path), exercise, *scores)
    whole, seen, said = path.read_bytes(), set(), []
    for seed in range(200):
        chance = random.Random(seed)
        data = bytearray(whole)
        start = chance.randrange(len(data))
        data[start : start + chance.choice((1, 16, 512))] = chance.randbytes(len(data[start : start + 16]))
        path.write_bytes(data)
        try:
            with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
                gradebook.write([a_score(score.student, dict.fromkeys(("halves",), 0.25)) for score in scores])
                gradebook.final_scores(scores)
                gradebook.look_again(scores)
            seen.add("written")
        except GradebookError as error:
            seen.add(type(error).__name__)
            said.append(str(error))
    assert not [each for each in said if "\n" in each]
    assert {"written", "DamagedGradebookError"} <= seen


def test_what_a_table_does_not_allow_is_no_damage():
    assert trouble_in(["ok"]) == ""
    assert trouble_in(["NULL value in grade.auto_score", "CHECK constraint failed in grade"]) == ""
    said = "*** in database main ***\nTree 4 page 4: btreeInitPage() returns error code 11\nmore"
    assert trouble_in([said]) == "Tree 4 page 4: btreeInitPage() returns error code 11"


def test_what_a_human_gave_is_counted_and_a_blank_gradebook_is_known(tmp_path: Path, exercise: Exercise):
    path = tmp_path / "gradebook.db"
    assert is_blank(path)
    write(url_of(path), exercise)
    assert is_blank(path)
    write(url_of(path), exercise, a_score("s1"))
    assert (is_blank(path), by_hand(path)) == (False, 0)
    grade_by_hand(url_of(path), "halves", extra_credit=0.0)
    assert by_hand(path) == 1
    damage(path, "random")
    assert (is_blank(path), by_hand(path)) == (False, 0)
