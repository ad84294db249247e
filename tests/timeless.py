"""What differs between any two runs of a class is how long they took: runs that do not say it, pages without it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

START: Final = (
    f"import sys; sys.path[:0] = [{str(Path(__file__).parents[1])!r}, {str(Path(__file__).parent)!r}]; "
    "import timeless; timeless.main()"
)
"""What the interpreter of a grading process runs, whose scores say nothing of how long they took."""


def main() -> None:
    """Do what ``worker.main`` does."""
    from autograder import worker

    real = worker.grade_one
    worker.grade_one = lambda *args: replace(real(*args), duration_s=0.0)
    worker.main(int(sys.argv[1]), sys.argv[2] == "1")


def untimed(page: str) -> str:
    """Return a page without how long anything took, and without what is there for that alone.

    On a busy machine any submission may be the one that is called slow.
    """
    page = re.sub(r"<tr>(?:(?!</tr>).)*<strong>slow</strong>.*?</tr>\n", "", page)
    page = page.replace(", slow</strong>", "</strong>")
    page = re.sub(r"<table>\n<thead>(?:(?!</thead>).)*</thead>\n<tbody>\n</tbody>\n</table>\n", "", page)
    return re.sub(r"[\d.]+(e-\d+)? (ms\b|s\b|min\b)(, [\d,]+ × the median)?", "...", page)
