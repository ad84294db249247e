"""Grade a class: what is handed in -> workers -> journal -> gradebook -> report.

Submissions stream through. Work that an earlier run graded is known by the hash of its bytes, and costs a look at its
file and its pages; the rest goes to the grading processes of ``pool``, which write its pages. This process alone writes
the journal, the moment a result is there, and the gradebook, in batches and in a thread of its own, so that no worker
waits for it; then the report, the CSV and the records. A run that was interrupted, in whatever way, is taken up by the
next. What is held of a class is one small row a submission, see ``report.rows``, and where its record is.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from autograder import __version__, files, index
from autograder.collect import Handed, read_handed
from autograder.earlier import Key, Known, Terms
from autograder.errors import CourseError, sentence
from autograder.index import RECORDS as RECORDS
from autograder.index import Records
from autograder.journal import Journal
from autograder.kept import Kept
from autograder.locks import locked
from autograder.marking import blank
from autograder.models import Exercise, Score, Submission
from autograder.notebooks import code_hash, own_cells
from autograder.output import Output as Output
from autograder.plan import Plan, Prospect
from autograder.pool import Class as Class
from autograder.pool import orders_of
from autograder.report.records import from_record, json_line
from autograder.report.rows import Row, Shared, row_of
from autograder.tasks import Done, Orders, Task, Workers, without_texts

if TYPE_CHECKING:
    from autograder.gradebook import GradebookWriter

BATCH: Final = 100
"""Scores that the gradebook takes in one go."""
CSV: Final = "grades.csv"
_STAMP: Final = "feedback/.made_by"
_LOCK: Final = ".grading.lock"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Graded:
    """A submission that is graded."""

    row: Row
    record: Callable[[], bytes]
    """Reads its record, one line of JSON; for as long as the run lasts."""
    code: str = ""
    """Hash of the student's own code: what a mark given by hand is for; "" where nothing is said of that."""
    reused: bool = False
    """Whether the score is that of an earlier run over the very same work."""
    resumed: bool = False
    """Whether the score is what this run graded before it was interrupted."""
    place: tuple[int, int, int] = (0, 0, 0)
    """Whether the record is in the journal, where it begins, and its length."""
    marks: Score | None = None
    """The score without the texts of its checks, where it is at hand."""

    @property
    def score(self) -> Score:
        """The score without the texts of its checks; ``record`` has them. For as long as the run lasts."""
        return self.marks or without_texts(from_record(json.loads(self.record())))


class Interrupted(CourseError):
    """A run that could not be finished; one sentence says why, and that the next goes on where it stopped."""


def grade_class(
    workers: Workers,
    submissions: Iterable[Handed | Submission],
    plans: Mapping[str, Plan] | Prospect,
    output: Output,
    *,
    force: bool = False,
    on_result: Callable[[Graded], None] = lambda graded: None,
    on_look_again: Callable[[Mapping[Key, Sequence[str]]], None] = lambda found: None,
) -> list[Row]:
    """Grade a class and write its gradebook, notebooks, feedback pages, records, CSV and report; return the rows.

    The scores themselves are in the records, as ``read_records`` returns them.

    Work that an earlier run graded - same bytes, exercise, seed and torch - is not run again unless ``force``; what a
    run graded that was interrupted is not run again, and all is written that it would have written. Where nothing is to
    be run, no process is started and no reference computed; where nothing changed, nothing is written.

    Args:
        workers: grade.
        submissions: in the order of the records.
        plans: by exercise; or the prospect of them, which makes them when the first submission needs them.
        output: where it all goes; one run at a time writes there.
        force: grade again what is unchanged.
        on_result: called for each submission, in their order.
        on_look_again: called once, with the cells of each submission whose mark given by hand waits for another look.

    Raises:
        CourseError: another run is writing there, the gradebook cannot be used, a file cannot be written.
        OSError: as for CourseError, before anything was graded.
    """
    # Where no run has been, there is something to run; and where the walls do not stand, not even the folder is made.
    made = None if output.folder.exists() else _ready(workers, plans)
    output.folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        for lock, what in _locks(output):
            stack.enter_context(locked(lock, what))
        journal = stack.enter_context(Journal(output.folder, forced=force))
        run = stack.enter_context(_Run(workers, plans, made, output, journal, force=force))
        try:
            found = run.grade(submissions, on_result)
        except (CourseError, OSError) as error:
            if journal.kept:
                kept = "1 score is" if journal.kept == 1 else f"{journal.kept} scores are"
                raise Interrupted(
                    f"{sentence(error)}. The marks of before are whole, and {kept} kept in {journal.path}: "
                    "the same command goes on from there"
                ) from None
            if not journal.resumed and not run.begun:
                journal.remove()  # nothing was done
            raise
    on_look_again(found)
    return run.rows


