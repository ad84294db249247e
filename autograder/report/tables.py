"""Scores as CSV, for a spreadsheet: one row a student and exercise, the same columns for every exercise."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

from autograder.models import Score
from autograder.report import words
from autograder.report.untrusted import one_line

COLUMNS: Final = (
    "student", "exercise", "status", "score", "max_score", "checks_passed", "checks", "failed", "misconceptions",
    "reason", "notes", "seed_id", "version",
)  # fmt: skip
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")
"""First characters by which a spreadsheet takes a cell for a formula, or looks behind them for one."""


def grades_csv(scores: Sequence[Score]) -> str:
    """Return a CSV text with a header row, sorted by student and exercise; of several scores for both, the last.

    ``failed`` and ``misconceptions`` are ids with a blank between, in the order of the checks; ``score`` is empty where
    there is none. Text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    latest = {(score.student, score.exercise): score for score in scores}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(latest[key]) for key in sorted(latest))
    return out.getvalue()


def _row(score: Score) -> list[str]:
    failed = [result for result in score.checks if result.status != "passed"] if score.status == "graded" else []
    beliefs = dict.fromkeys(result.misconception for result in failed if result.misconception)
    return [
        _cell(score.student),
        _cell(score.exercise),
        score.status,
        "" if score.score is None else words.number(score.score),
        words.number(score.max_score),
        str(sum(result.status == "passed" for result in score.checks)),
        str(len(score.checks)),
        _cell(" ".join(result.id for result in failed)),
        _cell(" ".join(beliefs)),
        _cell(score.reason),
        _cell("; ".join(score.notes)),
        _cell(score.seed_id),
        _cell(score.version),
    ]


def _cell(text: str) -> str:
    line = one_line(text, 1_000)
    return f"'{line}" if text.lstrip(" ").startswith(_FORMULA) else line
