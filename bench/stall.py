"""What endless loops cost the class that they are handed in with."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Final

from bench import classes
from bench.machine import cores
from bench.runs import folder, grade
from bench.timing import Amount, Line, Target

COUNT: Final = 300
LIMIT: Final = 2.0
"""Seconds that each exercise gives a submission in this measurement; the exercises' own limits are longer."""


def stall() -> Iterator[Line]:
    """One in three of 300 never ends: the time that each of those adds to the class of the other 200."""
    workers = cores()
    with folder() as work:
        course = classes.course_with_limit(work / "course", LIMIT)
        answers = classes.known_answers(course)
        made = classes.make(work / "mixed", COUNT, answers, looping=True)
        classes.make(work / "honest", COUNT, answers, looping=True, without_loops=True)
        loops = sum(one.loops for one in made)
        honest = [grade(work / "honest", work / "out0", workers=workers, course=course).wall]
        mixed = grade(work / "mixed", work / "mixed.out", workers=workers, course=course).wall
        honest.append(grade(work / "honest", work / "out1", workers=workers, course=course).wall)
    added = (mixed - statistics.mean(honest)) / loops
    yield Line(
        "stall",
        f"what each of {loops} endless loops among {COUNT} adds, against its limit over the cores",
        Amount("added by each", added, "s"),
        Amount(f"limit over {workers} cores", LIMIT / workers, "s"),
        Target("≤", 1.1),
        1,
        f"The class with them took {mixed:.0f} s, the {COUNT - loops} others alone, before and after it, "
        f"{honest[0]:.0f} s and {honest[1]:.0f} s.",
        {"limit_s": LIMIT, "workers": workers, "loops": loops, "mixed_s": mixed, "honest_s": honest},
    )
