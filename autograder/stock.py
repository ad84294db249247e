"""Scores as stock nbgrader gives them: the same notebooks, no code of ours between kernel and gradebook."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder import files
from autograder.catalog import ROOT_VARIABLE
from autograder.models import Exercise
from autograder.notebooks import source_notebook, submission_notebook


class StockError(RuntimeError):
    """One of nbgrader's commands failed; the message ends with its log's last lines."""


@dataclass(frozen=True, slots=True)
class StockScore:
    """What nbgrader's gradebook holds about one submission."""

    checks: Mapping[str, float]
    """Points earned, by check id."""
    total: float
    seconds: float
    """Wall time of the one `nbgrader autograde`, divided by the number of its submissions."""


def stock_scores(exercise: Exercise, answers: Mapping[str, str], work: Path) -> dict[str, StockScore]:
    """Grade answers, each the source code of the solution cell, as ``stock_scores_of_notebooks`` does."""
    notebooks = {name: submission_notebook(exercise, answer) for name, answer in answers.items()}
    return stock_scores_of_notebooks(exercise, notebooks, work)


def stock_scores_of_notebooks(exercise: Exercise, notebooks: Mapping[str, str], work: Path) -> dict[str, StockScore]:
    """Grade notebooks with nbgrader's own commands, in a course of their own.

    Args:
        exercise: the exercise; its course root holds ``nbgrader_config.py``.
        notebooks: text of each submitted notebook, by any name.
        work: an empty folder for the course, nbgrader's configuration and Jupyter's files.

    Returns:
        The score of each notebook, under its name.

    Raises:
        StockError: nbgrader failed, or left a check of a submission without a grade.
    """
    root = exercise.folder.resolve().parent.parent
    shutil.copy(root / "nbgrader_config.py", work)  # it puts the course beside itself
    course, slug = work / "build" / "course", exercise.slug
    files.write(course / "source" / slug / f"{slug}.ipynb", source_notebook(exercise, ""))
    students = {f"s{number:04}": name for number, name in enumerate(notebooks)}
    for student, name in students.items():
        path = course / "submitted" / student / slug / f"{slug}.ipynb"
        files.write(path, notebooks[name])
    environment = stock_environment(root, work)
    run_nbgrader(["generate_assignment", slug], work, environment)
    start = time.perf_counter()
    run_nbgrader(["autograde", slug], work, environment)
    seconds = (time.perf_counter() - start) / max(1, len(notebooks))
    grades = _grades(course / "gradebook.db", slug)
    return {name: _score(exercise, grades.get(student, {}), name, seconds) for student, name in students.items()}


def stock_environment(root: Path, work: Path) -> dict[str, str]:
    """Return the environment of nbgrader's commands: one thread, no files outside ``work``, the course at ``root``."""
    package = Path(__file__).resolve().parent.parent
    private = {name: str(work / "jupyter" / name.lower()) for name in _PRIVATE}
    return {
        **os.environ,
        **private,
        # nbgrader starts `alembic` by its bare name.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH", "")])),
        "PYTHONWARNINGS": "ignore",
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        ROOT_VARIABLE: str(root),
    }


_PRIVATE = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR")


def run_nbgrader(arguments: list[str], work: Path, environment: Mapping[str, str]) -> None:
    """Run one of nbgrader's commands in a folder with its configuration; StockError where it fails."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        log = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise StockError(f"nbgrader {' '.join(arguments)} ended with status {done.returncode}:\n{log}")


def _grades(database: Path, slug: str) -> dict[str, dict[str, float | None]]:
    from nbgrader.api import Gradebook  # here, because it takes two seconds to import

    found: dict[str, dict[str, float | None]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLAlchemy's, about nbgrader's models
        with Gradebook(f"sqlite:///{database}") as gradebook:
            for submission in gradebook.notebook_submissions(slug, slug):
                found[submission.student.id] = {grade.name: grade.auto_score for grade in submission.grades}
    return found


def _score(exercise: Exercise, grades: Mapping[str, float | None], name: str, seconds: float) -> StockScore:
    checks = {}
    for check in exercise.checks:
        points = grades.get(check.id)
        if points is None:
            raise StockError(f"nbgrader gave {name} no grade for {check.id}: its kernel may have died")
        checks[check.id] = points
    return StockScore(checks, sum(checks.values()), seconds)
