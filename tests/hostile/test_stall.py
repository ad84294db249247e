"""A class in which every third submission tries to stall it: it ends within its budgets, and the others are graded."""

from __future__ import annotations

from pathlib import Path

import pytest
from arena import hand_in, plans
from attack import OTHER, PRELUDE, SIGNATURE, STEP

from autograder.collect import collect
from autograder.models import Score
from autograder.notebooks import submission_notebook
from autograder.pipeline import RECORDS, Class, Output, grade_class
from autograder.report.records import read_records
from autograder.sandbox.runner import MAX_TIMEOUTS

SECONDS = 0.8
STALLS = {
    "loops": "while True: pass",
    "segfaults": "ctypes.string_at(0)",
    "forks": "while True:\n        try: os.fork()\n        except OSError: pass",
    "exhausts memory": "return bytearray(10**10)",
    "sleeps": "import time; time.sleep(10**6)",
    "floods": "while True: print('x' * 10**6)",
    "floods the grader": "while True: os.write(3, b'x' * 10**6)",
    "stops": "os.kill(os.getpid(), 19)",
    "exits": "os._exit(0)",
}
ENDS = {"timeout", "not_run", "crashed", "memory", "error", "failed"}

pytestmark = pytest.mark.needs("bubblewrap")


def grade(folder: Path, size: int) -> dict[str, Score]:
    for number in range(size):
        answer = f"{PRELUDE}\n{SIGNATURE}    {list(STALLS.values())[number // 3 % len(STALLS)]}\n"
        exercise, source = (STEP, answer) if number % 3 == 2 else (OTHER, OTHER.solution)
        hand_in(folder / "class", f"{number:03}", exercise, submission_notebook(exercise, source))
    output = Output(folder / "out", f"sqlite:///{folder / 'gradebook.db'}")
    with Class(workers=2) as workers:
        grade_class(workers, collect(folder / "class", [STEP.slug, OTHER.slug]), plans(SECONDS), output)
    return {student: score for (student, _), score in read_records(output.folder / RECORDS).items()}


@pytest.mark.parametrize("size", [12, pytest.param(60, marks=pytest.mark.long)])
def test_every_third_stalls_and_all_others_earn_full_marks(tmp_path: Path, size: int) -> None:
    scores = grade(tmp_path, size)
    assert len(scores) == size
    for number, score in enumerate(scores[student] for student in sorted(scores)):
        if number % 3 != 2:
            assert score.score == OTHER.max_score, score
            continue
        statuses = [check.status for check in score.checks]
        assert score.score == 0
        assert set(statuses) <= ENDS
        # The n-th time-out of a submission takes half of what the one before it took, from half of the budget down.
        # Cells that did not finish are one wait for all checks that are left.
        late = [f"{check.message} {score.reason}" for check in score.checks if check.status == "timeout"]
        calls = [said for said in late if "cells did not finish" not in said]
        waits = [SECONDS * 0.5 ** (1 + n) for n in range(len(calls))]
        assert len(waits) <= MAX_TIMEOUTS
        assert sum(waits) < SECONDS
