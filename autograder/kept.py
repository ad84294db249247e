"""What the last run kept in mind: that the gradebook, as it is now, holds what the records say.

Whether a file was written since is seen by its identity, size and time; a mark given by hand in formgrader is such a
writing, and is honored by comparing everything as if nothing were known. So is a gradebook of another address, a copy
that was put back, a course with another exercise, and whatever else this cannot be sure of.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from autograder import __version__, files
from autograder.earlier import Key
from autograder.models import Exercise
from autograder.output import Output

FILE: Final = ".graded.json"
_COUNTER: Final = slice(24, 28)
"""SQLite's own count of changes in the head of its file: times have their grain."""
_LOGS: Final = ("-wal", "-journal")
"""Where a change may stand that is not in the file yet."""


class Kept:
    """What a run keeps in mind for the next."""

    def __init__(self, output: Output, exercises: Mapping[str, Exercise]) -> None:
        """Look at nothing yet.

        Args:
            output: the run's.
            exercises: of the course, by slug.
        """
        self._path, self._records = output.folder / FILE, output.folder / "records.jsonl"
        self._output, self._exercises = output, exercises

    def look_again(self) -> dict[Key, tuple[str, ...]] | None:
        """Return the marks given by hand that waited for another look at the end of the last run.

        Returns:
            As ``GradebookWriter.look_again``; None where it is not certain that the gradebook holds what the records
            say.
        """
        try:
            kept = json.loads(self._path.read_bytes())
            if not isinstance(kept, dict) or kept.get("state") != self._state():
                return None
            return {(student, exercise): tuple(cells) for student, exercise, cells in kept["look_again"]}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, look_again: Mapping[Key, Sequence[str]]) -> None:
        """Keep in mind that gradebook and records are in step, and what waits for another look."""
        state = self._state()
        if state is None:
            self._path.unlink(missing_ok=True)
            return
        waits = [[student, exercise, list(cells)] for (student, exercise), cells in look_again.items()]
        files.write(self._path, json.dumps({"state": state, "look_again": waits}) + "\n")

    def _state(self) -> list[Any] | None:
        """Return what identifies both files as they are; None where the gradebook is none that a look can identify."""
        gradebook = self._output.gradebook_file
        if gradebook is None or any(os.path.exists(f"{gradebook}{log}") for log in _LOGS):
            return None
        try:
            with open(gradebook, "rb") as stream:
                head = stream.read(100)
            return [str(gradebook), _of(gradebook), head[_COUNTER].hex(), _of(self._records), self._course()]
        except OSError:
            return None

    def _course(self) -> str:
        # The report names every exercise of the course, those that nobody handed in as well.
        versions = [(slug, one.version) for slug, one in self._exercises.items()]
        return hashlib.sha256(f"{__version__} {versions!r}".encode()).hexdigest()


def _of(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]
