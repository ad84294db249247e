"""The journal of a run: each score is appended as soon as it is known, so that no end of the grader loses it.

The first line says what wrote the journal; each line after it is a record, or the mark that the gradebook was
changed. A line is written in one piece and is the system's at once: nothing is lost when the grader is killed. The
disk has it after ``sync``, which the caller asks for in batches: a power failure costs what was graded since. A line
that does not read back, as one that was torn, counts as never written: that work is graded again.

The journal is removed once everything that is made from it is on the disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from autograder import __version__
from autograder.models import Score
from autograder.report.records import from_record, json_line

FILE: Final = "journal.jsonl"
_CHANGED: Final = {"gradebook": "changed"}

Key = tuple[str, str]
"""Student and exercise."""


class Journal:
    """A run's journal. Use as a context manager; appending is safe from several threads."""

    def __init__(self, folder: Path, *, forced: bool, texts: dict[str, str]) -> None:
        """Take up the journal that an interrupted run left in ``folder``, or begin one.

        Args:
            folder: where it is; must exist.
            forced: whether this run grades again what is unchanged: then a journal of one that did not is dropped.
            texts: filled with the texts that are read, so that equal ones are held once.

        Raises:
            OSError: it cannot be read or written; the error names it.
        """
        self.path = folder / FILE
        self.scores: dict[Key, Score] = {}
        """What the interrupted run had graded, the last score of each; the caller takes them out."""
        self.gradebook_changed = False
        """Whether the run, interruptions included, has begun to change the gradebook."""
        self._head: dict[str, Any] = {"journal": 1, "autograder": __version__, "forced": forced}
        self._lock = threading.Lock()
        self.resumed = self._take_up(forced, texts)
        """Whether a run was interrupted."""
        self.kept = len(self.scores)
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._size = os.fstat(self._descriptor).st_size
        if not self._size:
            self._append(json.dumps(self._head))
            if self.gradebook_changed:
                self._append(json.dumps(_CHANGED))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        self._descriptor = -1  # the number may soon be another file's

    def append(self, score: Score) -> None:
        """Append a score; it survives the end of this process.

        Raises:
            OSError: there is no room; the error names the journal, which holds whole lines all the same.
        """
        self._append(json_line(score))
        self.kept += 1

    def mark_gradebook_changed(self) -> None:
        """Note, before it happens, that the run changes the gradebook."""
        if not self.gradebook_changed:
            self._append(json.dumps(_CHANGED))
            self.gradebook_changed = True

    def sync(self) -> None:
        """Wait until the disk has all that was appended."""
        with _naming(self.path):
            os.fsync(self._descriptor)

    def remove(self) -> None:
        """Remove it: the run is over, and the disk has all that was made from it."""
        self.path.unlink()

    # ------------------------------------------------------------------------- steps

    def _append(self, line: str) -> None:
        data = memoryview(f"{line}\n".encode())
        with self._lock, _naming(self.path):
            try:
                done = 0
                while done < len(data):
                    done += os.write(self._descriptor, data[done:])
            except BaseException:
                os.ftruncate(self._descriptor, self._size)
                raise
            self._size += len(data)

    def _take_up(self, forced: bool, texts: dict[str, str]) -> bool:
        """Read what an interrupted run left, and drop what is of no use; return whether there was such a run."""
        try:
            stream = open(self.path, "rb")  # noqa: SIM115 - the file may be missing, and that alone is caught
        except FileNotFoundError:
            return False
        whole, usable = 0, False
        with stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break  # torn
                data = _value(line)
                # One of another version has other words; one without --force does not do what --force asks for.
                usable = usable if whole else data in ({**self._head, "forced": True}, {**self._head, "forced": forced})
                whole += len(line)
                if data == _CHANGED:
                    self.gradebook_changed = True
                elif usable:
                    self._note(data, texts)
        with _naming(self.path):
            os.truncate(self.path, whole if usable else 0)
        return True

    def _note(self, data: Any, texts: dict[str, str]) -> None:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            score = from_record(data, texts)
            self.scores[score.student, score.exercise] = score


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
