"""The cells of an exercise's notebook, as nbgrader releases them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from autograder.models import Check, Exercise
from autograder.notebook_reader import Json

_KERNEL: Final = {"display_name": "Python 3", "language": "python", "name": "python3"}
# REPOSITORY is replaced; plain Python, because the confined process and other readers know no magics.
SETUP: Final = """\
# Run this cell first. Where the course is not installed, as on Colab, it installs it.
try:
    from autograder import check
except ModuleNotFoundError:
    import importlib
    import subprocess
    import sys

    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "git+REPOSITORY"], check=True)
    importlib.invalidate_caches()
    from autograder import check
"""
SETUP_LOCAL: Final = """\
# Run this cell first.
from autograder import check
"""
_FREE: Final = """\
# Run this cell as often as you like: it tries every check and shows what it finds.
check({slug}, {entry})
"""
_GRADED: Final = """\
# {title} ({points})
from autograder import check
check({slug}, {entry}, {check})
"""


STRETCH: Final = "*A stretch exercise: it goes further than the chapter, and nothing later builds on it.*"


def solution_id(exercise: Exercise) -> str:
    """Return the grade id of the cell that holds the student's answer; a check cell's is the check's id."""
    return f"{exercise.slug}_solution"


def points(number: float) -> str:
    """Return a number of points as a reader writes it: 1 point, 0.5 points, 2 points."""
    return f"{number:g} point" + ("" if number == 1 else "s")


def all_cells(exercise: Exercise, repository: str, solution: str, answer: str | None = None) -> list[Json]:
    """Return the student's cells: the task, set-up, hints, the answer's cell, all feedback, and one cell a check.

    Args:
        exercise: the exercise.
        repository: where the set-up cell installs the package from; "" to install nothing.
        solution: what was handed out in the answer's cell.
        answer: what stands there now, where that is something else.
    """
    slug = exercise.slug
    setup = SETUP.replace("REPOSITORY", repository) if repository else SETUP_LOCAL
    solution_cell = _marked(code_cell(solution_id(exercise), solution), solution=True)
    if answer is not None:
        solution_cell["source"] = source_lines(answer)
    return [
        _marked(markdown_cell(f"{slug}_statement", _statement(exercise)), locked=True),
        _marked(code_cell(f"{slug}_setup", setup), locked=True),
        *(markdown_cell(f"{slug}_hint_{n}", _hint(n, hint)) for n, hint in enumerate(exercise.hints, 1)),
        solution_cell,
        code_cell(f"{slug}_check", free_cell(exercise)),
        *(_check_cell(exercise, check) for check in exercise.checks),
    ]


def _statement(exercise: Exercise) -> str:
    titled = exercise.statement.startswith("# ")
    text = exercise.statement if titled else f"# {exercise.title}\n\n{exercise.statement}"
    if not exercise.stretch:
        return text
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{STRETCH}\n{rest}"


def free_cell(exercise: Exercise) -> str:
    """Return the source of the cell that shows all feedback."""
    return _FREE.format(slug=json.dumps(exercise.slug), entry=exercise.entry)


def _check_cell(exercise: Exercise, check: Check) -> Json:
    source = _GRADED.format(
        title=" ".join(check.title.split()),
        points=points(check.points),
        slug=json.dumps(exercise.slug),
        entry=exercise.entry,
        check=json.dumps(check.id),
    )
    return _marked(code_cell(check.id, source), grade=True, locked=True, points=check.points)


def _hint(number: int, hint: str) -> str:
    # The blank lines make Markdown inside the fold render as Markdown.
    return f"<details>\n<summary>Hint {number}</summary>\n\n{hint}\n\n</details>"


def markdown_cell(cell_id: str, source: str) -> Json:
    """Return a text cell."""
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source_lines(source)}


def code_cell(cell_id: str, source: str) -> Json:
    """Return a code cell that has not been run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": {},
        "outputs": [],
        "source": source_lines(source),
    }


def source_lines(source: str) -> list[str]:
    """Return a source as a notebook holds it: lines with their ends, none empty at either end."""
    return source.strip("\n").splitlines(keepends=True)


def _marked(cell: Json, *, grade: bool = False, solution: bool = False, locked: bool = False, **more: float) -> Json:
    """Return the cell with nbgrader's metadata, exactly as nbgrader releases it; its schema allows no other key."""
    mark = {
        "cell_type": cell["cell_type"],
        "grade": grade,
        "grade_id": cell["id"],
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
        **more,
    }
    released: Json = {"deletable": False} if solution else {"deletable": False, "editable": False}
    mark["checksum"] = _checksum("".join(cell["source"]), mark)
    return {**cell, "metadata": {**released, "nbgrader": mark}}


def _checksum(source: str, mark: Json) -> str:
    """Return nbgrader's checksum of a cell with its mark: an MD5 of what it says, one thing after another.

    nbgrader's own function takes two seconds to import; a test compares the two.
    """
    parts = [source, *(str(mark[key]) for key in ("cell_type", "grade", "solution", "locked", "grade_id"))]
    if mark["grade"]:
        parts.append(str(float(mark["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def notebook_text(exercise: Exercise, cells: Sequence[Json], *, for_people: bool = True) -> str:
    """Return cells as the JSON text of a notebook of the exercise.

    Args:
        exercise: the exercise.
        cells: of nbformat 4.
        for_people: a line for each item, as Jupyter writes it and as differences are read; else all in one line, which
            takes a tenth of the time.
    """
    notebook = {
        "cells": cells,
        "metadata": {
            "half_precision": {"exercise": exercise.slug, "version": exercise.version},
            "kernelspec": _KERNEL,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1 if for_people else None, sort_keys=True) + "\n"
