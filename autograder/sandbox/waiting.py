"""How long a submission could have run and had no processor: what a busy machine costs is not the student's time.

Linux counts it for each process (the second number of ``/proc/PID/schedstat``, in nanoseconds: "time spent waiting on
a runqueue", Documentation/scheduler/sched-stats.rst), a share of the processors that a container may not exceed
included. Who sleeps does not wait, so code that sleeps, or waits for itself, gains nothing.

A wait is counted when it is over, and one may last longer than a check may take. So at a deadline it is looked whether
one goes on: a process that could run, and for some ticks of the scheduler did not, has no processor.
"""

from __future__ import annotations

import functools
import math
import time
from pathlib import Path
from typing import Final

ENDING: Final = 2.0
"""Seconds without a processor that a process which ends by itself is granted beyond its grace."""
NOTICED: Final = 0.01
"""Seconds without a processor that are worth another look at a deadline."""
_PROCESSES: Final = Path("/proc")
_EXITING: Final = 0x4
"""PF_EXITING of include/linux/sched.h: the kernel is at the end of a process, and its own code runs no more."""
_TICKS: Final = 0.025
"""Seconds within which a process that runs is counted anew: Linux has 100 ticks a second or more."""
_LOOK: Final = 0.002


def descendant(process: int, generations: int) -> int | None:
    """Return the oldest process so many generations below one; None where there is none, or it cannot be seen."""
    for _ in range(generations):
        try:
            children = (_PROCESSES / str(process) / "task" / str(process) / "children").read_text().split()
        except OSError:
            return None
        if not children:
            return None
        process = int(children[0])
    return process


def waited(process: int) -> float:
    """Return how many seconds a process has waited for a processor since it began; 0.0 where that is not known.

    A wait that is not over is no part of it.
    """
    return _counted(process)[1] / 1e9


def waits(process: int) -> float:
    """Return for how many seconds a process was seen waiting for a processor just now; 0.0 where it does not wait.

    To see that takes a few ticks, of one that does not wait less. A processor that has no ticks, as of an isolated one
    with a single program, counts rarely what it ran; on such a one a loop is taken for waiting.
    """
    ran, began = _counted(process)[0], time.monotonic()
    while ran or figures():
        now = time.monotonic()  # before the look: whoever looks may be kept from a processor as well
        if not _could_run(process) or _counted(process)[0] != ran:
            break
        if now - began >= _TICKS:
            return now - began
        time.sleep(_LOOK)
    return 0.0


class Waiting:
    """What one process waited for a processor, as far as deadlines were not put off for it."""

    def __init__(self) -> None:
        self._known = 0.0
        self._ran, self._looked = 0, -math.inf
        """What it had run when it was last looked at, and when that was."""
        self._since = -math.inf
        """When a wait that goes on can have begun at the earliest."""

    def counted(self, process: int | None, most: float = math.inf) -> float:
        """Return how many seconds it waited for which no deadline was put off, and take them for known."""
        more = min(waited(process) - self._known, most) if process is not None else 0.0
        return self._take(more) if more >= NOTICED else 0.0

    def more(self, process: int | None, late: float, most: float = math.inf) -> float:
        """Return by how many seconds a deadline is put off for which a process seems to be late.

        0.0 where it is late: where what it waited does not reach beyond now, or is not known.

        Args:
            process: the process, None where there is none.
            late: seconds since the deadline.
            most: seconds by which it may be put off.
        """
        if process is None or most < NOTICED:
            return 0.0
        deadline = time.monotonic() - late
        more, goes_on = waited(process) - self._known, 0.0
        if more < max(late, NOTICED):
            goes_on = self._goes_on(process)
            more = waited(process) - self._known  # a wait that was over after that look is counted by now
        late = time.monotonic() - deadline
        if goes_on and more + goes_on > late:
            # When it began is not known, but that it is not over: a little at a time, until it is counted.
            more = max(more, late + _TICKS)
        more = min(more, most)
        return self._take(more) if more >= max(late, NOTICED) else 0.0

    def _take(self, seconds: float) -> float:
        self._known += seconds
        return seconds

    def _goes_on(self, process: int) -> float:
        """Return for how many seconds at most it waits now, which are not counted yet; 0.0 where it does not wait."""
        began = time.monotonic()
        seen = waits(process)
        ran, now = _counted(process)[0], time.monotonic()
        if ran != self._ran:
            self._since = self._looked
        self._ran, self._looked = ran, now
        # Whoever looks may have had no processor, and meanwhile it ran, and waits once more: nothing was seen then.
        held_up = now - began >= 2 * _TICKS and _could_run(process)
        return now - self._since if seen or held_up else 0.0


@functools.cache
def figures() -> bool:
    """Return whether this machine counts what processes ran: Linux may be built without that, and says 0 of each."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[0]) > 0
    except (OSError, ValueError, IndexError):
        return False


def _counted(process: int) -> tuple[int, int]:
    """Return how many nanoseconds a process ran and waited; 0 and 0 where that is not known."""
    try:
        ran, waited, *_ = (_PROCESSES / str(process) / "schedstat").read_text().split()
        return int(ran), int(waited)
    except (OSError, ValueError):
        return 0, 0


def is_ending(process: int) -> bool:
    """Return whether a process is ending, or has ended, and runs no code of its own any more; True where not known."""
    return len(stat := _stat(process)) < 7 or bool(int(stat[6]) & _EXITING)


def _could_run(process: int) -> bool:
    return _stat(process)[:1] == [b"R"]


def _stat(process: int) -> list[bytes]:
    """Return what the kernel says of a process, from its state on; nothing where it is gone."""
    try:
        # Bytes: the name in the brackets is the process's own choice.
        return (_PROCESSES / str(process) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []
