"""What the last run kept in mind: that the gradebook, as it is now, holds what the records say.

Whether the gradebook was written to since is seen by its fingerprint; a mark given by hand in formgrader is such a
writing, and is honored by comparing everything as if nothing were known. So is another gradebook, a copy that was put
back, a course with another exercise, and whatever else this cannot be sure of.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final

from autograder import __version__, files
from autograder.earlier import Key
from autograder.errors import CourseError
from autograder.gradebook_seen import fingerprint_of
from autograder.index import RECORDS, identity
from autograder.models import Exercise
from autograder.output import Output

FILE: Final = ".graded.json"


class Kept:
    """What a run keeps in mind for the next."""

    def __init__(self, output: Output, exercises: Mapping[str, Exercise]) -> None:
        """Look at nothing yet.

        Args:
            output: the run's.
            exercises: of the course, by slug.
        """
        self._path, self._records = output.folder / FILE, output.folder / RECORDS
        self._output, self._exercises = output, exercises
        self.fingerprint = ""
        """Of the gradebook, where it holds what the records say."""

    def look_again(self) -> dict[Key, tuple[str, ...]] | None:
        """Return the marks given by hand that waited for another look at the end of the last run.

        Returns:
            As ``GradebookWriter.look_again``; None where it is not certain that the gradebook holds what the records
            say.
        """
        try:
            kept = json.loads(self._path.read_bytes())
            then = kept["gradebook"], kept["records"], kept["course"]
            if not then[0] or then != (fingerprint_of(self._output.gradebook), identity(self._records), self._course()):
                return None
            found = {(student, exercise): tuple(cells) for student, exercise, cells in kept["look_again"]}
        except (CourseError, OSError, ValueError, KeyError, TypeError, RecursionError):
            return None  # where the gradebook is the trouble, opening it says so
        self.fingerprint = then[0]
        return found

    def left_gradebook(self) -> bool:
        """Return whether the last run left a gradebook in the file that this one is to write to."""
        file = self._file()
        with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
            return file != "" and json.loads(self._path.read_bytes()).get("file") == file
        return False

    def keep(self, fingerprint: str, look_again: Mapping[Key, Sequence[str]]) -> None:
        """Keep in mind that gradebook and records are in step, and what waits for another look.

        Args:
            fingerprint: of the gradebook; "" where it is not certain that nobody else wrote to it.
            look_again: as ``look_again`` is to return it.
        """
        waits = [[student, exercise, list(cells)] for (student, exercise), cells in look_again.items()]
        kept = {"gradebook": fingerprint, "records": identity(self._records), "course": self._course()}
        kept["file"] = self._file()
        files.write(self._path, json.dumps({**kept, "look_again": waits}) + "\n")

    def _file(self) -> str:
        return str(self._output.gradebook_file or "")

    def _course(self) -> str:
        # The report names every exercise of the course, those that nobody handed in as well.
        versions = [(slug, one.version) for slug, one in self._exercises.items()]
        return hashlib.sha256(f"{__version__} {versions!r}".encode()).hexdigest()
