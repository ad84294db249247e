"""Exercises as nbgrader's gradebook holds them: assignment, notebook and cells, kept up to date with the exercise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, delete, or_, select, update

from autograder.gradebook_db import among, insert_rows, new_id
from autograder.gradebook_tables import (
    ASSIGNMENT,
    BASE_CELL,
    COURSE,
    GRADE,
    GRADE_CELLS,
    METADATA,
    NOTEBOOK,
    SOLUTION_CELLS,
    SOURCE_CELL,
)
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


@dataclass(frozen=True, slots=True)
class _Held:
    """What the gradebook holds of an exercise."""

    assignment: str
    notebook: str
    cells: Mapping[str, Sequence[Any]]
    """Rows of cells with their points, by notebook of the assignment."""


def prepare(connection: Connection, exercises: Iterable[Exercise]) -> dict[str, Sheet]:
    """Bring assignments, notebooks and cells up to date with the exercises; return the rows of each, by its slug.

    Points follow the exercise. The cell of a check that the exercise has no more is removed with its grades, unless one
    of these holds a manual score or extra credit: then the cell is kept so that they still count, but its points and
    its automatic scores become 0. Cells that an instructor added to the source notebook stay as they are.

    What is up to date costs four statements for all exercises together.
    """
    wanted = {exercise.slug: exercise for exercise in exercises}
    held = _read(connection, wanted)
    stale = {slug for slug, exercise in wanted.items() if slug not in held or not _is_current(exercise, held[slug])}
    retired = {slug: frozenset(_bring_up_to_date(connection, wanted[slug])) for slug in sorted(stale)}
    held |= _read(connection, stale)
    return {slug: _sheet(exercise, held[slug], retired.get(slug, frozenset())) for slug, exercise in wanted.items()}


def _read(connection: Connection, slugs: Iterable[str]) -> dict[str, _Held]:
    """Return what the gradebook holds of exercises, by slug; those without an assignment or a notebook are left out."""
    if not (names := sorted(slugs)):
        return {}
    assignments = {row.id: row.name for row in connection.execute(among(ASSIGNMENT, "name", names, "id", "name"))}
    notebooks: dict[str, dict[str, str]] = {slug: {} for slug in assignments.values()}
    query = among(NOTEBOOK, "assignment_id", assignments, "id", "name", "assignment_id")
    for row in connection.execute(query):
        notebooks[assignments[row.assignment_id]][row.name] = row.id
    known = [notebook for named in notebooks.values() for notebook in named.values()]
    cells: dict[str, list[Any]] = {notebook: [] for notebook in known}
    joined = BASE_CELL.outerjoin(GRADE_CELLS, BASE_CELL.c.id == GRADE_CELLS.c.id)
    for row in connection.execute(
        select(BASE_CELL, GRADE_CELLS.c.max_score).select_from(joined).where(BASE_CELL.c.notebook_id.in_(known))
    ):
        cells[row.notebook_id].append(row)
    return {
        slug: _Held(assignment, named[slug], {notebook: cells[notebook] for notebook in named.values()})
        for assignment, slug in assignments.items()
        if slug in (named := notebooks[slug])
    }


def _is_current(exercise: Exercise, held: _Held) -> bool:
    """Return whether our notebook has the answer and exactly the graded cells of the checks, with their points."""
    cells = held.cells[held.notebook]
    points = {row.name: row.max_score for row in cells if row.type == "GradeCell"}
    answers = {row.name for row in cells if row.type == "SolutionCell"}
    return points == {check.id: check.points for check in exercise.checks} and solution_id(exercise) in answers


def _bring_up_to_date(connection: Connection, exercise: Exercise) -> Iterator[str]:
    """Make what is missing, change what is another now; yield the cells that are kept for what a human gave."""
    if connection.scalar(select(COURSE.c.id).where(COURSE.c.id == _COURSE)) is None:
        insert_rows(connection, COURSE, [{"id": _COURSE}])
    assignment = _found_or_made(connection, "assignment", {"name": exercise.slug}, {"course_id": _COURSE})
    notebook = _found_or_made(connection, "notebook", {"name": exercise.slug, "assignment_id": assignment}, {})
    _add_cells(connection, exercise, notebook)
    _set_points(connection, exercise, notebook)
    yield from _retire(connection, exercise, notebook)


def _sheet(exercise: Exercise, held: _Held, retired: frozenset[str]) -> Sheet:
    graded = {
        notebook: [row.id for row in rows if row.type in ("GradeCell", "TaskCell")]
        for notebook, rows in held.cells.items()
    }
    commented = {
        notebook: [row.id for row in rows if row.type in ("SolutionCell", "TaskCell")]
        for notebook, rows in held.cells.items()
    }
    ours = {(row.type, row.name): row.id for row in held.cells[held.notebook]}
    checks = {check.id: ours["GradeCell", check.id] for check in exercise.checks}
    answer = ours["SolutionCell", solution_id(exercise)]
    return Sheet(held.assignment, held.notebook, answer, checks, retired, graded, commented)


def _found_or_made(connection: Connection, name: str, key: Mapping[str, str], more: Mapping[str, str]) -> str:
    table = METADATA.tables[name]
    query = select(table.c.id).where(*(table.c[column] == value for column, value in key.items()))
    if (found := connection.scalar(query)) is not None:
        return str(found)
    made = new_id()
    insert_rows(connection, table, [{"id": made, **key, **more}])
    return made


# ------------------------------------------------------------------------------ cells


def _add_cells(connection: Connection, exercise: Exercise, notebook: str) -> None:
    """Add the cells that are missing: to an empty notebook all that nbgrader would record, else checks and answer."""
    known = {(row.type, row.name) for row in _rows(connection, BASE_CELL, notebook)}
    sources = {row.name for row in _rows(connection, SOURCE_CELL, notebook)}
    ours = {("GradeCell", check.id) for check in exercise.checks} | {("SolutionCell", solution_id(exercise))}
    if ours <= known:
        return
    released = json.loads(student_notebook(exercise, ""))
    marks = [(cell["metadata"]["nbgrader"], cell) for cell in released["cells"] if "nbgrader" in cell["metadata"]]
    if known or sources:
        missing = {name for _, name in ours - known}
        marks = [(mark, cell) for mark, cell in marks if mark["grade_id"] in missing]
    else:
        kernel = json.dumps(released["metadata"]["kernelspec"])
        connection.execute(update(NOTEBOOK).where(NOTEBOOK.c.id == notebook).values(kernelspec=kernel))
    for mark, cell in marks:
        kind = "GradeCell" if mark["grade"] else "SolutionCell" if mark["solution"] else ""
        if kind and (kind, mark["grade_id"]) not in known:
            _add_cell(connection, kind, notebook, mark)
        if mark["grade_id"] not in sources:
            _add_source(connection, notebook, mark, "".join(cell["source"]))


def _add_cell(connection: Connection, kind: str, notebook: str, mark: Mapping[str, Any]) -> None:
    made = new_id()
    base = {"id": made, "name": mark["grade_id"], "notebook_id": notebook, "type": kind}
    insert_rows(connection, BASE_CELL, [base])
    if kind == "GradeCell":
        graded = {"id": made, "max_score": mark["points"], "cell_type": mark["cell_type"]}
        insert_rows(connection, GRADE_CELLS, [graded])
    else:
        insert_rows(connection, SOLUTION_CELLS, [{"id": made}])


def _add_source(connection: Connection, notebook: str, mark: Mapping[str, Any], source: str) -> None:
    row = {key: mark[key] for key in ("cell_type", "locked", "checksum")}
    own = {"id": new_id(), "name": mark["grade_id"], "notebook_id": notebook, "source": source}
    insert_rows(connection, SOURCE_CELL, [{**row, **own}])


def _set_points(connection: Connection, exercise: Exercise, notebook: str) -> None:
    points = {check.id: check.points for check in exercise.checks}
    for row in _graded_cells(connection, notebook):
        if row.name in points and points[row.name] != row.max_score:
            connection.execute(update(GRADE_CELLS).where(GRADE_CELLS.c.id == row.id).values(max_score=points[row.name]))


def _retire(connection: Connection, exercise: Exercise, notebook: str) -> Iterator[str]:
    """Remove the cells of checks that the exercise has no more; yield those that are kept for what a human gave."""
    by_hand = or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None))
    checks = {check.id for check in exercise.checks}
    sources = {row.name: row.source for row in _rows(connection, SOURCE_CELL, notebook)}
    for row in _graded_cells(connection, notebook):
        if row.name in checks or not _was_check(exercise.slug, row.name, sources.get(row.name)):
            continue
        if connection.scalar(select(GRADE.c.id).where(GRADE.c.cell_id == row.id, by_hand).limit(1)) is None:
            _remove(connection, notebook, row.id, row.name)
        else:
            if row.max_score != 0:
                _make_worthless(connection, row.id)
            yield row.id


def _was_check(slug: str, name: str, source: str | None) -> bool:
    """Return whether a graded cell is one that was released for a check: ``check("<slug>", ..., "<name>")``."""
    return source is not None and f'check("{slug}", ' in source and source.rstrip().endswith(f', "{name}")')


def _remove(connection: Connection, notebook: str, cell_id: str, name: str) -> None:
    connection.execute(delete(GRADE).where(GRADE.c.cell_id == cell_id))
    connection.execute(delete(SOURCE_CELL).where(SOURCE_CELL.c.notebook_id == notebook, SOURCE_CELL.c.name == name))
    for table in (GRADE_CELLS, BASE_CELL):
        connection.execute(delete(table).where(table.c.id == cell_id))


def _make_worthless(connection: Connection, cell_id: str) -> None:
    connection.execute(update(GRADE_CELLS).where(GRADE_CELLS.c.id == cell_id).values(max_score=0.0))
    automatic = update(GRADE).where(GRADE.c.cell_id == cell_id, GRADE.c.manual_score.is_(None))
    connection.execute(automatic.values(auto_score=0.0, needs_manual_grade=False))


def _rows(connection: Connection, table: Table, notebook: str) -> Sequence[Any]:
    return connection.execute(select(table).where(table.c.notebook_id == notebook)).all()


def _graded_cells(connection: Connection, notebook: str) -> Sequence[Any]:
    columns = select(BASE_CELL.c.id, BASE_CELL.c.name, GRADE_CELLS.c.max_score)
    joined = columns.join(GRADE_CELLS, BASE_CELL.c.id == GRADE_CELLS.c.id)
    return connection.execute(joined.where(BASE_CELL.c.notebook_id == notebook)).all()
