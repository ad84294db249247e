"""Write an exercise as notebooks: the student's, the instructor's source for nbgrader, and the graded one.

Every text that this module returns is byte-stable: the same exercise gives the same file on every machine.
``notebook_reader`` is the way back, from a notebook to the student's code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from autograder.models import Cell, Check, CheckResult, Exercise, Score
from autograder.notebook_reader import Json, RawCell, Unreadable, read_cells, read_notebook
from autograder.notebook_reader import ReadNotebook as ReadNotebook
from autograder.solution_cell import STUB, opened, solved

__all__ = [
    "STUB",
    "ReadNotebook",
    "Unreadable",
    "graded_notebook",
    "is_untouched",
    "points",
    "read_notebook",
    "solution_id",
    "source_notebook",
    "student_notebook",
    "submission_notebook",
]

_KERNEL: Final = {"display_name": "Python 3", "language": "python", "name": "python3"}
_SETUP: Final = """\
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
_SETUP_LOCAL: Final = """\
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


def solution_id(exercise: Exercise) -> str:
    """Return the grade id of the cell that holds the student's answer; a check cell's is the check's id."""
    return f"{exercise.slug}_solution"


def points(number: float) -> str:
    """Return a number of points as a reader writes it: 1 point, 0.5 points, 2 points."""
    return f"{number:g} point" + ("" if number == 1 else "s")


def student_notebook(exercise: Exercise, repository: str) -> str:
    """Return the student's notebook as JSON text.

    Args:
        exercise: the exercise.
        repository: URL of the git repository that Colab installs the package from; "" to leave that out.
    """
    return _text(exercise, _cells(exercise, repository, opened(exercise.starter)))


def submission_notebook(exercise: Exercise, answer: str) -> str:
    """Return the student's notebook with an answer in place of the starter, as a student would submit it."""
    return _text(exercise, _cells(exercise, "", opened(exercise.starter), answer))


def source_notebook(exercise: Exercise, repository: str) -> str:
    """Return nbgrader's source notebook: the student's, with the reference solution between its two marks.

    ``nbgrader generate_assignment`` turns it into cells equal to those of ``student_notebook``.

    Raises:
        ValueError: starter and solution do not fit together.
    """
    try:
        solution = solved(exercise.starter, exercise.solution)
    except ValueError as error:
        raise ValueError(f"{exercise.slug}: {error}") from None
    cells = _cells(exercise, repository, solution)
    for cell in cells:
        # What only the student's version has: nbgrader sets them when it releases the assignment.
        for key in ("checksum", "cell_type"):
            cell["metadata"].get("nbgrader", {}).pop(key, None)
        cell["metadata"].pop("deletable", None)
        cell["metadata"].pop("editable", None)
    return _text(exercise, cells)


# ----------------------------------------------------------------------------- cells


def _cells(exercise: Exercise, repository: str, solution: str, answer: str | None = None) -> list[Json]:
    slug = exercise.slug
    setup = _SETUP.replace("REPOSITORY", repository) if repository else _SETUP_LOCAL
    solution_cell = _marked(_code(solution_id(exercise), solution), solution=True)
    if answer is not None:
        solution_cell["source"] = _lines(answer)
    return [
        _marked(_markdown(f"{slug}_statement", _statement(exercise)), locked=True),
        _marked(_code(f"{slug}_setup", setup), locked=True),
        *(_markdown(f"{slug}_hint_{n}", _hint(n, hint)) for n, hint in enumerate(exercise.hints, 1)),
        solution_cell,
        _code(f"{slug}_check", _free(exercise)),
        *(_check_cell(exercise, check) for check in exercise.checks),
    ]


def _statement(exercise: Exercise) -> str:
    titled = exercise.statement.startswith("# ")
    return exercise.statement if titled else f"# {exercise.title}\n\n{exercise.statement}"


def _free(exercise: Exercise) -> str:
    return _FREE.format(slug=json.dumps(exercise.slug), entry=exercise.entry)


def _check_cell(exercise: Exercise, check: Check) -> Json:
    source = _GRADED.format(
        title=" ".join(check.title.split()),
        points=points(check.points),
        slug=json.dumps(exercise.slug),
        entry=exercise.entry,
        check=json.dumps(check.id),
    )
    return _marked(_code(check.id, source), grade=True, locked=True, points=check.points)


def _hint(number: int, hint: str) -> str:
    # The blank lines make Markdown inside the fold render as Markdown.
    return f"<details>\n<summary>Hint {number}</summary>\n\n{hint}\n\n</details>"


def _markdown(cell_id: str, source: str) -> Json:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": _lines(source)}


