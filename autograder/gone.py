"""Who was in the last run over an output and is not in this one: said once, so that nobody leaves a class unseen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from autograder.choice import listed
from autograder.earlier import Key
from autograder.report.rows import Row
from autograder.report.words import counted

_NAMED: Final = 3


def gone_text(gone: Mapping[Key, str], rows: Sequence[Row], skipped: Callable[[str], bool] = lambda name: False) -> str:
    """Return one sentence on the students, and the single submissions, that left the class; "" where none did.

    It is also "" where a part of a class was graded on purpose, as one student's folder is: from a folder that is not
    the one of before, with fewer students than are missing.

    Args:
        gone: what was in the last run and not in this one, and the folder of that class, "" where it is not known.
        rows: of this run.
        skipped: whether a student was left out on purpose.
    """
    left = {key: tree for key, tree in gone.items() if not skipped(key[0])}
    if not left:
        return ""
    here = {row.student for row in rows}
    students = sorted({student for student, _ in left} - here)
    if len(students) > len(here) and not set(left.values()) & {row.tree for row in rows}:
        return ""
    single = sorted(f"{student}: {exercise}" for student, exercise in left if student in here)
    parts = [
        f"{counted(len(names), what)} ({listed(names, _NAMED)})"
        for names, what in ((students, "student"), (single, "submission"))
        if names
    ]
    return (
        f"In the last run and not in this class: {' and '.join(parts)}. They are in grades.csv, records.jsonl and the "
        "report no more; marks and pages stay."
    )
