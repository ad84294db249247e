"""What a run claims before it begins: a folder, and that no other grader writes there or to the gradebook."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from autograder.errors import CourseError
from autograder.locks import locked
from autograder.output import Output
from autograder.untrusted_files import shown

_LOCK: Final = ".grading.lock"


class ClaimError(CourseError):
    """The folder is none that can be written to; one sentence says why."""


class Claim:
    """What was made for a run so that it may begin."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """``folders`` were made, the innermost first."""
        self._folders = folders
        self.locks: list[Path] = []
        """Files that were made, and whose locks are held."""

    def undo(self) -> None:
        """Remove what was made: a run that is refused leaves nothing. What something else is in stays."""
        for lock in self.locks:
            lock.unlink(missing_ok=True)
        _remove(self._folders)


@contextlib.contextmanager
def claimed(output: Output) -> Iterator[Claim]:
    """Make the folder of a run where there is none, and keep other graders away for the time of the block.

    Raises:
        CourseError: another grader is at work there; at once, and nothing was made.
        OSError: the folder, or a lock, cannot be made.
    """
    claim = Claim(_missing(output.folder))
    output.folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            for lock, what in _locks(output):
                new = not lock.exists()
                stack.enter_context(locked(lock, what))
                if new:
                    claim.locks.append(lock)
        except BaseException:
            claim.undo()
            raise
        yield claim


def expect_folder(folder: Path) -> None:
    """Raise ClaimError where a folder is not there and cannot be made; makes none."""
    if folder.is_dir():
        return
    made, why = _missing(folder), ""
    there = next(each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))
    if there.is_file():
        why = f"{shown(str(there))} is a file"
    else:
        try:  # to look at permissions says less: some file systems take none, whatever they say
            folder.mkdir(parents=True)
        except OSError as error:
            why = f"{(error.strerror or str(error)).lower()}: {shown(str(error.filename))}"
        finally:
            _remove(made)
    if why:
        raise ClaimError(f"--out {shown(str(folder))}: the folder cannot be made ({why}); choose another")


def _missing(folder: Path) -> list[Path]:
    return [each for each in (folder, *folder.parents) if not os.path.lexists(each)]


def _remove(folders: Sequence[Path]) -> None:
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _locks(output: Output) -> Iterator[tuple[Path, str]]:
    yield output.folder / _LOCK, str(output.folder)
    file = output.gradebook_file
    # Where no lock can be made no gradebook can be written, and that is said in better words when it is opened.
    if file is not None and os.access(file.parent, os.W_OK):
        yield file.with_name(f".{file.resolve().name}.lock"), str(file)
