"""The tables of nbgrader's gradebook, as nbgrader 0.9 declares them, and our own one.

They are declared here once more because importing nbgrader takes two seconds and writing marks needs nothing else of
it. ``tests/test_gradebook_tables.py`` compares every table, column, type and constraint with nbgrader's.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Enum,
    Float,
    ForeignKey,
    Interval,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

ALEMBIC_HEAD: Final = "e43177bfe90b"
"""nbgrader's revision of these tables; a newer nbgrader brings a database up to date by it."""

METADATA: Final = MetaData()
OURS: Final = MetaData()


def _id() -> Column[str]:
    return Column("id", String(32), primary_key=True)


def _name(length: int = 128, *, unique: bool = False) -> Column[str]:
    return Column("name", String(length), nullable=False, unique=unique or None)


def _of(table: str, column: str, *, length: int = 32, nullable: bool = True) -> Column[str]:
    """Return a column that holds the id of a row of another table."""
    return Column(column, String(length), ForeignKey(f"{table}.id"), nullable=nullable)


def _base_cell() -> Column[str]:
    return Column("id", String(32), ForeignKey("base_cell.id"), primary_key=True)


def _kind(enum: str) -> Column[str]:
    return Column("cell_type", Enum("code", "markdown", name=enum), nullable=False)


def _texts(*names: str, length: int = 128) -> list[Column[str]]:
    return [Column(name, String(length)) for name in names]


COURSE: Final = Table("course", METADATA, Column("id", String(128), primary_key=True, unique=True))
ASSIGNMENT: Final = Table(
    "assignment",
    METADATA,
    _id(),
    _name(unique=True),
    Column("duedate", DateTime()),
    _of("course", "course_id", length=128, nullable=False),
)
NOTEBOOK: Final = Table(
    "notebook",
    METADATA,
    _id(),
    _name(),
    _of("assignment", "assignment_id"),
    *_texts("kernelspec", length=1024),
    UniqueConstraint("name", "assignment_id"),
)
BASE_CELL: Final = Table(
    "base_cell",
    METADATA,
    _id(),
    _name(),
    _of("notebook", "notebook_id", nullable=False),
    *_texts("type", length=50),
    UniqueConstraint("name", "notebook_id", "type"),
)
GRADE_CELLS: Final = Table(
    "grade_cells", METADATA, _base_cell(), Column("max_score", Float(), nullable=False), _kind("grade_cell_type")
)
SOLUTION_CELLS: Final = Table("solution_cells", METADATA, _base_cell())
TASK_CELLS: Final = Table(
    "task_cells", METADATA, _base_cell(), Column("max_score", Float(), nullable=False), _kind("grade_cell_type")
)
SOURCE_CELL: Final = Table(
    "source_cell",
    METADATA,
    _id(),
    _name(),
    _kind("source_cell_type"),
    Column("locked", Boolean(), nullable=False),
    Column("source", Text()),
    *_texts("checksum"),
    _of("notebook", "notebook_id"),
    UniqueConstraint("name", "notebook_id"),
)
STUDENT: Final = Table(
    "student",
    METADATA,
    Column("id", String(128), primary_key=True),
    *_texts("first_name", "last_name", "email", "lms_user_id"),
)
SUBMITTED_ASSIGNMENT: Final = Table(
    "submitted_assignment",
    METADATA,
    _id(),
    _of("assignment", "assignment_id"),
    _of("student", "student_id", length=128),
    Column("timestamp", DateTime()),
    Column("extension", Interval()),
    UniqueConstraint("assignment_id", "student_id"),
)
SUBMITTED_NOTEBOOK: Final = Table(
    "submitted_notebook",
    METADATA,
    _id(),
    _of("submitted_assignment", "assignment_id"),
    _of("notebook", "notebook_id"),
    Column("flagged", Boolean()),
    Column("late_submission_penalty", Float(0)),
    UniqueConstraint("notebook_id", "assignment_id"),
)
GRADE: Final = Table(
    "grade",
    METADATA,
    _id(),
    _of("submitted_notebook", "notebook_id"),
    _of("base_cell", "cell_id"),
    Column("auto_score", Float()),
    Column("manual_score", Float()),
    Column("extra_credit", Float()),
    Column("needs_manual_grade", Boolean(), nullable=False),
    UniqueConstraint("cell_id", "notebook_id"),
)
COMMENT: Final = Table(
    "comment",
    METADATA,
    _id(),
    _of("submitted_notebook", "notebook_id"),
    _of("base_cell", "cell_id"),
    Column("auto_comment", Text()),
    Column("manual_comment", Text()),
    UniqueConstraint("cell_id", "notebook_id"),
)

ALEMBIC: Final = Table("alembic_version", OURS, Column("version_num", String(32), nullable=False))
"""Where nbgrader keeps the revision of the tables."""
CODE: Final = Table(
    "autograder_code",
    OURS,
    Column("submission_id", String(32), primary_key=True),
    Column("code", String(64), nullable=False),
)
"""Our own table, which nbgrader leaves alone: the hash of the code that a submission's automatic scores are of. It is
written with them, in one transaction, so that no interruption can part the two."""
