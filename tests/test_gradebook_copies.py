"""A gradebook is copied whole, while others use it, and the last three copies stay."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from autograder.gradebook_copies import copy_gradebook
from autograder.gradebook_db import GradebookError


def a_database(path: Path, value: int) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS mark (value)")
        connection.execute("INSERT INTO mark VALUES (?)", (value,))
        connection.commit()
    return path


def values(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT value FROM mark")]


def test_the_last_three_copies_stay(tmp_path: Path):
    copies = []
    for number in range(1, 13):
        copy = copy_gradebook(a_database(tmp_path / "gradebook.db", number))
        assert copy is not None
        copies.append(copy.name)
        assert values(copy) == list(range(1, number + 1))
    assert copies[0] == "gradebook.1.db"
    kept = sorted(each.name for each in (tmp_path / "backups").iterdir())
    assert kept == ["gradebook.10.db", "gradebook.11.db", "gradebook.12.db"]


def test_what_is_no_copy_of_it_stays_and_what_was_half_written_goes(tmp_path: Path):
    others = ["gradebook.1.db.txt", "gradebook.old.db", "other.1.db", "gradebook.-1.db"]
    (tmp_path / "backups").mkdir()
    for name in (*others, ".writing-abc"):
        (tmp_path / "backups" / name).write_text("x")
    for number in range(5):
        copy_gradebook(a_database(tmp_path / "gradebook.db", number))
    kept = {each.name for each in (tmp_path / "backups").iterdir()}
    assert kept == {*others, "gradebook.3.db", "gradebook.4.db", "gradebook.5.db"}


def test_a_copy_is_of_what_was_committed_while_another_writes(tmp_path: Path):
    path = a_database(tmp_path / "gradebook.db", 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO mark VALUES (2)")
        copy = copy_gradebook(path)
        other.execute("COMMIT")
    assert copy is not None
    assert (values(copy), values(path)) == ([1], [1, 2])


def test_what_did_not_change_since_the_latest_copy_is_not_copied_again(tmp_path: Path):
    path = a_database(tmp_path / "gradebook.db", 1)
    assert copy_gradebook(path) == copy_gradebook(path) == tmp_path / "backups" / "gradebook.1.db"
    assert [each.name for each in (tmp_path / "backups").iterdir()] == ["gradebook.1.db"]


def test_nothing_is_copied_where_there_is_nothing(tmp_path: Path):
    (tmp_path / "empty.db").touch()
    assert copy_gradebook(tmp_path / "empty.db") is None
    assert copy_gradebook(tmp_path / "missing.db") is None
    assert [each.name for each in tmp_path.iterdir()] == ["empty.db"]


def test_a_copy_that_fails_is_named_and_leaves_the_older_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for number in range(4):
        path = a_database(tmp_path / "gradebook.db", number)
        if number < 3:
            copy_gradebook(path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GradebookError, match=r"backups/gradebook\.4\.db: .*\(No space left on device\), so it was not"):
        copy_gradebook(path)
    assert len(list((tmp_path / "backups").iterdir())) == 3


def test_a_file_that_is_no_database_is_not_copied(tmp_path: Path):
    (tmp_path / "gradebook.db").write_text("student,score\n" * 100)
    with pytest.raises(GradebookError, match="not a database"):
        copy_gradebook(tmp_path / "gradebook.db")
    assert list((tmp_path / "backups").iterdir()) == []
