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
from typing import TYPE_CHECKING

from autograder import catalog
from autograder.addresses import read_addresses
from autograder.collect import Handed, handed_in, survey
from autograder.commands.common import Stop, one_line_errors, say
from autograder.models import Exercise
from autograder.output import sqlite_url
from autograder.pipeline import Class, Graded, Output, grade_class
from autograder.plan import Prospect
from autograder.reference.device import foreseen_reference
from autograder.reference.expectations import Seed
from autograder.report.overview import class_text
from autograder.report.progress import Progress
from autograder.report.rows import Row
from autograder.report.terminal import look_again_text, pointers_text
from autograder.report.untrusted import MESSAGE, one_line
from autograder.sandbox import walls
from autograder.sandbox.zygote import SandboxError
from autograder.secret import course_seed
from autograder.tasks import Workers

if TYPE_CHECKING:
    from autograder.cluster.run import Cluster


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The arguments that say where the workers are."""

    scheduler: str
    wait: float
    authority: str
    certificate: str
    key: str


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
    with_feedback: bool = True
    cluster: ClusterOptions | None = None


def run(options: Options) -> int:
    """Grade a class, print how it did, and return the exit status."""
    with one_line_errors():
        if options.cluster is None and walls.bubblewrap() is None and not options.unconfined:
            raise Stop(
                "bubblewrap is missing, so strangers' code cannot be confined and nothing was graded; on Debian: "
                "apt-get install bubblewrap (`autograder doctor` shows the rest; --unconfined is for trusted code)"
            )
        root = catalog.course_root()
        exercises = catalog.load_all(root)
        slugs = tuple(exercises)
        passed_over, expected = survey(options.submissions, slugs, lambda name: _skipped(options, name))
        for sentence in passed_over:
            say(sentence)
        _must_make_sense(options, slugs, expected)
        started = time.monotonic()
        seed = Seed(f"seed:{options.seed}") if options.seed is not None else course_seed(root)
        prospect = Prospect(exercises, seed, foreseen_reference())
        with _workers(options, slugs) as workers:
            try:
                done = _grade(options, workers, prospect, expected)
            except SandboxError as error:  # before anything was written: the walls are not what they must be
                raise Stop(f"{error}; nothing was graded (`autograder doctor` shows what is missing)") from None
    _print(options, done, exercises, time.monotonic() - started)
    lost = passed_over or any(row.status == "unreadable" for row in done.rows)
    return 1 if lost else 0


def _workers(options: Options, slugs: Sequence[str]) -> Class | Cluster:
    walled, where = not options.unconfined, options.cluster
    if where is None:
        return Class(workers=options.workers, walled=walled)
    if options.workers:
        raise Stop("--workers is about this machine; with --scheduler, grade with the workers that you start there")
    try:
        from autograder.cluster.run import Cluster
    except ModuleNotFoundError as error:
        raise Stop(f"--scheduler needs {error.name}; install Dask: pip install distributed") from None
    from autograder.cluster.address import Certificates, is_open

    certificates = Certificates(where.authority, where.certificate, where.key)
    cluster = Cluster(where.scheduler, slugs, walled=walled, certificates=certificates, wait=where.wait, say=say)
    if is_open(where.scheduler):
        say(
            f"{where.scheduler} is open to everyone on the network, who may read the class's work and run code on all "
            "machines of the cluster; use tls:// unless that network is yours alone"
        )
    return cluster


@dataclass(frozen=True, slots=True)
class _Done:
    """What is printed of a run."""

    rows: Sequence[Row]
    reused: int
    resumed: int
    look_again: Mapping[tuple[str, str], Sequence[str]]


def _must_make_sense(options: Options, slugs: Sequence[str], expected: int) -> None:
    tree, out = options.submissions.resolve(), options.out.resolve()
    if out == tree or tree in out.parents:
        raise Stop(f"--out {options.out} is inside the class {options.submissions}; give a folder outside it")
    if not expected:
        raise Stop(
            f"{options.submissions}: there is nothing to grade in it; a class looks like <student>/<exercise>/"
            f"<exercise>.ipynb, and the exercises are {', '.join(slugs)}"
        )


def _grade(options: Options, workers: Workers, prospect: Prospect, expected: int) -> _Done:
    book = options.book or read_addresses(catalog.course_root()).linkable_book
    gradebook = options.gradebook or sqlite_url(options.out / "gradebook.db")
    output = Output(options.out, gradebook, book, options.with_feedback)
    counts: Counter[str] = Counter()
    look_again: dict[tuple[str, str], Sequence[str]] = {}
    with Progress(expected, wanted=options.progress) as progress:

        def on_result(graded: Graded) -> None:
            progress.step()
            counts.update(reused=int(graded.reused), resumed=int(graded.resumed))
            if options.as_json:
                print(graded.record().decode(), flush=True)

        rows = grade_class(
            workers,
            _wanted(options, tuple(prospect.exercises)),
            prospect,
            output,
            force=options.force,
            on_result=on_result,
            on_look_again=look_again.update,
        )
        return _Done(rows, counts["reused"], counts["resumed"], look_again)


def _wanted(options: Options, slugs: Sequence[str]) -> Iterator[Handed]:
    for handed in handed_in(options.submissions, slugs):
        if not _skipped(options, handed.student):
            yield handed


def _skipped(options: Options, student: str) -> bool:
    return any(fnmatch.fnmatchcase(student, pattern) for pattern in options.skip)


def _print(options: Options, done: _Done, exercises: Mapping[str, Exercise], seconds: float) -> None:
    for row in done.rows:
        if row.status == "unreadable":
            say(f"could not grade {row.student}: {row.reason}")
    again = "\n".join(filter(None, (pointers_text(done.rows), look_again_text(done.look_again))))
    if options.as_json:
        print(again, file=sys.stderr, end="\n" if again else "")
        return
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = max(80, shutil.get_terminal_size((120, 40)).columns)
    print(class_text(done.rows, exercises, width=width, color=color))
    print(again, end="\n" if again else "")
    reused = f", {done.reused:,} of them unchanged since an earlier run and not run again (--force does)"
    resumed = f", {done.resumed:,} of them before the run was interrupted"
    print(
        f"{len(done.rows):,} submissions in {seconds:.1f} s{reused if done.reused else ''}"
        f"{resumed if done.resumed else ''}."
    )
    where = one_line(str(options.out), MESSAGE)
    feedback = "feedback, " if options.with_feedback else ""
    print(f"Gradebook, {feedback}grades.csv and the class report, report/index.html, are in {where}.")
