"""One run of ``autograder grade``, as its user starts it: how long it took, and what memory it needed."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from autograder.catalog import ROOT_VARIABLE

_LOOK_EVERY: Final = 0.05
_TREE_EVERY: Final = 5
"""Looks at the main process to one at all of the grader's processes."""
_CONFINED: Final = (b"bwrap", b"autograder.sandbox.confined")


class GradeFailed(RuntimeError):
    """The command ended with another status than 0; the message ends with what it said."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run took."""

    wall: float
    """Seconds from the start of the command to its end."""
    cpu: float
    """Seconds of processor time, of all processes that it started and waited for, too."""
    main_memory: float
    """MiB: the most that the main process held at one time."""
    own_memory: float
    """MiB: the same, summed over all processes of the grader; those that run students' code are not among them."""
    samples: list[tuple[float, float, float]] = field(default_factory=list)
    """Once a second: seconds since the start, memory of the main process, and of all."""


def grade(
    tree: Path, out: Path, *options: str, workers: int = 0, course: Path | None = None, feedback: bool = True
) -> Run:
    """Grade a class with the command line, and return what that took.

    Args:
        tree: the class.
        out: where the output goes.
        options: further options of ``autograder grade``.
        workers: ``--workers``.
        course: root of another course than this one.
        feedback: whether feedback pages are written, where there is a choice; see ``has_option``.

    Raises:
        GradeFailed: it did not grade all.
    """
    command = [sys.executable, "-m", "autograder", "grade", str(tree), "--out", str(out), "--seed", "1"]
    command += ["--workers", str(workers), *options]
    if not feedback and has_option("--no-feedback"):
        command.append("--no-feedback")
    environment = {**os.environ, "NO_COLOR": "1"} | ({ROOT_VARIABLE: str(course)} if course else {})
    with tempfile.TemporaryFile() as said:
        before = children_cpu()
        start = time.perf_counter()
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        ) as process:
            watch = _Watch(process.pid, start)
            watch.start()
            status = process.wait()
            wall = time.perf_counter() - start
            watch.end()
        if status:
            said.seek(0)
            words = said.read().decode(errors="replace").splitlines()[-5:]
            raise GradeFailed("\n".join([f"{' '.join(command)} ended with status {status}:", *words]))
    return Run(wall, children_cpu() - before, watch.main / 2**10, watch.own / 2**10, watch.samples)


def children_cpu() -> float:
    """Return the processor seconds of all processes that this one, or one of them, has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@functools.cache
def has_option(name: str) -> bool:
    """Return whether ``autograder grade`` has an option."""
    command = [sys.executable, "-m", "autograder", "grade", "--help"]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return name in subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Yield an empty folder that is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="bench.") as name:
        yield Path(name)


# ---------------------------------------------------------------------------- memory


class _Watch(threading.Thread):
    """Looks at a process and its descendants until told to end; sizes are in KiB."""

    def __init__(self, pid: int, start: float) -> None:
        super().__init__(daemon=True)
        self._pid, self._start = pid, start
        self._enough = threading.Event()
        self.main = self.own = 0
        self.samples: list[tuple[float, float, float]] = []

    def run(self) -> None:
        looks = 0
        while not self._enough.wait(_LOOK_EVERY):
            self.main = max(self.main, memory(self._pid, "VmHWM"))
            if looks % _TREE_EVERY == 0:
                pids = own_processes(self._pid)
                self.own = max(self.own, self.main, sum(memory(pid, "VmHWM") for pid in pids))
                self._sample(pids)
            looks += 1
        self.own = max(self.own, self.main)

    def _sample(self, pids: list[int]) -> None:
        now = time.perf_counter() - self._start
        if now >= len(self.samples):
            held = [memory(pid, "VmRSS") / 2**10 for pid in pids]
            if held[0]:  # else the run is over, and whoever waits for it may not have noticed yet
                # Rounded down: no sample is later than the run that it is of.
                self.samples.append((math.floor(now * 10) / 10, round(held[0], 1), round(sum(held), 1)))

    def end(self) -> None:
        """End; what was seen stands."""
        self._enough.set()
        self.join()


def memory(pid: int, key: str) -> int:
    """Return a size from a process's status, in KiB; 0 where the process is no more."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(key.encode() + b":"):
                return int(line.split()[1])
    return 0


def own_processes(pid: int) -> list[int]:
    """Return a grader's process and those that it started, but none that runs students' code."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = Path(entry.path, "stat").read_bytes()
                children.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += [child for child in children.get(one, []) if not _is_confined(child)]
    return found


def _is_confined(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True
    # A process that was just started still has its parent's command line; it is seen for what it is the next time.
    return command.split(b"\0")[0].rpartition(b"/")[2] == _CONFINED[0] or _CONFINED[1] in command
