"""``autograder prove``."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.commands.common import exercises, one_line_errors
from autograder.prove import prove
from autograder.report.untrusted import MESSAGE, one_line, visible


def run(slugs: Sequence[str], *, seeds: int, stock: str) -> int:
    """Prove each exercise and print the findings; return 0 where all promises are kept, else 1."""
    faults = 0
    with one_line_errors():
        for exercise in exercises(slugs).values():
            proof = prove(exercise, seeds=seeds, stock=stock)
            print(one_line(exercise.slug, MESSAGE))
            for line in proof.lines:
                print(f"  {one_line(line, MESSAGE)}")
            for fault in proof.faults:
                print(f"  ✗ {visible(fault).replace(chr(10), chr(10) + '      ')}")
            faults += len(proof.faults)
    return 1 if faults else 0
