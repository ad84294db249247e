"""``autograder release``."""

from __future__ import annotations

from collections.abc import Sequence

from autograder import catalog
from autograder.commands.common import exercises, one_line_errors


def run(slugs: Sequence[str], *, check_only: bool) -> int:
    """Write what is generated, or with ``check_only`` say what is not current; return the exit status."""
    from autograder.release import release

    with one_line_errors():
        lines = release(catalog.course_root(), tuple(exercises(slugs)), check=check_only)
    for line in lines:
        print(line)
    if not lines:
        print("everything is current")
    return 1 if check_only and lines else 0
