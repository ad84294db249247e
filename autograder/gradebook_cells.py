"""An exercise as nbgrader's gradebook holds it: assignment, notebook and cells, kept up to date with the exercise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, or_, select, update

from autograder.gradebook_db import insert_rows, new_id, table_of
from autograder.models import Exercise
from autograder.notebooks import solution_id, student_notebook

_COURSE: Final = "default_course"
"""nbgrader's name for a course that says no other."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows that a submission of an exercise needs; ids of rows of the assignment."""

    assignment: str
    notebook: str
    answer: str
    """The solution cell."""
    checks: Mapping[str, str]
    """Cell of each check, by the check's id."""
    retired: frozenset[str]
    """Cells of checks that the exercise has no more, kept for their manual scores."""
    graded: Mapping[str, Sequence[str]]
    """Cells that take a grade, by notebook; the assignment may hold more than our notebook and our cells."""
    commented: Mapping[str, Sequence[str]]


def prepare(connection: Connection, exercise: Exercise) -> Sheet:
    """Bring assignment, notebook and cells up to date with the exercise.

    Points follow the exercise. The cell of a check that the exercise has no more is removed with its grades, unless one
    of these holds a manual score or extra credit: then the cell is kept so that they still count, but its points and
    its automatic scores become 0. Cells that an instructor added to the source notebook stay as they are.
    """
    course = table_of("course")
    if connection.scalar(select(course.c.id).where(course.c.id == _COURSE)) is None:
        insert_rows(connection, "course", [{"id": _COURSE}])
    assignment = _found_or_made(connection, "assignment", {"name": exercise.slug}, {"course_id": _COURSE})
    notebook = _found_or_made(connection, "notebook", {"name": exercise.slug, "assignment_id": assignment}, {})
    _add_cells(connection, exercise, notebook)
    _set_points(connection, exercise, notebook)
    retired = frozenset(_retire(connection, exercise, notebook))
    return _sheet(connection, exercise, assignment, notebook, retired)


def _sheet(
    connection: Connection, exercise: Exercise, assignment: str, notebook: str, retired: frozenset[str]
) -> Sheet:
    cell, sheet = table_of("base_cell"), table_of("notebook")
    notebooks = list(connection.scalars(select(sheet.c.id).where(sheet.c.assignment_id == assignment)))
    graded: dict[str, list[str]] = {each: [] for each in notebooks}
    commented: dict[str, list[str]] = {each: [] for each in notebooks}
    ours: dict[tuple[str, str], str] = {}
    for row in connection.execute(select(cell).where(cell.c.notebook_id.in_(notebooks))):
        if row.type in ("GradeCell", "TaskCell"):
            graded[row.notebook_id].append(row.id)
        if row.type in ("SolutionCell", "TaskCell"):
            commented[row.notebook_id].append(row.id)
        if row.notebook_id == notebook:
            ours[row.type, row.name] = row.id
    checks = {check.id: ours["GradeCell", check.id] for check in exercise.checks}
    answer = ours["SolutionCell", solution_id(exercise)]
    return Sheet(assignment, notebook, answer, checks, retired, graded, commented)


def _found_or_made(connection: Connection, name: str, key: Mapping[str, str], more: Mapping[str, str]) -> str:
    table = table_of(name)
    query = select(table.c.id).where(*(table.c[column] == value for column, value in key.items()))
    if (found := connection.scalar(query)) is not None:
        return str(found)
    made = new_id()
    insert_rows(connection, name, [{"id": made, **key, **more}])
    return made


# ------------------------------------------------------------------------------ cells


def _add_cells(connection: Connection, exercise: Exercise, notebook: str) -> None:
    """Add the cells that are missing: to an empty notebook all that nbgrader would record, else checks and answer."""
    known = {(row.type, row.name) for row in _rows(connection, "base_cell", notebook)}
    sources = {row.name for row in _rows(connection, "source_cell", notebook)}
    ours = {("GradeCell", check.id) for check in exercise.checks} | {("SolutionCell", solution_id(exercise))}
    if ours <= known:
        return
    released = json.loads(student_notebook(exercise, ""))
    marks = [(cell["metadata"]["nbgrader"], cell) for cell in released["cells"] if "nbgrader" in cell["metadata"]]
    if known or sources:
        missing = {name for _, name in ours - known}
        marks = [(mark, cell) for mark, cell in marks if mark["grade_id"] in missing]
    else:
        table, kernel = table_of("notebook"), json.dumps(released["metadata"]["kernelspec"])
        connection.execute(update(table).where(table.c.id == notebook).values(kernelspec=kernel))
    for mark, cell in marks:
        kind = "GradeCell" if mark["grade"] else "SolutionCell" if mark["solution"] else ""
        if kind and (kind, mark["grade_id"]) not in known:
            _add_cell(connection, kind, notebook, mark)
        if mark["grade_id"] not in sources:
            _add_source(connection, notebook, mark, "".join(cell["source"]))


