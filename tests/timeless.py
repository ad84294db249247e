"""A grading process whose scores say nothing of how long they took: what differs between any two runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

START: Final = (
    f"import sys; sys.path[:0] = [{str(Path(__file__).parents[1])!r}, {str(Path(__file__).parent)!r}]; "
    "import timeless; timeless.main()"
)
"""What its interpreter runs."""


def main() -> None:
    """Do what ``worker.main`` does."""
    from autograder import worker

    real = worker.grade_one
    worker.grade_one = lambda *args: replace(real(*args), duration_s=0.0)
    worker.main(int(sys.argv[1]), sys.argv[2] == "1")