def _ready(workers: Workers, plans: Mapping[str, Plan] | Prospect) -> Mapping[str, Plan]:
    """Start the workers, and return the plans, which are made meanwhile; SandboxError where the walls do not stand."""
    workers.start()
    made = plans.plans() if isinstance(plans, Prospect) else plans
    workers.layers()
    return made


def _locks(output: Output) -> Iterator[tuple[Path, str]]:
    yield output.folder / _LOCK, str(output.folder)
    file = output.gradebook_file
    # Where no lock can be made no gradebook can be written, and that is said in better words when it is opened.
    if file is not None and os.access(file.parent, os.W_OK):
        yield file.with_name(f".{file.resolve().name}.lock"), str(file)


class _Run:
    """One run over a class."""

    def __init__(
        self,
        workers: Workers,
        plans: Mapping[str, Plan] | Prospect,
        made: Mapping[str, Plan] | None,
        output: Output,
        journal: Journal,
        *,
        force: bool,
    ) -> None:
        self.rows: list[Row] = []
        self.begun = False
        """Whether a worker was given something to do."""
        self._workers, self._plans, self._made, self._output, self._journal = workers, plans, made, output, journal
        self._outlines = plans.outlines() if isinstance(plans, Prospect) else plans
        self._exercises: dict[str, Exercise] = {slug: plan.exercise for slug, plan in self._outlines.items()}
        self._terms = {slug: _terms(plan) for slug, plan in self._outlines.items()}
        self._records = Records(None if force else output.folder)
        self._kept = Kept(output, self._exercises)
        self._look_again = None if force or journal.resumed else self._kept.look_again()
        """What waits for another look; None where it is not known that the gradebook holds what the records say."""
        self._shared = Shared()
        self._places = array("q")
        """Of each submission whether its record is in the journal, where it begins there, and its length."""
        self._carried: dict[Key, tuple[Known, bool]] = {}
        """Whose pages alone are made anew, and whether their score is of this run."""
        self._gradebook = _Gradebook(output, self._exercises, journal, self._kept.fingerprint)
        self._changed = False
        # Pages of unchanged work are written anew where they would link elsewhere, were made by another version, or
        # where an interruption, of the run or of the machine, may have left others.
        which = "" if output.with_feedback else " without feedback"
        self._stamp, self._made_by = output.folder / _STAMP, f"{__version__} {output.book} {_boot()}{which}\n"
        stamped = self._stamp.is_file() and self._stamp.read_text(encoding="utf-8", errors="replace") == self._made_by
        self._pages_are_current = stamped and not journal.resumed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gradebook.close()
        self._records.close()

    def grade(
        self, submissions: Iterable[Handed | Submission], on_result: Callable[[Graded], None]
    ) -> Mapping[Key, Sequence[str]]:
        """Grade all and write everything; return the marks given by hand that wait for another look."""
        if self._journal.resumed:
            self._sweep()
        jobs = map(self._job, submissions)
        with contextlib.closing(self._workers.stream(jobs, self._orders, self._arrived)) as results:
            batch: list[Graded] = []
            for graded in results:
                self.rows.append(graded.row)
                self._places.extend(graded.place)
                on_result(graded)
                if self._look_again is not None and graded.reused:
                    continue  # the gradebook has it
                batch.append(graded)
                if len(batch) >= BATCH:
                    self._gradebook.put(batch)
                    batch = []
        if self._is_as_before():
            self._journal.remove()
            return self._look_again or {}
        return self._finish(batch)

    # ------------------------------------------------------------- what is to be done

    def _job(self, work: Handed | Submission) -> Task | Graded:
        """Return what is to be done for a submission, or what came of it where there is nothing to do."""
        digest = work.digest if isinstance(work, Handed) else work.content_hash
        key, terms, walled = (work.student, work.exercise), self._terms[work.exercise], self._workers.walled
        # Taken out, so that what is not taken up again is forgotten here.
        taken, known = self._journal.known.pop(key, None), self._records.known.pop(key, None)
        if taken is not None and taken.same_work(digest, terms, walled):
            return self._again(work, taken, self._journal.line(taken.start, taken.length), resumed=True)
        if known is None:
            return Task(work)
        if known.unreadable and known.content_hash == digest and known.terms == terms:
            return self._still_unreadable(work, known) or Task(work)
        if not known.same_work(digest, terms, walled):
            return Task(work)
        if not known.lasts:
            return Task(work, before=self._records.line(known.start, known.length))
        if not self._pages_are_current or not self._output.has_pages(*key):
            return self._again(work, known, self._records.line(known.start, known.length), resumed=False)
        return self._reused(work, known) or Task(work)

    def _again(self, work: Handed | Submission, known: Known, line: bytes, *, resumed: bool) -> Task:
        self._carried[work.student, work.exercise] = known, resumed
        return Task(work, record=line)

    def _reused(self, work: Handed | Submission, known: Known) -> Graded | None:
        """Return the result of an earlier run as it stands; None where its record does not read back."""
        code = "" if self._look_again is not None else self._code(work)
        if row := self._records.rows.pop((work.student, work.exercise), None):
            return self._graded(row, None, code, known, reused=True)
        try:
            score = from_record(json.loads(self._records.line(known.start, known.length)))
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return self._graded(self._shared.row(row_of(score)), without_texts(score), code, known, reused=True)

    def _still_unreadable(self, work: Handed | Submission, known: Known) -> Graded | None:
        """Return the result of an earlier run for a damaged file, if reading it says the same again."""
        submission = work if isinstance(work, Submission) else read_handed(work)
        if not submission.unreadable or not self._pages_are_current:
            return None
        score = blank(self._outlines[work.exercise], submission, "unreadable", submission.unreadable)
        if json_line(score).encode() != self._records.line(known.start, known.length):
            return None
        if not self._output.has_pages(work.student, work.exercise):
            return None
        code = code_hash(submission, ())
        return self._graded(self._shared.row(row_of(score)), without_texts(score), code, known, reused=True)

    def _code(self, work: Handed | Submission) -> str:
        submission = work if isinstance(work, Submission) else read_handed(work)
        return code_hash(submission, own_cells(submission.cells, self._exercises[work.exercise]))

    def _orders(self) -> Orders:
        """Return what the workers are told; called before the first task is given out."""
        plans = _ready(self._workers, self._plans) if self._made is None else self._made
        self._gradebook.open()  # raises where it cannot be written
        self.begun = True
        return orders_of(plans, self._output)

    def _arrived(self, task: Task, done: Done) -> Graded:
        """Note a result in the journal, the moment it comes from a worker."""
        row = self._shared.row(done.row)
        if not done.line:
            known, resumed = self._carried.pop(row.key)
            return self._graded(row, done.score, done.code, known, reused=not resumed, resumed=resumed)
        place = (1, *self._journal.append(done.line))
        self._changed = True
        return self._at(row, done.score, done.code, place)

    def _graded(
        self, row: Row, marks: Score | None, code: str, known: Known, *, reused: bool = False, resumed: bool = False
    ) -> Graded:
        self._changed = self._changed or resumed
        return self._at(row, marks, code, (int(resumed), known.start, known.length), reused=reused, resumed=resumed)

    def _at(self, row: Row, marks: Score | None, code: str, place: tuple[int, int, int], **how: bool) -> Graded:
        return Graded(row, functools.partial(self._line, *place), code, place=place, marks=marks, **how)

    def _line(self, journaled: int, start: int, length: int) -> bytes:
        return (self._journal if journaled else self._records).line(start, length)

    # ----------------------------------------------------------------------- the end

    def _is_as_before(self) -> bool:
        """Return whether all that this run would write is there already."""
        output = self._output
        return (
            not self._changed
            and not self._journal.resumed
            and self._look_again is not None
            and self._pages_are_current
            and self._records.indexed
            and len(self.rows) == self._records.count
            and output.report.is_file()
            and (output.folder / CSV).is_file()
        )

    def _finish(self, batch: Sequence[Graded]) -> Mapping[Key, Sequence[str]]:
        from autograder.report.classroom import class_page
        from autograder.report.tables import grades_csv

        output = self._output
        self._gradebook.put(batch)
        look_again, fingerprint = self._gradebook.look_again(self.rows)
        self._gradebook.close()
        page = class_page(
            self.rows,
            self._exercises,
            address=output.feedback_address,
            book_url=output.book_from(output.report),
            look_again=look_again,
        )
        files.write_parts(output.report, page)
        files.write(self._stamp, self._made_by)
        files.write_lines(output.folder / CSV, grades_csv(self.rows))
        # From the records all else can be made again: with them on the disk, the journal has done its work.
        index.write(output.folder, self._lines(), self.rows)
        self._kept.keep(fingerprint, look_again)
        self._journal.remove()
        return look_again

    def _lines(self) -> Iterator[bytes]:
        places = iter(self._places)
        return (self._line(*place) for place in zip(places, places, places, strict=True))

    def _sweep(self) -> None:
        files.sweep(self._output.folder, below=False)
        for name in ("feedback", "autograded", "report"):
            files.sweep(self._output.folder / name, below=True)


