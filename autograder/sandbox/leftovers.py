"""What a submission can change for the one after it, outside its own process: looked at between the two.

Both share the warm process's namespaces and user, so a submission may write files and, where the filter of system calls
is missing, leave System V objects and set the warm process's own limits and priority, which forks inherit. Files are
deleted; anything else is a reason to start a new warm process.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import platform
import resource
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

EMPTY_SECONDS: Final = 1.5
"""Of processor time: how long the deleting of a submission's files may take; less than the grader waits for an answer,
in which time without a processor is not counted either."""
MOST_ENTRIES: Final = 2_000
"""Files, folders and further names of them that a submission may make. Each takes a kilobyte of the kernel's memory, of
which no other limit knows, and its deleting takes time."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIMITS: Final = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_PR_GET_TIMERSLACK: Final = 30
_IOPRIO_GET: Final = {"x86_64": 252, "aarch64": 31}
_SYSTEM_V: Final = Path("/proc/sysvipc")


def inherited() -> list[Any]:
    """Return what this process's forks inherit and another process of the same user can set."""
    limits = [resource.getrlimit(kind) for kind in _LIMITS]
    scheduling = [os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))]
    return [limits, scheduling, _timer_slack(), _disk_priority()]


def _timer_slack() -> int:
    return int(ctypes.CDLL(None).prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0)) if sys.platform == "linux" else 0


def _disk_priority() -> int:
    number = _IOPRIO_GET.get(platform.machine())
    return int(ctypes.CDLL(None).syscall(number, 1, 0)) if number is not None else 0


def system_v_objects() -> int:
    """Return how many shared memory segments, message queues and semaphores outlived the processes that made them."""
    count = 0
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(FileNotFoundError):  # a kernel without System V objects
            count += len((_SYSTEM_V / kind).read_text().splitlines()) - 1
    return count


def entries(folder: Path) -> int:
    """Return how many files and folders, by all their names, a file system holds; 0 where it does not count them."""
    seen = os.statvfs(folder)
    return seen.f_files - seen.f_ffree


def clean(folder: Path, before: list[Any]) -> bool:
    """Empty the folder; return whether nothing of a submission is left, and this process is as it was ``before``.

    Whatever goes wrong on the way is an answer too: nothing that a submission leaves may end the warm process.
    """
    try:
        unchanged = inherited() == before and not system_v_objects()
        return empty(folder) and unchanged
    except Exception:
        return False


def empty(folder: Path, seconds: float = EMPTY_SECONDS) -> bool:
    """Delete all that is in a folder, and what was attached to it; return whether nothing is left.

    Folders may be nested deeper than Python recurses and than a path is long, so none is entered through another: what
    is in a folder of the top is moved to the top, and then looked at there. Each entry costs a few calls, at most
    ``seconds`` of processor time in all; what is left after that makes the answer false.
    """
    deadline = time.process_time() + seconds
    if os.stat(folder).st_uid == os.getuid():
        os.chmod(folder, 0o777)
    top = os.open(folder, _FOLDER)
    try:
        in_time = _emptied(top, deadline)
        for name in os.listxattr(top):
            os.removexattr(top, name)
        return in_time and not os.listdir(top)
    finally:
        os.close(top)


def _emptied(top: int, deadline: float) -> bool:
    names = _names()
    while entries := _entries(top):
        moved = False
        for name, is_folder in entries:
            if time.process_time() >= deadline:
                return False
            moved |= _flattened(name, top, names, deadline) if is_folder else _unlinked(name, top)
        if not moved:  # nothing of what is left can be changed
            return False
    return True


def _flattened(name: str, top: int, names: Iterator[str], deadline: float) -> bool:
    """Delete a folder of the top, once what it holds is deleted or moved to the top; return whether anything moved."""
    try:
        os.rmdir(name, dir_fd=top)
        return True
    except OSError:
        pass  # it is not empty, the usual case
    moved = False
    try:
        os.chmod(name, 0o700, dir_fd=top)  # a link cannot have taken its place: all that ran here has been killed
        inside = os.open(name, _FOLDER, dir_fd=top)
    except OSError:
        return False
    try:
        for entry, is_folder in _entries(inside):
            if time.process_time() >= deadline:
                return moved
            moved |= _moved(entry, inside, top, next(names)) if is_folder else _unlinked(entry, inside)
    finally:
        os.close(inside)
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=top)
        return True
    return moved


def _moved(name: str, inside: int, top: int, new_name: str) -> bool:
    with contextlib.suppress(OSError):
        os.chmod(name, 0o700, dir_fd=inside)  # to move a folder is to change its link to the one above
        os.rename(name, new_name, src_dir_fd=inside, dst_dir_fd=top)
        return True
    return False


def _unlinked(name: str, inside: int) -> bool:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=inside)
        return True
    return False


def _entries(folder: int) -> list[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def _names() -> Iterator[str]:
    # No submission can know them, so none of its own stands in the way.
    prefix = secrets.token_hex(8)
    return (f"{prefix}-{number}" for number in itertools.count())
