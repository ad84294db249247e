"""What a worker of the tests' clusters loads first (``dask worker --preload``), told by environment variables.

``DASK_TEST_STAND_IN``: submissions are not run; they say what to do, see ``stand_in``, and one that says ``poison``
ends Dask's own process. ``DASK_TEST_VERSION``: the grader is of another version. ``DASK_TEST_IDLE``: seconds after
which a crew that nobody calls ends. ``DASK_TEST_USED``: a folder with a file for each process that graded something.
"""

from __future__ import annotations

import os
import signal
from functools import partialmethod
from pathlib import Path
from typing import Any

import autograder

autograder.__version__ = os.environ.get("DASK_TEST_VERSION", autograder.__version__)

import stand_in  # noqa: E402

from autograder.cluster import crew  # noqa: E402

crew.IDLE_SECONDS = float(os.environ.get("DASK_TEST_IDLE", crew.IDLE_SECONDS))  # type: ignore[misc]
if os.environ.get("DASK_TEST_STAND_IN"):
    crew.Process.__init__ = partialmethod(crew.Process.__init__, start=stand_in.START)  # type: ignore[assignment]


def watched(answer: Any) -> Any:
    """Return what notes the process, and ends it where it is told to."""

    def noted(self: crew.Crew, hand: crew.Process, task: bytes) -> Any:
        (Path(os.environ["DASK_TEST_USED"]) / str(os.getpid())).touch()
        if b"poison" in task:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(self, hand, task)

    return noted


crew.Crew._answer = watched(crew.Crew._answer)  # type: ignore[method-assign]
