"""``autograder check``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from autograder import catalog
from autograder.attempt import Cage, grade_one
from autograder.collect import read_file
from autograder.commands.common import Stop, one_line_errors
from autograder.models import Exercise, Score
from autograder.plan import Plan, live_plan, recorded_plan
from autograder.reference.expectations import PUBLIC, Seed
from autograder.report.places import place_in
from autograder.report.records import json_line
from autograder.sandbox import walls


def run(file: Path, slug: str | None, *, as_json: bool, seed: int | None) -> int:
    """Grade one file and print the feedback; return 0 for full marks, 1 for less, 2 where it could not be graded."""
    with one_line_errors():
        if not file.exists() and not file.is_symlink():
            raise Stop(f"{file}: there is no such file")
        if file.suffix not in (".ipynb", ".py"):
            raise Stop(f"{file}: give a notebook (.ipynb) or a Python file (.py)")
        submission = read_file(file, "", _known(slug) if slug else _guess(file))
        if submission.unreadable:
            raise Stop(submission.unreadable)
        # It imports torch, which takes longer than all else here: first comes only what may make it needless.
        cage = Cage(walled=walls.bubblewrap() is not None)
        try:
            exercise = catalog.load(submission.exercise)
            show = json_line if as_json else _shown_with(exercise)
            score = grade_one(_plan(exercise, seed), submission, cage)
        finally:
            cage.drop()
    print(show(score))
    return 0 if score.score == score.max_score else 1


def _shown_with(exercise: Exercise) -> Callable[[Score], str]:
    from autograder.report.terminal import feedback_text  # here, so that it is imported while torch is

    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return partial(feedback_text, hints=exercise.hints, color=color, place=place_in(catalog.course_root()))


def _plan(exercise: Exercise, seed: int | None) -> Plan:
    if seed is None and (plan := recorded_plan(exercise)) is not None:
        return plan
    from autograder.reference.device import live_reference

    chosen = Seed(PUBLIC) if seed is None else Seed(f"seed:{seed}")
    return live_plan(exercise, chosen, live_reference())


def _known(slug: str) -> str:
    return slug if slug in catalog.slugs() else catalog.load(slug).slug  # which says what there is


def _guess(file: Path) -> str:
    """Return the exercise that a file's name, folder or content names."""
    known = catalog.slugs()
    for name in (file.stem, file.absolute().parent.name):
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower())
        fitting = [slug for slug in known if slug in plain]
        if fitting:
            return max(fitting, key=len)
    text = ""
    if file.is_file() and file.stat().st_size < 20 * 2**20:
        text = file.read_text(encoding="utf-8", errors="replace")
    found = [slug for slug in known if re.search(rf"\bdef {slug}\b", text)]
    if len(found) == 1:
        return found[0]
    raise Stop(f"{file}: which exercise does it answer? Say --exercise, one of: {', '.join(known)}")
