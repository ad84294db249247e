"""``autograder reference record`` and ``autograder reference verify``."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.commands.common import exercises, one_line_errors
from autograder.reference import traces
from autograder.report.untrusted import MESSAGE, one_line


def record(slugs: Sequence[str], device: str) -> int:
    """Record traces and print the files; return 0."""
    command = " ".join(["autograder reference record", *slugs, *([f"--device {device}"] if device else [])])
    with one_line_errors():
        for path in traces.record(exercises(slugs).values(), device, command):
            print(one_line(str(path), MESSAGE))
    return 0


def verify(slugs: Sequence[str], device: str) -> int:
    """Compare live with recorded and print what differs; return 0 where nothing does, else 1."""
    with one_line_errors():
        agreed, faults = traces.verify(exercises(slugs).values(), device)
    for fault in faults:
        print(f"✗ {one_line(fault, MESSAGE)}")
    print(f"{agreed} entries agree, {len(faults)} do not")
    return 1 if faults else 0
