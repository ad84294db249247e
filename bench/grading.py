"""A class of honest submissions, graded by us and by nbgrader itself."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from bench import classes
from bench.runs import Run, folder, grade, has_option
from bench.stock import Stock, Taken
from bench.timing import Amount, Line, Target, number

COUNT: Final = classes.UNIT
EACH: Final = 3
"""Submissions of each exercise that nbgrader grades, which takes seconds for each."""
ROUNDS: Final = 3


def grading() -> Iterator[Line]:
    """Seconds a submission: our whole command, start included; nbgrader's work alone, without its start."""
    without = has_option("--no-feedback")
    plain: list[Run] = []
    full: list[Run] = []
    other: list[Taken] = []
    with folder() as work:
        made = classes.make(work / "class", COUNT, classes.known_answers())
        sample = classes.spread(made, EACH)
        stock = Stock(work / "stock", sample)
        for turn in range(ROUNDS):
            full.append(grade(work / "class", work / f"out{turn}"))
            other.append(stock.grade())
            if without:
                plain.append(grade(work / "class", work / f"plain{turn}", feedback=False))
    how = (
        f"nbgrader grades {len(sample)} of the {COUNT}, {EACH} of each exercise, in one process, and its start is not "
        "counted; ours is."
    )
    if not without:
        how += " Our pages are written too: there is no way to leave them out."
    details = {
        "submissions": COUNT,
        "sample": len(sample),
        "ours_s": [run.wall for run in full],
        "ours_without_pages_s": [run.wall for run in plain],
        "ours_cpu_s": [run.cpu for run in full],
        "nbgrader_s": [asdict(taken) for taken in other],
        "main_memory_mib": max(run.main_memory for run in full),
        "own_memory_mib": max(run.own_memory for run in full),
    }
    autograde = statistics.median(taken.autograde for taken in other)
    both = statistics.median(taken.autograde + taken.feedback for taken in other)
    cpu, cpu_other = statistics.median(run.cpu for run in full) / COUNT, statistics.median(t.cpu for t in other)
    with_pages = statistics.median(run.wall for run in full) / COUNT
    ours = statistics.median(run.wall for run in plain) / COUNT if plain else with_pages
    yield Line(
        "grading",
        f"{COUNT} honest submissions with gradebook, against nbgrader autograde",
        Amount("nbgrader", autograde, "s a submission"),
        Amount("ours", ours, "s"),
        Target("≥", 200),
        ROUNDS,
        how,
        details,
    )
    yield Line(
        "grading_with_feedback",
        f"{COUNT} honest submissions with feedback pages, against nbgrader autograde and generate_feedback",
        Amount("nbgrader", both, "s a submission"),
        Amount("ours", with_pages, "s"),
        Target("≥", 100),
        ROUNDS,
        f"Processor time, which a busy machine does not change as much: nbgrader {number(cpu_other)} s, ours "
        f"{number(cpu)} s a submission.",
        details,
    )
