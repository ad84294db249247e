"""Scores as CSV, for a spreadsheet: one row a student and exercise, the same columns for every exercise."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from autograder.report import words
from autograder.report.rows import TEXT, Row
from autograder.report.untrusted import one_line

COLUMNS: Final = (
    "student", "exercise", "status", "score", "max_score", "checks_passed", "checks", "failed", "misconceptions",
    "reason", "notes", "seed_id", "version", "final_score",
)  # fmt: skip
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")
"""First characters by which a spreadsheet takes a cell for a formula, or looks behind them for one."""


def grades_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a CSV, without their newlines: a header, then by student and exercise; of several for both,
    the last.

    ``failed`` and ``misconceptions`` are ids with a blank between, in the order of the checks. ``score`` is what the
    checks gave, empty where there is none; ``final_score`` is what the gradebook holds, and so the same but for what a
    human or a late penalty changed. Text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    latest = {row.key: row for row in rows}
    yield _line(COLUMNS)
    for key in sorted(latest):
        yield _line(_cells(latest[key]))


def _line(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def _cells(row: Row) -> list[str]:
    failed = [verdict for verdict in row.checks if verdict.status != "passed"] if row.status == "graded" else []
    beliefs = dict.fromkeys(verdict.misconception for verdict in failed if verdict.misconception)
    return [
        _cell(row.student),
        _cell(row.exercise),
        row.status,
        "" if row.score is None else words.number(row.score),
        words.number(row.max_score),
        str(sum(verdict.status == "passed" for verdict in row.checks)),
        str(len(row.checks)),
        _cell(" ".join(verdict.id for verdict in failed)),
        _cell(" ".join(beliefs)),
        _cell(row.reason),
        _cell(row.notes),
        _cell(row.seed_id),
        _cell(row.version),
        "" if row.mark is None else words.number(row.mark),
    ]


def _cell(text: str) -> str:
    line = one_line(text, TEXT)
    return f"'{line}" if text.lstrip(" ").startswith(_FORMULA) else line
