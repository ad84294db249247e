"""What stands for grading processes: threads of the test's own, and processes that do what a submission says.

The latter take for an answer ``pass``, ``sleep <seconds>``, ``wait <file>`` until it is there, ``meet <folder> <n>``
until n of them are at it at once, ``die``, and ``die once <file>`` unless it is there.
"""

from __future__ import annotations

import ast
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Self

from autograder.pool import Class, Worker

START: Final = (
    f"import sys; sys.path[:0] = [{str(Path(__file__).parents[1])!r}, {str(Path(__file__).parent)!r}]; "
    "import stand_in; stand_in.main()"
)
"""What its interpreter runs."""


_ALONE: Final = threading.RLock()
_PARSE: Final = ast.parse
"""Two threads that parse at once can fail in CPython 3.11 ("recursion depth mismatch"); grading processes have one."""


class Cage:
    """Stands for a worker's confined process, and runs nothing."""

    dropped = 0

    def drop(self) -> None:
        self.dropped += 1

    def layers(self) -> tuple[str, ...]:
        return ("bubblewrap",)


class Threads(Class):
    """Two workers that are threads of this process, without a confined one; what grades can be put in their place."""

    def __init__(self, *ends: type[BaseException]) -> None:
        """``ends`` are exceptions that stand for the end of the process."""
        super().__init__(workers=2)
        self._ends = ends

    def __enter__(self) -> Self:
        self._parse = ast.parse

        def alone(*args: Any, **more: Any) -> Any:
            with _ALONE:
                return _PARSE(*args, **more)

        ast.parse = alone
        return super().__enter__()

    def __exit__(self, *ending: Any) -> None:
        try:
            super().__exit__(*ending)
        finally:
            ast.parse = self._parse

    def _started(self) -> Worker:
        return Thread(self._ends)


class Thread(Worker):
    """A worker: the loop of a grading process over the same kind of socket."""

    def __init__(self, ends: tuple[type[BaseException], ...]) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(Connection(ours.detach()))
        self._thread = threading.Thread(target=self._serve, args=(Connection(theirs.detach()), ends))
        self._thread.start()

    def _serve(self, connection: Connection, ends: tuple[type[BaseException], ...]) -> None:
        from autograder.worker import serve

        cage: Any = Cage()
        with connection, contextlib.suppress(*ends):
            serve(connection, cage, [])

    def end(self) -> None:
        super().end()
        self._thread.join()


class Cat(Cage):
    """A confined process that is one, and ends when its input does."""

    def __init__(self, **_: Any) -> None:
        self._process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def drop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    close = drop


def main() -> None:
    """Do what ``worker.main`` does, but for what is run."""
    from autograder import worker
    from autograder.attempt import ungraded
    from autograder.models import Score, Submission
    from autograder.plan import Plan

    def grade(plan: Plan, submission: Submission, cage: Cage, lost: int = 0) -> Score:
        if submission.unreadable:
            return ungraded(plan, submission, submission.unreadable)
        told, *more = next(cell.source for cell in submission.cells if cell.number == 6).splitlines()[0].split()
        if told == "sleep":
            time.sleep(float(more[0]))
        elif told == "wait":
            until = time.monotonic() + 60.0
            while not os.path.exists(more[0]):
                time.sleep(0.01)
                if time.monotonic() > until:
                    raise TimeoutError("nobody came")
        elif told == "meet":
            os.makedirs(more[0], exist_ok=True)
            Path(more[0], str(os.getpid())).touch()
            until = time.monotonic() + 60.0
            while len(os.listdir(more[0])) < int(more[1]):
                time.sleep(0.01)
                if time.monotonic() > until:
                    raise TimeoutError("nobody came")
        elif told == "die" and not (more and os.path.exists(more[1])):
            if more:
                Path(more[1]).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        blank = ungraded(plan, submission, "")
        checks = tuple(replace(check, status="passed", earned=check.points) for check in blank.checks)
        return replace(blank, status="graded", score=blank.max_score, checks=checks)

    worker.Cage = Cat  # type: ignore[misc, assignment]
    worker.grade_one = grade  # type: ignore[assignment]
    worker.main(int(sys.argv[1]), sys.argv[2] == "1")
