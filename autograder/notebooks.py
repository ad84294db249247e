"""Write an exercise as notebooks: the student's, the instructor's source for nbgrader, and the graded one.

Every text that this module returns is byte-stable: the same exercise gives the same file on every machine.
``notebook_cells`` holds what stands in them; ``notebook_reader`` is the way back, to the student's code.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from autograder.models import Cell, Check, CheckResult, Exercise, Score, Submission
from autograder.notebook_cells import (
    SETUP,
    SETUP_LOCAL,
    all_cells,
    code_cell,
    free_cell,
    markdown_cell,
    notebook_text,
    points,
    solution_id,
    source_lines,
)
from autograder.notebook_reader import Json, RawCell, Unreadable, read_cells, read_notebook
from autograder.notebook_reader import ReadNotebook as ReadNotebook
from autograder.report.untrusted import visible
from autograder.solution_cell import STUB, opened, solved

__all__ = [
    "STUB",
    "ReadNotebook",
    "Unreadable",
    "code_hash",
    "graded_notebook",
    "is_untouched",
    "points",
    "read_notebook",
    "solution_id",
    "source_notebook",
    "student_notebook",
    "submission_notebook",
]


def student_notebook(exercise: Exercise, repository: str) -> str:
    """Return the student's notebook as JSON text.

    Args:
        exercise: the exercise.
        repository: URL of the git repository that Colab installs the package from; "" to leave that out.
    """
    return notebook_text(exercise, all_cells(exercise, repository, opened(exercise.starter)))


def submission_notebook(exercise: Exercise, answer: str) -> str:
    """Return the student's notebook with an answer in place of the starter, as a student would submit it."""
    return notebook_text(exercise, all_cells(exercise, "", opened(exercise.starter), answer))


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
    cells = all_cells(exercise, repository, solution)
    for cell in cells:
        # What only the student's version has: nbgrader sets them when it releases the assignment.
        for key in ("checksum", "cell_type"):
            cell["metadata"].get("nbgrader", {}).pop(key, None)
        cell["metadata"].pop("deletable", None)
        cell["metadata"].pop("editable", None)
    return notebook_text(exercise, cells)


# ------------------------------------------------------------------------- untouched


def is_untouched(cells: Iterable[Cell], exercise: Exercise) -> bool:
    """Return whether the student's cells say no more than the notebook that was handed out, or the starter.

    Blanks, empty lines and comments do not count; the texts are compared, nothing is parsed.
    """
    kept = list(cells)
    return bool(kept) and not own_cells(kept, exercise)


def code_hash(submission: Submission, own: Sequence[Cell]) -> str:
    """Return the hash of a submission's code: of the student's ``own`` cells."""
    if submission.unreadable:  # damaged work is other work than what was handed in before
        return _sha256(f"unreadable {submission.content_hash}")
    return _sha256(json.dumps([cell.source for cell in own]))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_URL: Final = re.compile(r"[\w.:/@~+-]*")


def own_cells(cells: Iterable[Cell], exercise: Exercise) -> tuple[Cell, ...]:
    """Return the cells that say something that was not handed out."""
    ours = _handed_out(exercise.starter, free_cell(exercise))
    head, tail = _SETUP

    def handed_out(text: str) -> bool:
        # The set-up cell's URL is the one thing in it that differs between courses; it stands on one line.
        between = text.removeprefix(head).removesuffix(tail)
        return text in ours or (text == head + between + tail and _URL.fullmatch(between) is not None)

    return tuple(cell for cell in cells if not handed_out(_plain(cell.source)))


def _plain(source: str) -> str:
    lines = ["".join(line.partition("#")[0].split()) for line in source.splitlines()]
    return "\n".join([line for line in lines if line])


_SETUP: Final = tuple(_plain(part) for part in SETUP.split("REPOSITORY"))
"""What stands before and after the URL in the set-up cell."""


@functools.lru_cache(maxsize=64)
def _handed_out(starter: str, free: str) -> frozenset[str]:
    """Return the cells of an exercise that say nothing of the student's, one set an exercise of the course."""
    return frozenset(_plain(text) for text in ("", SETUP_LOCAL, free, starter, opened(starter)))


# ---------------------------------------------------------------------------- graded


def graded_notebook(data: bytes, exercise: Exercise, score: Score) -> str:
    """Return the notebook that formgrader shows: the student's own cells, then every check with its result.

    No output of the student's is kept, and their text cells are shown as plain text: an instructor's browser renders
    this file with the instructor's rights. What a message quotes of the student's is made visible: half a surrogate
    pair would stop every export of the file.

    Args:
        data: the submitted notebook; b"" or anything unreadable gives the student's notebook instead.
        exercise: the exercise.
        score: its checks' results; where nothing was graded, its reason is shown at each check.
    """
    by_id = _our_cells(_Shown.of(exercise))
    try:
        raw, _ = read_cells(data)
        kept = _students_cells(raw, exercise, by_id)
    except Unreadable:
        kept = [cell for name, cell in by_id.items() if name not in {check.id for check in exercise.checks}]
    results = {result.id: result for result in score.checks}
    reason = score.reason if score.status != "graded" else ""
    checks = [
        {**by_id[check.id], "outputs": [_output(check, results.get(check.id), reason)]} for check in exercise.checks
    ]
    return notebook_text(exercise, [*kept, *checks], for_people=False)


@dataclass(frozen=True, slots=True)
class _Shown:
    """An exercise, and all of it that its notebooks show, by which two are the same."""

    key: tuple[Any, ...]
    exercise: Exercise = field(compare=False)

    @classmethod
    def of(cls, exercise: Exercise) -> _Shown:
        """Return an exercise's."""
        texts = (exercise.slug, exercise.title, exercise.statement, exercise.stretch, exercise.hints)
        checks = tuple((check.id, check.title, str(check.points)) for check in exercise.checks)
        return cls((*texts, exercise.starter, exercise.entry, checks), exercise)


@functools.lru_cache(maxsize=64)
def _our_cells(shown: _Shown) -> Mapping[str, Json]:
    """Return the cells that were handed out, by their ids; nobody changes them."""
    cells = all_cells(shown.exercise, "", opened(shown.exercise.starter))
    return {cell["id"]: cell for cell in cells}


def _students_cells(raw: Sequence[RawCell], exercise: Exercise, by_id: Mapping[str, Json]) -> list[Json]:
    answer_id = solution_id(exercise)
    answers = [cell.number for cell in raw if cell.kind == "code" and cell.grade_id == answer_id and not cell.graded]
    known = {"".join(cell["source"]) for cell in by_id.values() if cell["cell_type"] == "markdown"}
    kept = []
    for cell in raw:
        if cell.graded:
            continue
        if answers and cell.number == answers[-1]:  # the last one counts, as in nbgrader
            kept.append({**by_id[answer_id], "source": source_lines(cell.source)})
        elif cell.kind == "code":
            kept.append(code_cell(f"cell-{cell.number}", cell.source))
        else:
            text = cell.source if cell.source.strip("\n") in known else _as_text(cell.source)
            kept.append(markdown_cell(f"cell-{cell.number}", text))
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
        "evalue": visible(message).partition("\n")[0],
        "output_type": "error",
        "traceback": [failed_text(check.title, message)],
    }


def passed_line(result: CheckResult) -> str:
    """Return the line that a check cell prints when its check passed."""
    return f"✓ {result.title} ({points(result.points)})\n"


def failed_text(title: str, message: str) -> str:
    """Return what a check cell shows when its check failed: title and message, which may quote the student's code."""
    return f"✗ {title}\n{visible(message)}"
