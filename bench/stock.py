"""Submissions graded by nbgrader itself, with nothing that would slow it down."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from autograder import catalog
from autograder.files import write
from autograder.notebooks import source_notebook
from autograder.stock import run_nbgrader, stock_environment
from bench.classes import Submitted


class Stock:
    """A course of nbgrader's with a class in it; what does not belong to grading is done once."""

    def __init__(self, folder: Path, submissions: list[Submitted]) -> None:
        """Make the course, in an empty folder."""
        root = catalog.course_root()
        self._folder, self._count = folder, len(submissions)
        self._slugs = sorted({submitted.exercise for submitted in submissions})
        self._environment = stock_environment(root, folder)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "nbgrader_config.py", folder)
        course = folder / "build" / "course"
        for slug in self._slugs:
            write(course / "source" / slug / f"{slug}.ipynb", source_notebook(catalog.load(slug, root), ""))
            run_nbgrader(["generate_assignment", slug], folder, self._environment)
        for one in submissions:
            path = course / "submitted" / one.student / one.exercise / f"{one.exercise}.ipynb"
            write(path, one.path.read_text(encoding="utf-8"))
        self._released = folder / "released.db"
        shutil.copy(course / "gradebook.db", self._released)

    def grade(self) -> Taken:
        """Grade all, and write their feedback; return the seconds of a submission."""
        course = self._folder / "build" / "course"
        for name in ("autograded", "feedback"):
            shutil.rmtree(course / name, ignore_errors=True)
        shutil.copy(self._released, course / "gradebook.db")
        driver = Path(__file__).with_name("stock_driver.py")
        done = subprocess.run(
            [sys.executable, str(driver), *self._slugs],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"nbgrader failed:\n{done.stderr[-2000:]}")
        graded = len(list((course / "autograded").glob("*/*/*.ipynb")))
        pages = len(list((course / "feedback").glob("*/*/*.html")))
        if (graded, pages) != (self._count, self._count):
            raise RuntimeError(f"nbgrader graded {graded} of {self._count}, with {pages} pages:\n{done.stderr[-2000:]}")
        took = json.loads(done.stdout.splitlines()[-1])
        return Taken(
            took["autograde"]["wall"] / self._count,
            took["generate_feedback"]["wall"] / self._count,
            (took["autograde"]["cpu"] + took["generate_feedback"]["cpu"]) / self._count,
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds a submission."""

    autograde: float
    feedback: float
    cpu: float
    """Processor time of both."""
