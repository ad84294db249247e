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
from typing import TYPE_CHECKING, Final

from autograder import catalog
from autograder.addresses import read_addresses
from autograder.claim import expect_folder
from autograder.collect import Handed, handed_in, lookalikes, survey
from autograder.commands.common import Stop, one_line_errors, say
from autograder.earlier import Key
from autograder.errors import ALL_GRADED, NOTHING_GRADED
from autograder.gone import gone_text
from autograder.halting import status_of
from autograder.models import Exercise
from autograder.output import sqlite_url
from autograder.pipeline import Class, Graded, Halted, Output, grade_class
from autograder.plan import Prospect
from autograder.pool import cores, how_many
from autograder.reference.device import foreseen_reference
from autograder.reference.expectations import Seed
from autograder.report.overview import class_text
from autograder.report.progress import Progress
from autograder.report.rows import Row
from autograder.report.terminal import by_hand_text, look_again_text, pointers_text
from autograder.report.untrusted import MESSAGE, one_line
from autograder.report.words import counted
from autograder.sandbox import walls
from autograder.sandbox.zygote import SandboxError
from autograder.secret import course_seed
from autograder.tasks import Workers

if TYPE_CHECKING:
    from autograder.cluster.run import Cluster


_UNCONFINED: Final = (
    "--unconfined: no wall stands around the submissions, and on {} their code can do whatever you can; "
    "that is for code that you trust"
)


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
    done: list[_Done] = []
    try:
        return _run(options, done)
    except KeyboardInterrupt as error:
        say(_halted(error, everything=bool(done)))
        raise SystemExit(status_of(error)) from None


def _halted(error: BaseException | None, *, everything: bool) -> str:
    """Return what an end from outside left: what the run said of it, also where another signal came after that."""
    while error is not None and not isinstance(error, Halted):
        error = error.__context__
    return str(error or (ALL_GRADED if everything else NOTHING_GRADED))


def _run(options: Options, finished: list[_Done]) -> int:
    """Do what ``run`` says; what is printed at the end is put into ``finished`` once all is written."""
    with one_line_errors():
        if options.cluster is None and walls.bubblewrap() is None and not options.unconfined:
            raise Stop(
                "bubblewrap is missing, so strangers' code cannot be confined and nothing was graded; on Debian: "
                "apt-get install bubblewrap (`autograder doctor` shows the rest; --unconfined is for trusted code)"
            )
        root = catalog.course_root()
        slugs = catalog.slugs(root)
        _expect_room(options)
        passed_over, expected = survey(options.submissions, slugs, lambda name: _skipped(options, name))
        for sentence in (*passed_over, *lookalikes(options.submissions)):
            say(sentence)
        _must_make_sense(options, slugs, expected)
        if options.unconfined:
            say(_UNCONFINED.format("the machines of the cluster" if options.cluster else "this machine"))
        started = time.monotonic()
        with _workers(options, slugs, expected) as workers:
            if options.force or not options.out.exists():
                workers.start()  # all is to be run: what they need to get warm is most of a short run
            exercises = catalog.load_all(root, parse_answers=False)
            seed = Seed(f"seed:{options.seed}") if options.seed is not None else course_seed(root)
            prospect = Prospect(exercises, seed, foreseen_reference())
            try:
                finished.append(done := _grade(options, workers, prospect, expected))
            except SandboxError as error:  # before anything was written: the walls are not what they must be
                raise Stop(f"{error}; nothing was graded (`autograder doctor` shows what is missing)") from None
    _print(options, done, exercises, time.monotonic() - started)
    lost = passed_over or any(row.status == "unreadable" for row in done.rows)
    return 1 if lost else 0


def _workers(options: Options, slugs: Sequence[str], expected: int) -> Class | Cluster:
    walled, where = not options.unconfined, options.cluster
    if where is None:
        has = cores()
        count = how_many(options.workers, expected, has)
        if count < min(options.workers, expected):
            said = f"no more than {count} are started; others would only slow them down on {has} cores"
            say(f"--workers {options.workers}: {said}")
        return Class(workers=count, walled=walled)
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
    retried: int
    look_again: Mapping[Key, Sequence[str]]
    gone: Mapping[Key, str]


def _expect_room(options: Options) -> None:
    """Refuse at once, before anything is started, what cannot be written."""
    tree, out = options.submissions.resolve(), options.out.resolve()
    if out == tree or tree in out.parents:
        raise Stop(f"--out {options.out} is inside the class {options.submissions}; give a folder outside it")
    expect_folder(options.out)
    if options.gradebook:
        from autograder.gradebook_db import expect_usable  # here, because SQLAlchemy takes its time

        expect_usable(options.gradebook, options.out)


def _must_make_sense(options: Options, slugs: Sequence[str], expected: int) -> None:
    if not expected and options.skip and (others := survey(options.submissions, slugs)[1]):
        raise Stop(
            f"{options.submissions}: there is nothing to grade in it, because --skip leaves out everyone who handed "
            f"something in ({counted(others, 'submission')}); give a narrower pattern than {', '.join(options.skip)}"
        )
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
    look_again: dict[Key, Sequence[str]] = {}
    gone: dict[Key, str] = {}
    with Progress(expected, wanted=options.progress) as progress:

        def on_result(graded: Graded) -> None:
            progress.step()
            counts.update(reused=int(graded.reused), resumed=int(graded.resumed), retried=int(graded.retried))
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
            on_gone=gone.update,
            on_notice=say,
        )
        return _Done(rows, counts["reused"], counts["resumed"], counts["retried"], look_again, gone)


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
    if gone := gone_text(done.gone, done.rows, lambda student: _skipped(options, student)):
        say(gone)
    texts = by_hand_text(done.rows), pointers_text(done.rows), look_again_text(done.look_again)
    again = "\n".join(filter(None, texts))
    if options.as_json:
        print(again, file=sys.stderr, end="\n" if again else "")
        return
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = max(80, shutil.get_terminal_size((120, 40)).columns)
    print(class_text(done.rows, exercises, width=width, color=color))
    print(again, end="\n" if again else "")
    reused = f", {done.reused:,} of them unchanged since an earlier run and not run again (--force does)"
    resumed = f", {done.resumed:,} of them before the run was interrupted"
    retried = f", {done.retried:,} of them tried again, for time, memory or a crash may have been chance"
    print(
        f"{counted(len(done.rows), 'submission')} in {seconds:.1f} s{reused if done.reused else ''}"
        f"{resumed if done.resumed else ''}{retried if done.retried else ''}."
    )
    print(_where(options))


def _where(options: Options) -> str:
    """Return where everything is, in one sentence that tells no password."""
    out, own = one_line(str(options.out), MESSAGE), options.out / "gradebook.db"
    feedback = "feedback, " if options.with_feedback else ""
    rest = "grades.csv and the class report, report/index.html, are in"
    if options.gradebook:
        from autograder.gradebook_db import name_of_url, sqlite_file

        file = sqlite_file(options.gradebook)
        if file is None or file.resolve() != own.resolve():
            return f"{feedback.capitalize()}{rest} {out}; the gradebook is {name_of_url(options.gradebook)}."
    return f"Gradebook, {feedback}{rest} {out}."
