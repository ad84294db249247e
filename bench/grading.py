"""The honest submissions of the sample class, graded by us and by nbgrader itself."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autograder import catalog
from autograder.collect import collect
from autograder.gradebook import url_of
from autograder.models import Submission
from autograder.pipeline import Class, Output, grade_class
from autograder.plan import live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import Seed
from autograder.stock import stock_scores_of_notebooks
from bench.timing import Ratio

ROUNDS = 3
CLASS = Path("examples/submissions")


def honest() -> list[Submission]:
    """Return the readable submissions but the hostile, the endless, and the one with tampered graded cells."""
    left_out = ("hostile", "loop", "ravi")
    return [s for s in collect(CLASS, catalog.slugs()) if not s.unreadable and not s.student.startswith(left_out)]


def against_nbgrader() -> Iterator[Ratio]:
    """Time per submission, ours with gradebook, graded notebooks and feedback pages; nbgrader's ``autograde`` alone."""
    submissions = honest()
    exercises = catalog.load_all()
    ours: list[float] = []
    other: list[float] = []
    with Class() as workers:
        seed, reference = Seed("seed:1"), live_reference("cpu")
        plans = {slug: live_plan(exercise, seed, reference) for slug, exercise in exercises.items()}
        workers.layers()
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                output = Output(Path(folder), url_of(Path(folder) / "gradebook.db"))
                start = time.perf_counter()
                grade_class(workers, submissions, plans, output, force=True)
                ours.append((time.perf_counter() - start) / len(submissions))
            other.append(_stock_seconds(submissions))
    yield Ratio(
        f"grade {len(submissions)} honest submissions with gradebook and feedback, against nbgrader autograde, each",
        statistics.median(ours),
        statistics.median(other),
        "s",
        "≥ 50",
        ROUNDS,
    )


def _stock_seconds(submissions: list[Submission]) -> float:
    seconds = 0.0
    for slug in sorted({submission.exercise for submission in submissions}):
        notebooks = {s.student: s.path.read_text(encoding="utf-8") for s in submissions if s.exercise == slug}
        with tempfile.TemporaryDirectory() as folder:
            scores = stock_scores_of_notebooks(catalog.load(slug), notebooks, Path(folder))
        seconds += sum(score.seconds for score in scores.values())
    return seconds / len(submissions)


_MEMORY = """
import json, resource, subprocess, sys
from autograder.commands.grade import Options, run
from pathlib import Path
run(Options(Path("examples/submissions"), Path(sys.argv[1]), "", 0, 1, True, True, False, (), False, ""))
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))
"""


def memory() -> Iterator[Ratio]:
    """The grader's own largest memory over the sample class."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _MEMORY, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    own = json.loads(done.stdout.splitlines()[-1]) / 2**20
    yield Ratio("the grader's own memory over the sample class, against what it may use", own, 1024.0, "MiB", "≥ 1", 1)