def _add_cell(connection: Connection, kind: str, notebook: str, mark: Mapping[str, Any]) -> None:
    made = new_id()
    base = {"id": made, "name": mark["grade_id"], "notebook_id": notebook, "type": kind}
    insert_rows(connection, "base_cell", [base])
    if kind == "GradeCell":
        graded = {"id": made, "max_score": mark["points"], "cell_type": mark["cell_type"]}
        insert_rows(connection, "grade_cells", [graded])
    else:
        insert_rows(connection, "solution_cells", [{"id": made}])


def _add_source(connection: Connection, notebook: str, mark: Mapping[str, Any], source: str) -> None:
    row = {key: mark[key] for key in ("cell_type", "locked", "checksum")}
    own = {"id": new_id(), "name": mark["grade_id"], "notebook_id": notebook, "source": source}
    insert_rows(connection, "source_cell", [{**row, **own}])


def _set_points(connection: Connection, exercise: Exercise, notebook: str) -> None:
    points = {check.id: check.points for check in exercise.checks}
    graded = table_of("grade_cells")
    for row in _graded_cells(connection, notebook):
        if row.name in points and points[row.name] != row.max_score:
            connection.execute(update(graded).where(graded.c.id == row.id).values(max_score=points[row.name]))


def _retire(connection: Connection, exercise: Exercise, notebook: str) -> Iterator[str]:
    """Remove the cells of checks that the exercise has no more; yield those that are kept for what a human gave."""
    grade = table_of("grade")
    by_hand = or_(grade.c.manual_score.is_not(None), grade.c.extra_credit.is_not(None))
    checks = {check.id for check in exercise.checks}
    sources = {row.name: row.source for row in _rows(connection, "source_cell", notebook)}
    for row in _graded_cells(connection, notebook):
        if row.name in checks or not _was_check(exercise.slug, row.name, sources.get(row.name)):
            continue
        if connection.scalar(select(grade.c.id).where(grade.c.cell_id == row.id, by_hand).limit(1)) is None:
            _remove(connection, notebook, row.id, row.name)
        else:
            if row.max_score != 0:
                _make_worthless(connection, row.id)
            yield row.id


def _was_check(slug: str, name: str, source: str | None) -> bool:
    """Return whether a graded cell is one that was released for a check: ``check("<slug>", ..., "<name>")``."""
    return source is not None and f'check("{slug}", ' in source and source.rstrip().endswith(f', "{name}")')


def _remove(connection: Connection, notebook: str, cell_id: str, name: str) -> None:
    grade, source = table_of("grade"), table_of("source_cell")
    connection.execute(delete(grade).where(grade.c.cell_id == cell_id))
    connection.execute(delete(source).where(source.c.notebook_id == notebook, source.c.name == name))
    for table in (table_of("grade_cells"), table_of("base_cell")):
        connection.execute(delete(table).where(table.c.id == cell_id))


def _make_worthless(connection: Connection, cell_id: str) -> None:
    graded, grade = table_of("grade_cells"), table_of("grade")
    connection.execute(update(graded).where(graded.c.id == cell_id).values(max_score=0.0))
    automatic = update(grade).where(grade.c.cell_id == cell_id, grade.c.manual_score.is_(None))
    connection.execute(automatic.values(auto_score=0.0, needs_manual_grade=False))


def _rows(connection: Connection, name: str, notebook: str) -> Sequence[Any]:
    table = table_of(name)
    return connection.execute(select(table).where(table.c.notebook_id == notebook)).all()


def _graded_cells(connection: Connection, notebook: str) -> Sequence[Any]:
    cell, graded = table_of("base_cell"), table_of("grade_cells")
    joined = select(cell.c.id, cell.c.name, graded.c.max_score).join(graded, cell.c.id == graded.c.id)
    return connection.execute(joined.where(cell.c.notebook_id == notebook)).all()
