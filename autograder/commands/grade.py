"""``autograder grade``."""

from __future__ import annotations

import fnmatch
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder import catalog
from autograder.addresses import read_addresses
from autograder.collect import collect, unknown_folders
from autograder.commands.common import Stop, one_line_errors, say
from autograder.gradebook import url_of
from autograder.models import Submission
from autograder.pipeline import Class, Graded, Output, grade_class
from autograder.plan import Plan, live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import Seed
from autograder.report.progress import Progress
from autograder.report.records import json_line
from autograder.report.rows import Row
from autograder.report.terminal import class_table, look_again_text, pointers_text
from autograder.report.untrusted import MESSAGE, one_line
from autograder.sandbox import walls
from autograder.sandbox.zygote import SandboxError
from autograder.secret import course_seed


@dataclass(frozen=True, slots=True)
class Options:
    """The command's arguments."""

    submissions: Path
    out: Path
    gradebook: str
    workers: int
    seed: int | None
    force: bool
    as_json: bool
    progress: bool
    skip: tuple[str, ...]
    unconfined: bool
    book: str


def run(options: Options) -> int:
    """Grade a class, print its table, and return the exit status."""
    with one_line_errors():
        if walls.bubblewrap() is None and not options.unconfined:
            raise Stop(
                "bubblewrap is missing, so strangers' code cannot be confined and nothing was graded; on Debian: "
                "apt-get install bubblewrap (`autograder doctor` shows the rest; --unconfined is for trusted code)"
            )
        root = catalog.course_root()
        exercises = catalog.load_all(root)
        slugs = tuple(exercises)
        passed_over = unknown_folders(options.submissions, slugs)
        for sentence in passed_over:
            say(sentence)
        _must_make_sense(options, slugs)
        started = time.monotonic()
        with Class(workers=options.workers, walled=not options.unconfined) as workers:
            seed = Seed(f"seed:{options.seed}") if options.seed is not None else course_seed(root)
            reference = live_reference()
            plans = {slug: live_plan(exercise, seed, reference) for slug, exercise in exercises.items()}
            _must_stand(workers)
            done = _grade(options, workers, plans)
    _print(options, done, time.monotonic() - started)
    lost = passed_over or any(row.status == "unreadable" for row in done.rows)
    return 1 if lost else 0


def _must_stand(workers: Class) -> None:
    """Stop before anything is written where the walls are not what they must be."""
    try:
        workers.layers()
    except SandboxError as error:
        raise Stop(f"{error}; nothing was graded (`autograder doctor` shows what is missing)") from None


@dataclass(frozen=True, slots=True)
class _Done:
    """What is printed of a run."""

    rows: Sequence[Row]
    reused: int
    resumed: int
    look_again: Mapping[tuple[str, str], Sequence[str]]


def _must_make_sense(options: Options, slugs: Sequence[str]) -> None:
    tree, out = options.submissions.resolve(), options.out.resolve()
    if out == tree or tree in out.parents:
        raise Stop(f"--out {options.out} is inside the class {options.submissions}; give a folder outside it")
    if not _count(options, slugs):
        raise Stop(
            f"{options.submissions}: there is nothing to grade in it; a class looks like <student>/<exercise>/"
            f"<exercise>.ipynb, and the exercises are {', '.join(slugs)}"
        )


def _grade(options: Options, workers: Class, plans: Mapping[str, Plan]) -> _Done:
    book = options.book or read_addresses(catalog.course_root()).linkable_book
    output = Output(options.out, options.gradebook or url_of(options.out / "gradebook.db"), book)
    slugs = tuple(plans)
    counts: Counter[str] = Counter()
    look_again: dict[tuple[str, str], Sequence[str]] = {}
    with Progress(_count(options, slugs), wanted=options.progress) as progress:

        def on_result(graded: Graded) -> None:
            progress.step()
            counts.update(reused=int(graded.reused), resumed=int(graded.resumed))
            if options.as_json:
                print(json_line(graded.score), flush=True)

        wanted = _wanted(options, slugs)
        rows = grade_class(
            workers, wanted, plans, output, force=options.force, on_result=on_result, on_look_again=look_again.update
        )
        return _Done(rows, counts["reused"], counts["resumed"], look_again)


def _wanted(options: Options, slugs: Sequence[str]) -> Iterator[Submission]:
    for submission in collect(options.submissions, slugs):
        if not _skipped(options, submission.student):
            yield submission


def _skipped(options: Options, student: str) -> bool:
    return any(fnmatch.fnmatchcase(student, pattern) for pattern in options.skip)


def _count(options: Options, slugs: Sequence[str]) -> int:
    students = [entry for entry in os.scandir(options.submissions) if not _skipped(options, entry.name)]
    return sum(os.path.lexists(os.path.join(entry.path, slug)) for entry in students for slug in slugs)


def _print(options: Options, done: _Done, seconds: float) -> None:
    for row in done.rows:
        if row.status == "unreadable":
            say(f"could not grade {row.student}: {row.reason}")
    again = "\n".join(filter(None, (pointers_text(done.rows), look_again_text(done.look_again))))
    if options.as_json:
        print(again, file=sys.stderr, end="\n" if again else "")
        return
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(class_table(done.rows, width=max(80, shutil.get_terminal_size((120, 40)).columns), color=color))
    print(again, end="\n" if again else "")
    reused = f", {done.reused} of them unchanged since an earlier run and not run again (--force does)"
    resumed = f", {done.resumed} of them before the run was interrupted"
    print(
        f"{len(done.rows)} submissions in {seconds:.1f} s{reused if done.reused else ''}"
        f"{resumed if done.resumed else ''}."
    )
    where = one_line(str(options.out), MESSAGE)
    print(f"Gradebook, feedback, grades.csv and the class report, report/index.html, are in {where}.")
