"""One grader at a time: a lock file that the system lets go when its process ends, however that happens."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from autograder.errors import CourseError


class LockError(CourseError):
    """Another grader is at work, or there can be no lock; one sentence says so."""


@contextlib.contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold a lock for the time of the block.

    The file holds the process id of who has the lock, and stays, unless who holds the lock removes it.

    Args:
        path: the lock file, made where there is none.
        what: what is locked, for the sentence.

    Raises:
        LockError: another process holds it; at once, and with that process's id.
        OSError: the file cannot be made; the error names it.
    """
    descriptor = _taken(path, what)
    while not _is_at(path, descriptor):  # it was removed before it was locked: others lock the one that is there now
        os.close(descriptor)
        descriptor = _taken(path, what)
    try:
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its note
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _taken(path: Path, what: str) -> int:
    """Return the descriptor of a file that is open and locked."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(descriptor)
        os.close(descriptor)
        raise LockError(
            f"{what}: another grader{holder} is writing to it, and nothing was graded; "
            "wait until it ends, then run this again"
        ) from None
    except OSError as error:
        os.close(descriptor)
        raise LockError(
            f"{what}: two graders cannot be kept apart there ({error.strerror}: {path}); "
            "choose a folder on a file system that has locks"
        ) from None
    return descriptor


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _holder(descriptor: int) -> str:
    with contextlib.suppress(OSError):
        number = os.pread(descriptor, 20, 0).strip()
        if number.isdigit():
            return f" (process {number.decode()})"
    return ""