def _code(cell_id: str, source: str) -> Json:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": {},
        "outputs": [],
        "source": _lines(source),
    }


def _lines(source: str) -> list[str]:
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
    mark["checksum"] = _checksum({**cell, "metadata": {"nbgrader": mark}})
    return {**cell, "metadata": {**released, "nbgrader": mark}}


def _checksum(cell: Json) -> str:
    from nbformat import from_dict  # here, because nbgrader takes two seconds to import
    from nbgrader.utils import compute_checksum

    node = from_dict({**cell, "source": "".join(cell["source"])})  # type: ignore[no-untyped-call]
    return str(compute_checksum(node))


def _text(exercise: Exercise, cells: Sequence[Json]) -> str:
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
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


# ------------------------------------------------------------------------- untouched


def is_untouched(cells: Iterable[Cell], exercise: Exercise) -> bool:
    """Return whether the student's cells say no more than the notebook that was handed out, or the starter.

    Blanks, empty lines and comments do not count; the texts are compared, nothing is parsed.
    """
    head, tail = (_plain(part) for part in _SETUP.split("REPOSITORY"))
    ours = {_plain(text) for text in ("", _SETUP_LOCAL, _free(exercise), exercise.starter, opened(exercise.starter))}
    texts = [_plain(cell.source) for cell in cells]
    # The set-up cell's URL is the one thing in it that differs between courses; it stands on one line.
    return bool(texts) and all(
        text in ours or (text.startswith(head) and text.endswith(tail) and "\n" not in text[len(head) : -len(tail)])
        for text in texts
    )


def _plain(source: str) -> str:
    lines = (re.sub(r"\s+", "", line.partition("#")[0]) for line in source.splitlines())
    return "\n".join(line for line in lines if line)


# ---------------------------------------------------------------------------- graded


def graded_notebook(data: bytes, exercise: Exercise, score: Score) -> str:
    """Return the notebook that formgrader shows: the student's own cells, then every check with its result.

    No output of the student's is kept, and their text cells are shown as plain text: an instructor's browser renders
    this file with the instructor's rights.

    Args:
        data: the submitted notebook; b"" or anything unreadable gives the student's notebook instead.
        exercise: the exercise.
        score: its checks' results; where nothing was graded, its reason is shown at each check.
    """
    ours = _cells(exercise, "", opened(exercise.starter))
    by_id = {cell["id"]: cell for cell in ours}
    try:
        raw, _ = read_cells(data)
        kept = _students_cells(raw, exercise, by_id)
    except Unreadable:
        kept = [cell for cell in ours if cell["id"] not in {check.id for check in exercise.checks}]
    results = {result.id: result for result in score.checks}
    reason = score.reason if score.status != "graded" else ""
    checks = [
        {**by_id[check.id], "outputs": [_output(check, results.get(check.id), reason)]} for check in exercise.checks
    ]
    return _text(exercise, [*kept, *checks])


def _students_cells(raw: Sequence[RawCell], exercise: Exercise, by_id: dict[str, Json]) -> list[Json]:
    answer_id = solution_id(exercise)
    answers = [cell.number for cell in raw if cell.kind == "code" and cell.grade_id == answer_id and not cell.graded]
    known = {"".join(cell["source"]) for cell in by_id.values() if cell["cell_type"] == "markdown"}
    kept = []
    for cell in raw:
        if cell.graded:
            continue
        if answers and cell.number == answers[-1]:  # the last one counts, as in nbgrader
            kept.append({**by_id[answer_id], "source": _lines(cell.source)})
        elif cell.kind == "code":
            kept.append(_code(f"cell-{cell.number}", cell.source))
        else:
            text = cell.source if cell.source.strip("\n") in known else _as_text(cell.source)
            kept.append(_markdown(f"cell-{cell.number}", text))
    return kept if answers else [*kept, {**by_id[answer_id], "source": []}]


def _as_text(source: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{source}\n{fence}"


def _output(check: Check, result: CheckResult | None, reason: str) -> Json:
    if result is not None and result.status == "passed":
        return {"name": "stdout", "output_type": "stream", "text": [passed_line(result)]}
    message = reason or (result.message if result is not None else "") or "This check was not run."
    return {
        "ename": "CheckFailed",
        "evalue": message.splitlines()[0],
        "output_type": "error",
        "traceback": [failed_text(check.title, message)],
    }


def passed_line(result: CheckResult) -> str:
    """Return the line that a check cell prints when its check passed."""
    return f"✓ {result.title} ({points(result.points)})\n"


def failed_text(title: str, message: str) -> str:
    """Return what a check cell shows when its check failed: title and message."""
    return f"✗ {title}\n{message}"
