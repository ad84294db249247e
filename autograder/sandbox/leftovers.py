"""What a submission can change for the one after it, outside its own process: looked at between the two.

Both share the warm process's namespaces and user, so a submission may write files and, where the filter of system calls
is missing, leave System V objects and set the warm process's own limits and priority, which forks inherit. Files are
deleted; anything else is a reason to start a new warm process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import shutil
import sys
from pathlib import Path
from typing import Any, Final

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


def empty(folder: Path) -> bool:
    """Delete all that is in a folder, and what was attached to it; return whether nothing is left."""
    if os.stat(folder).st_uid == os.getuid():
        os.chmod(folder, 0o777)
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
    for name in os.listxattr(folder):
        os.removexattr(folder, name)
    return not os.listdir(folder)
