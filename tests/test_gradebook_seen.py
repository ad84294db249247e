"""A gradebook that is as a run left it is known by its fingerprint; one that anybody changed is another."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from test_gradebook import FULL, a_score, dump, grade_by_hand, write

from autograder.gradebook import GradebookWriter, url_of
from autograder.gradebook_seen import fingerprint_of
from autograder.models import Exercise


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    import tiny_exercise

    from autograder import catalog

    return catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gradebook.db"


def left_by_a_run(path: Path, exercise: Exercise) -> str:
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        gradebook.write([a_score("s2")])
        return gradebook.fingerprint()


def test_what_nobody_changed_is_the_same(path: Path, exercise: Exercise) -> None:
    left = left_by_a_run(path, exercise)
    assert left.startswith("sqlite ")
    assert fingerprint_of(url_of(path)) == left
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        assert gradebook.fingerprint() == left
        gradebook.write([a_score("s1")])  # changes nothing
        assert gradebook.fingerprint() == left
    with closing(sqlite3.connect(path)) as other:
        other.execute("SELECT count(*) FROM grade").fetchall()
    assert fingerprint_of(url_of(path)) == left


def test_what_a_human_changed_is_another(path: Path, exercise: Exercise) -> None:
    left = left_by_a_run(path, exercise)
    grade_by_hand(url_of(path), "halves", manual_score=1.0)
    now = fingerprint_of(url_of(path))
    assert now not in ("", left)
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        assert gradebook.fingerprint() == now
        gradebook.write([a_score("s3")])
        assert gradebook.fingerprint() not in ("", left, now)


def test_a_change_within_one_tick_of_the_clock_is_seen(path: Path, exercise: Exercise) -> None:
    left = left_by_a_run(path, exercise)
    found = path.stat()
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE grade SET auto_score = 0.25")
        other.commit()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert path.stat().st_size == found.st_size
    assert fingerprint_of(url_of(path)) not in ("", left)


def test_a_copy_in_its_place_is_another(path: Path, exercise: Exercise) -> None:
    left = left_by_a_run(path, exercise)
    shutil.copy2(path, path.with_name("copy"))
    os.replace(path.with_name("copy"), path)
    assert fingerprint_of(url_of(path)) not in ("", left)


@pytest.mark.parametrize("when", ["between batches", "after the last"])
def test_where_another_wrote_during_the_run_nothing_is_said(path: Path, exercise: Exercise, when: str) -> None:
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        gradebook.write([a_score("s1")])
        with closing(sqlite3.connect(path)) as other:
            other.execute("UPDATE grade SET auto_score = 0.25")
            other.commit()
        if when == "between batches":
            gradebook.write([a_score("s2")])
        assert gradebook.fingerprint() == ""
    assert left_by_a_run(path, exercise) == fingerprint_of(url_of(path)) != ""


def test_after_a_batch_that_was_not_written_nothing_is_said(path: Path, exercise: Exercise) -> None:
    write(url_of(path), exercise)
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON comment BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        other.commit()
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        assert gradebook.fingerprint() != ""
        with pytest.raises(RuntimeError, match="disk full"):
            gradebook.write([a_score("s1")])
        assert gradebook.fingerprint() == ""


def test_beside_a_journal_nothing_is_said(path: Path, exercise: Exercise) -> None:
    left = left_by_a_run(path, exercise)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("UPDATE grade SET auto_score = 0.25")
        assert path.with_name("gradebook.db-wal").stat().st_size
        assert fingerprint_of(url_of(path)) == ""
    assert fingerprint_of(url_of(path)) not in ("", left)
    for name in ("gradebook.db-journal", "gradebook.db-wal"):
        path.with_name(name).write_bytes(b"x")
        assert fingerprint_of(url_of(path)) == ""
        path.with_name(name).unlink()


def test_of_what_is_not_there_nothing_is_said_and_nothing_made(path: Path) -> None:
    assert fingerprint_of(url_of(path)) == ""
    assert fingerprint_of("sqlite://") == ""
    path.touch()
    assert fingerprint_of(url_of(path)) == ""
    path.unlink()
    path.mkdir()
    assert fingerprint_of(url_of(path)) == ""


@pytest.mark.parametrize("name", ["a b.db", "what?.db", "50%.db", "caf\udce9.db"])
def test_a_path_with_odd_characters(tmp_path: Path, exercise: Exercise, name: str) -> None:
    path = tmp_path / name
    assert left_by_a_run(path, exercise) == fingerprint_of(url_of(path)) != ""


def test_asking_for_it_changes_nothing(path: Path, exercise: Exercise) -> None:
    left_by_a_run(path, exercise)
    before, bytes_before = dump(url_of(path)), path.read_bytes()
    with GradebookWriter(url_of(path), {"halve": exercise}) as gradebook:
        gradebook.fingerprint()
    assert (dump(url_of(path)), path.read_bytes()) == (before, bytes_before)
    assert FULL.keys() == {check.id for check in exercise.checks}
    with pytest.raises(ValueError, match="the gradebook is not open"):
        gradebook.fingerprint()


def test_a_file_is_asked_without_a_database_library(path: Path, exercise: Exercise) -> None:
    left = left_by_a_run(path, exercise)
    program = (
        "import sys\nfrom autograder.gradebook_seen import fingerprint_of\nprint(fingerprint_of(sys.argv[1]))\n"
        "print({'sqlalchemy', 'sqlite3', 'nbgrader'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program, url_of(path)], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [left, "set()"]
