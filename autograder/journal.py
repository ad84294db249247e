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
from autograder.earlier import Key, Known, Reader

FILE: Final = "journal.jsonl"
_CHANGED: Final = {"gradebook": "changed"}


class Journal:
    """A run's journal. Use as a context manager; appending is safe from several threads."""

    def __init__(self, folder: Path, *, forced: bool) -> None:
        """Take up the journal that an interrupted run left in ``folder``, or begin one.

        Args:
            folder: where it is; must exist.
            forced: whether this run grades again what is unchanged: then a journal of one that did not is dropped.

        Raises:
            OSError: it cannot be read or written; the error names it.
        """
        self.path = folder / FILE
        self.known: dict[Key, Known] = {}
        """What the interrupted run had graded, the last record of each; the caller takes them out."""
        self.gradebook_changed = False
        """Whether the run, interruptions included, has begun to change the gradebook."""
        self._head: dict[str, Any] = {"journal": 1, "autograder": __version__, "forced": forced}
        self._lock = threading.Lock()
        self.resumed = self._take_up(forced)
        """Whether a run was interrupted."""
        self.kept = len(self.known)
        """Submissions whose score is in it, and would be taken over by the next run."""
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._size = os.fstat(self._descriptor).st_size
        if not self._size:
            self._append(json.dumps(self._head).encode())
            if self.gradebook_changed:
                self._append(json.dumps(_CHANGED).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        self._descriptor = -1  # the number may soon be another file's

    def append(self, record: bytes, *, lasts: bool = True) -> tuple[int, int]:
        """Append a record, one line without its end; it survives the end of this process.

        Args:
            record: the line.
            lasts: whether the next run would take it over.

        Returns:
            Where the line begins, and how many bytes it has.

        Raises:
            OSError: there is no room; the error names the journal, which holds whole lines all the same.
        """
        return self._append(record, scores=int(lasts)), len(record)

    def forget(self) -> None:
        """Count one less: what an interrupted run graded is not taken over."""
        self.kept -= 1

    def line(self, start: int, length: int) -> bytes:
        """Return a line, or what is at that place."""
        return os.pread(self._descriptor, length, start)

    def mark_gradebook_changed(self) -> None:
        """Note, before it happens, that the run changes the gradebook."""
        if not self.gradebook_changed:
            self._append(json.dumps(_CHANGED).encode())
            self.gradebook_changed = True

    def sync(self) -> None:
        """Wait until the disk has all that was appended."""
        with _naming(self.path):
            os.fsync(self._descriptor)

    def remove(self) -> None:
        """Remove it: the run is over, and the disk has all that was made from it."""
        self.path.unlink()

    # ------------------------------------------------------------------------- steps

    def _append(self, line: bytes, scores: int = 0) -> int:
        data = memoryview(line + b"\n")
        with self._lock, _naming(self.path):
            start, done = self._size, 0
            try:
                while done < len(data):
                    done += os.write(self._descriptor, data[done:])
            finally:
                # What ends the run may come in the moment in which the line is whole: then it counts.
                if os.fstat(self._descriptor).st_size == start + len(data):
                    self._size, self.kept = start + len(data), self.kept + scores
                else:
                    os.ftruncate(self._descriptor, start)
            return start

    def _take_up(self, forced: bool) -> bool:
        """Read what an interrupted run left, and drop what is of no use; return whether there was such a run."""
        try:
            stream = open(self.path, "rb")  # noqa: SIM115 - the file may be missing, and that alone is caught
        except FileNotFoundError:
            return False
        whole, usable, reader = 0, False, Reader()
        with stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break  # torn
                data = _value(line)
                # One of another version has other words; one without --force does not do what --force asks for.
                usable = usable if whole else data in ({**self._head, "forced": True}, {**self._head, "forced": forced})
                if data == _CHANGED:
                    self.gradebook_changed = True
                elif usable and (found := reader.of(data, whole, len(line) - 1)):
                    self.known[found[0]] = found[1]
                whole += len(line)
        with _naming(self.path):
            os.truncate(self.path, whole if usable else 0)
        return True


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