class _Gradebook:
    """The gradebook, opened when it is needed, and written in a thread of its own while others are graded."""

    def __init__(self, output: Output, exercises: Mapping[str, Exercise], journal: Journal, seen: str) -> None:
        """Open nothing yet; ``seen`` is the fingerprint of a gradebook that holds the unchanged scores, or ""."""
        self._output, self._exercises, self._journal, self._seen = output, exercises, journal, seen
        self._as_seen = True
        self._thread: ThreadPoolExecutor | None = None
        self._writer: GradebookWriter | None = None
        self._batch: Future[None] | None = None

    def open(self) -> None:
        """Open it; GradebookError where it cannot be written."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="gradebook")
            self._thread.submit(self._open).result()

    def put(self, batch: Sequence[Graded]) -> None:
        """Write a batch as soon as the one before it is written, for which this waits; raise what that one met."""
        self.open()
        self._wait()
        assert self._thread is not None
        if batch:
            self._batch = self._thread.submit(self._write, batch)

    def look_again(self, rows: Sequence[Row]) -> tuple[Mapping[Key, Sequence[str]], str]:
        """Return the marks given by hand that wait for another look, once all is written, and the fingerprint then."""
        self._wait()
        assert self._thread is not None
        assert self._writer is not None
        found = self._thread.submit(self._writer.look_again, rows).result()
        return found, self._thread.submit(self._writer.fingerprint).result() if self._as_seen else ""

    def close(self) -> None:
        """Wait for what is being written, and close it."""
        if self._thread is not None:
            if self._writer is not None:
                self._thread.submit(self._writer.__exit__, None, None, None)
            self._thread.shutdown(wait=True)
        self._thread = self._writer = None

    def _wait(self) -> None:
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.result()

    def _open(self) -> None:
        from autograder.gradebook import GradebookWriter  # here, because SQLAlchemy takes its time

        self._writer = GradebookWriter(self._output.gradebook, self._exercises, self._before_change).__enter__()
        # Somebody may have written to it in the moment since it was looked at.
        self._as_seen = not self._seen or self._writer.fingerprint() == self._seen

    def _write(self, batch: Sequence[Graded]) -> None:
        assert self._writer is not None
        self._journal.sync()
        codes = {graded.row.key: graded.code for graded in batch}
        self._writer.write([graded.score for graded in batch], codes)

    def _before_change(self, gradebook: Path | None) -> None:
        if self._journal.gradebook_changed:
            return  # the copy was made before the run was interrupted
        if gradebook is not None:
            from autograder.gradebook_copies import copy_gradebook

            copy_gradebook(gradebook)
        self._journal.mark_gradebook_changed()


def _terms(plan: Plan) -> Terms:
    return Terms(plan.exercise.version, plan.expectations.seed_id, plan.expectations.reference)


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
