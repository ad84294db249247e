"""What every report says in the same words: marks, points, headlines, where the score came from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from autograder.models import CheckResult, CheckStatus, Score
from autograder.values import brief

NO_ANSWER: Final[frozenset[CheckStatus]] = frozenset(("timeout", "not_run"))
"""Statuses of a check that nothing is known about."""
STATUSES: Final[Mapping[CheckStatus, str]] = {
    "passed": "passed", "failed": "failed", "error": "with an error", "timeout": "out of time",
    "memory": "out of memory", "crashed": "crashed", "forbidden": "forbidden", "not_run": "not run",
}  # fmt: skip
"""How a count of checks names what became of them."""
LABELS: Final = {
    "returned": "It returned",
    "after": "It left its arguments as",
    "later": "Read again later, it was",
    "kept": "Read again after all calls, it was",
}
"""How the part of the outcome that a check shows is introduced."""
BY_HAND: Final = "by hand"
"""What stands beside points that the gradebook holds and the checks did not give."""
_FILE: Final = re.compile(r"\A[^:]*\.(?:ipynb|py): ")
"""The file that a reason begins with; a table names the student beside it."""


class Judged(Protocol):
    """What became of a check: of its result, or of what a row keeps of it."""

    @property
    def status(self) -> CheckStatus:
        """What became of it."""


class Kept(Protocol):
    """A submission with what the gradebook holds."""

    @property
    def mark(self) -> float | None:
        """What counts."""

    @property
    def max_score(self) -> float:
        """The points that there are."""


class Marked(Protocol):
    """A submission with its marks: its score, or what a row keeps of it."""

    @property
    def status(self) -> str:
        """Whether it was graded."""

    @property
    def score(self) -> float | None:
        """Its points."""

    @property
    def max_score(self) -> float:
        """The points that there are."""

    @property
    def reason(self) -> str:
        """One line for the whole submission."""

    @property
    def checks(self) -> Sequence[Judged]:
        """Its checks, in the exercise's order."""


def mark(result: Judged) -> str:
    """Return ✓ for a check that passed, … for one without an answer, ✗ for the others."""
    if result.status == "passed":
        return "✓"
    return "…" if result.status in NO_ANSWER else "✗"


def number(value: float) -> str:
    """Return a number of points without needless zeros."""
    return f"{round(value, 4):.10g}"


def points(value: float) -> str:
    """Return a number of points with its unit: 1 point, 0.5 points."""
    return f"{number(value)} point" + ("" if value == 1 else "s")


def share(part: int, whole: int) -> str:
    """Return a part in percent; 0% is said of none only, and 100% of all."""
    percent = int(100 * part / whole + 0.5) if whole else 0
    if 0 < part < whole:
        percent = min(max(percent, 1), 99)
    return f"{percent}%"


def earned(score: Score, result: CheckResult) -> str:
    """Return what a check earned: "1 point", or "0 of 1 point"; what it is worth where nothing was written yet."""
    if result.earned == result.points or score.status == "not_started":
        return points(result.points)
    return f"{number(result.earned)} of {points(result.points)}"


def marks_of(score: Marked) -> str:
    """Return a score as "8/10"; a dash where there is none."""
    return "–" if score.score is None else f"{number(score.score)}/{number(score.max_score)}"


def final_marks_of(row: Kept) -> str:
    """Return what counts of a row as "8/10"; a dash where there is nothing."""
    return "–" if row.mark is None else f"{number(row.mark)}/{number(row.max_score)}"


def is_full(score: Marked) -> bool:
    """Return whether nothing is left to earn."""
    return score.score is not None and score.score >= score.max_score and score.status == "graded"


def headline(score: Marked) -> str:
    """Return one sentence on how the submission did."""
    passed = sum(result.status == "passed" for result in score.checks)
    if score.status == "unreadable":
        return "This submission could not be graded."
    if score.status == "not_started":
        return f"Not started yet: {_sentence(score.reason)}" if score.reason else "Not started yet."
    if is_full(score):
        return "Every check passes. Full marks."
    if not passed:
        return "No check passes yet."
    return f"{passed} of {len(score.checks)} checks pass."


def reason(score: Score) -> str:
    """Return the one thing to say about the whole submission, beside the headline; empty where there is none."""
    if score.status == "not_started":
        return ""
    return _sentence(score.reason or shared_trouble(score.checks))


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", "…", "”", ")")) else f"{text}."


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 student", "2 students"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def shared_trouble(checks: Sequence[CheckResult]) -> str:
    """Return the message where it is the same for every check and about no call: said once, it is not ten errors."""
    messages = {result.message for result in checks}
    if len(messages) == 1 and checks[0].status != "passed" and not checks[0].call:
        return checks[0].message
    return ""


def first_problem(score: Score) -> str:
    """Return in a few words what to look at first; empty where nothing is lost."""
    if score.status != "graded" or score.reason:
        return _FILE.sub("", score.reason) or headline(score)
    lost = next((result for result in score.checks if result.status != "passed"), None)
    if lost is None:
        return ""
    if lost.misconception:
        return f"“{lost.belief}”" if lost.belief else lost.misconception.replace("_", " ")
    if lost.status != "failed":
        return lost.difference or lost.message.partition("\n")[0] or lost.title
    return lost.title


def provenance(score: Score) -> list[tuple[str, str]]:
    """Return (name, value) of everything that the score depends on, in the order in which it is shown."""
    reference = score.reference
    made_by = f"{reference.backend} on {reference.device}" + (f", torch {reference.torch}" if reference.torch else "")
    rows = [
        ("Inputs", f"seed {score.seed_id}"),
        ("Expected values", made_by),
        ("Graded by", score.grader),
        ("Sandbox", ", ".join(score.sandbox) or ("none" if score.checks else "")),
        ("Exercise version", score.version[:12]),
        ("Submission", f"sha256 {score.content_hash[:12]}" if score.content_hash else ""),
        ("Run time", f"{brief(score.duration_s, 2)} s" if score.duration_s else ""),
    ]
    return [(name, value) for name, value in rows if value]
