"""Our declaration of nbgrader's tables against nbgrader's own, and what writing marks imports."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import pytest
from nbgrader.api import Base, get_alembic_version
from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from autograder.gradebook_db import new_id
from autograder.gradebook_tables import ALEMBIC_HEAD, CODE, METADATA


def test_the_tables_are_nbgraders() -> None:
    assert METADATA.tables.keys() == Base.metadata.tables.keys()
    assert CODE.name not in Base.metadata.tables


@pytest.mark.parametrize("name", Base.metadata.tables)
@pytest.mark.parametrize("dialect", [sqlite.dialect, postgresql.dialect])
def test_a_table_is_created_as_nbgrader_creates_it(name: str, dialect: type) -> None:
    def statement(table: Table) -> str:
        return str(CreateTable(table).compile(dialect=dialect()))

    ours, theirs = METADATA.tables[name], Base.metadata.tables[name]
    assert statement(ours) == statement(theirs)
    assert ours.indexes == theirs.indexes == set()


def test_the_revision_is_nbgraders_newest(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))  # nbgrader calls `alembic` by name
    assert get_alembic_version() == ALEMBIC_HEAD


def test_ids_are_uuids_in_the_order_in_which_they_were_made() -> None:
    first = time.time_ns() // 1_000_000
    made = [new_id() for _ in range(20_000)]
    last = time.time_ns() // 1_000_000
    assert len(set(made)) == len(made)
    for text in made:
        uuid = UUID(text)
        assert (uuid.hex, uuid.version, uuid.variant) == (text, 7, "specified in RFC 4122")
        assert first <= uuid.int >> 80 <= last
    assert [text[:15] for text in made] == sorted(text[:15] for text in made)


def test_marks_are_written_without_nbgrader() -> None:
    program = """
import sys
from pathlib import Path
from autograder import catalog
from autograder.gradebook import GradebookWriter, url_of
from autograder.models import CheckResult, Reference, Score
sys.path.insert(0, "tests")
import tiny_exercise
folder = Path(sys.argv[1])
exercise = catalog.load("halve", tiny_exercise.write(folder))
(folder / "timestamp.txt").write_text("2026-11-29 10:00:00.500000 UTC")
checks = tuple(CheckResult(check.id, "", check.points, 0.0, "failed") for check in exercise.checks)
score = Score("s1", "halve", "graded", 0.0, 3.0, "", checks, Reference("", "cpu", ""), (), 0.0, path=str(folder / "x"))
with GradebookWriter(url_of(folder / "gradebook.db"), {"halve": exercise}) as gradebook:
    gradebook.write([score])
    gradebook.look_again([score])
    gradebook.fingerprint()
print(*sorted({"nbgrader", "nbformat", "alembic", "torch", "IPython", "sqlalchemy.orm"} & set(sys.modules)))
"""

    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", program, folder]
        run = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr
