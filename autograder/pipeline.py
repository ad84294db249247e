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
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from autograder import __version__, files, index
from autograder.choice import of_folder
from autograder.claim import claimed
from autograder.collect import Handed, read_handed
from autograder.earlier import Key, Known, Terms
from autograder.errors import ALL_GRADED, NOTHING_GRADED, CourseError, sentence
from autograder.index import RECORDS as RECORDS
from autograder.index import Records
from autograder.journal import Journal
from autograder.kept import Kept
from autograder.marking import blank
from autograder.models import Exercise, Score, Submission
from autograder.notebooks import code_hash, own_cells
from autograder.output import Output as Output
from autograder.plan import Plan, Prospect
from autograder.pool import Class as Class
from autograder.pool import orders_of
from autograder.report.records import from_record, json_line
from autograder.report.rows import Row, Shared, row_of, tree_of
from autograder.tasks import Done, Orders, Task, Workers, without_texts

if TYPE_CHECKING:
    from autograder.gradebook import GradebookWriter

BATCH: Final = 100
"""Scores that the gradebook takes in one go."""
CSV: Final = "grades.csv"
_STAMP: Final = ".made_by"
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
    retried: bool = False
    """Whether an earlier run graded the very same work, and it was tried again for chance may have had a part in it."""
    renewed: bool = False
    """Whether the record says something else of the folder that the work lies in than the one of before."""
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


class Halted(KeyboardInterrupt):
    """A run that was ended by Ctrl-C or another signal; one sentence says what is kept of it."""


def grade_class(
    workers: Workers,
    submissions: Iterable[Handed | Submission],
    plans: Mapping[str, Plan] | Prospect,
    output: Output,
    *,
    force: bool = False,
    on_result: Callable[[Graded], None] = lambda graded: None,
    on_look_again: Callable[[Mapping[Key, Sequence[str]]], None] = lambda found: None,
    on_gone: Callable[[Mapping[Key, str]], None] = lambda gone: None,
    on_notice: Callable[[str], None] = lambda sentence: None,
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
        on_gone: called once, with what was in the last run and is not in this one, and the folder of that class,
            "" where that is not known.
        on_notice: called with one sentence for what the instructor has to know of, as soon as it is known.

    Raises:
        CourseError: another run is writing there, the gradebook cannot be used, a file cannot be written.
        OSError: as for CourseError, before anything was graded.
        Halted: it was ended by Ctrl-C, or by what raises the same.
    """
    journals: list[Journal] = []
    try:
        run = _graded_class(workers, submissions, plans, output, force, on_result, on_notice, journals)
        on_look_again(run.look_again)
        on_gone(run.gone)
        return run.rows
    except KeyboardInterrupt:  # perhaps another one, while the first was dealt with
        kept = ""
        while not kept:
            with contextlib.suppress(KeyboardInterrupt):  # and one more
                kept = _halted(*journals)
        raise Halted(kept) from None


def _graded_class(
    workers: Workers,
    submissions: Iterable[Handed | Submission],
    plans: Mapping[str, Plan] | Prospect,
    output: Output,
    force: bool,
    on_result: Callable[[Graded], None],
    on_notice: Callable[[str], None],
    journals: list[Journal],
) -> _Run:
    """Do what ``grade_class`` says; its journal is put into ``journals``."""
    # Where no run has been, there is something to run; and where the walls do not stand, not even the folder is made.
    made = None if output.folder.exists() else _ready(workers, plans)
    with contextlib.ExitStack() as stack:
        claim = stack.enter_context(claimed(output))
        journal = stack.enter_context(Journal(output.folder, forced=force))
        journals.append(journal)
        run = stack.enter_context(_Run(workers, plans, made, output, journal, on_notice, force=force))
        try:
            run.look_again = run.grade(submissions, on_result)
        except (CourseError, OSError, KeyboardInterrupt) as error:
            if journal.kept and isinstance(error, Exception):
                raise Interrupted(f"{sentence(error)}. {_left(error, journal)}") from None
            if not journal.resumed and not run.begun:
                journal.remove()  # nothing was done
                claim.undo()
            raise
    return run


def _left(error: Exception, journal: Journal) -> str:
    if isinstance(error, CourseError) and not error.same_command_helps:
        return f"Once that is done, {_kept(journal)}"
    return f"The marks of before are whole, and {_kept(journal)}"


def _kept(journal: Journal) -> str:
    kept = "1 score is" if journal.kept == 1 else f"{journal.kept} scores are"
    return f"{kept} kept in {journal.path}: the same command goes on from there"


def _halted(journal: Journal | None = None) -> str:
    if journal is None or not journal.kept:
        return NOTHING_GRADED
    return f"interrupted; {_kept(journal)}" if journal.path.exists() else ALL_GRADED


def _ready(workers: Workers, plans: Mapping[str, Plan] | Prospect, at_least: int = 0) -> Mapping[str, Plan]:
    """Start workers, see ``Workers.start``, and return the plans, which are made meanwhile.

    Raises:
        SandboxError: the walls do not stand.
    """
    workers.start(at_least)
    made = plans.plans() if isinstance(plans, Prospect) else plans
    workers.layers()
    return made


class _Run:
    """One run over a class."""

    def __init__(
        self,
        workers: Workers,
        plans: Mapping[str, Plan] | Prospect,
        made: Mapping[str, Plan] | None,
        output: Output,
        journal: Journal,
        on_notice: Callable[[str], None],
        *,
        force: bool,
    ) -> None:
        self.rows: list[Row] = []
        self.look_again: Mapping[Key, Sequence[str]] = {}
        self.begun = False
        """Whether a worker was given something to do, or a record was written."""
        self.gone: Mapping[Key, str] = {}
        """What was in the last run and is not in this one, see ``grade_class``."""
        self._workers, self._plans, self._made, self._output, self._journal = workers, plans, made, output, journal
        self._outlines = plans.outlines() if isinstance(plans, Prospect) else plans
        self._exercises: dict[str, Exercise] = {slug: plan.exercise for slug, plan in self._outlines.items()}
        self._terms = {slug: _terms(plan) for slug, plan in self._outlines.items()}
        self._before = _trees(output.folder) if force else {}
        """What was in the last run, where its records are not used."""
        self._records = Records(None if force else output.folder)
        # Where a run has been, there may be little to do: one worker, and as many more as have something to do.
        self._at_least = 1 if self._records.known or journal.known else 0
        self._kept = Kept(output, self._exercises)
        self._waiting = None if force or journal.resumed else self._kept.look_again()
        """What waits for another look; None where it is not known that the gradebook holds what the records say."""
        self._shared = Shared()
        self._places = array("q")
        """Of each submission whether its record is in the journal, where it begins there, and its length."""
        self._carried: dict[Key, _Carried] = {}
        """Whose pages alone are made anew."""
        self._gradebook = _Gradebook(output, self._exercises, journal, self._kept, on_notice)
        # Pages of unchanged work are written anew where they would link elsewhere, were made by another version, or
        # where an interruption, of the run or of the machine, may have left others. A run without feedback says nothing
        # of feedback pages: those that it leaves are, or are not, what they were before it.
        kinds = ("autograded", "feedback") if output.with_feedback else ("autograded",)
        self._stamps = [output.folder / kind / _STAMP for kind in kinds]
        self._made_by = f"{__version__} {output.book} {_boot()}\n"
        stamped = all(_says(stamp, self._made_by) for stamp in self._stamps)
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
                if self._waiting is not None and graded.reused and not graded.renewed:
                    continue  # the gradebook has it
                batch.append(graded)
                if len(batch) >= BATCH:
                    self._gradebook.put(batch)
                    batch = []
        self.gone = self._gone()
        if self._is_as_before():
            self._journal.remove()
            return self._waiting or {}
        return self._finish(batch)

    # ------------------------------------------------------------- what is to be done

    def _job(self, work: Handed | Submission) -> Task | Graded:
        """Return what is to be done for a submission, or what came of it where there is nothing to do."""
        digest = work.digest if isinstance(work, Handed) else work.content_hash
        key, terms, walled = (work.student, work.exercise), self._terms[work.exercise], self._workers.walled
        # Taken out, so that what is not taken up again is forgotten here.
        taken, known = self._journal.known.pop(key, None), self._records.known.pop(key, None)
        self._before.pop(key, None)
        if taken is not None:
            if again := self._taken_up(work, taken):
                return again
            self._journal.forget()
        if known is None:
            return Task(work)
        if known.unreadable and known.content_hash == digest and known.terms == terms:
            return self._still_unreadable(work, known) or Task(work)
        if not known.same_work(digest, terms, walled):
            return Task(work)
        line, renewed = b"", False
        if not self._lies_as_before(work):
            before = self._records.line(known.start, known.length)
            line = _as_it_lies(work, before)
            renewed = line != before
        if not known.lasts:
            return Task(work, before=line or self._records.line(known.start, known.length))
        if renewed:
            return self._renewed(work, known, line)
        if not self._pages_are_current or not self._output.has_pages(*key):
            return self._again(work, known, self._records.line(known.start, known.length))
        return self._reused(work, known) or Task(work)

    def _taken_up(self, work: Handed | Submission, taken: Known) -> Task | None:
        """Return what is to be done for work that an interrupted run graded; None where it is to be graded anew."""
        digest = work.digest if isinstance(work, Handed) else work.content_hash
        terms, line = self._terms[work.exercise], self._journal.line(taken.start, taken.length)
        if taken.unreadable and taken.content_hash == digest and taken.terms == terms:
            return self._again(work, taken, line, resumed=True) if self._says_again(work, line) else None
        if not taken.same_work(digest, terms, self._workers.walled):
            return None
        now = _as_it_lies(work, line)
        if now != line:
            start, length = self._journal.append(now, lasts=False)  # it counts already
            taken = replace(taken, start=start, length=length)
        return self._again(work, taken, now, resumed=True)

    def _lies_as_before(self, work: Handed | Submission) -> bool:
        """Return whether the record of work is known to say of its folder what is so now, without reading it."""
        row = self._records.rows.get((work.student, work.exercise))
        if row is None or row.notes or any(map(of_folder, work.notes)):
            return False
        return row.tree == tree_of(str(work.path))

    def _renewed(self, work: Handed | Submission, known: Known, line: bytes) -> Task | Graded:
        """Write the record of unchanged work that lies elsewhere, or among other files; its pages show the notes."""
        key = work.student, work.exercise
        score = from_record(json.loads(line))
        old = from_record(json.loads(self._records.line(known.start, known.length)))
        self._records.rows.pop(key, None)
        self.begun = True
        start, length = self._journal.append(line)
        if score.notes != old.notes or not self._pages_are_current or not self._output.has_pages(*key):
            self._carried[key] = _Carried(replace(known, start=start, length=length), journaled=True)
            return Task(work, record=line)
        code = "" if self._waiting is not None else self._code(work)
        row = self._shared.row(row_of(score))
        return self._at(row, without_texts(score), code, (1, start, length), reused=True)

    def _again(self, work: Handed | Submission, known: Known, line: bytes, *, resumed: bool = False) -> Task:
        self._carried[work.student, work.exercise] = _Carried(known, resumed=resumed, journaled=resumed)
        return Task(work, record=line)

    def _reused(self, work: Handed | Submission, known: Known) -> Graded | None:
        """Return the result of an earlier run as it stands; None where its record does not read back."""
        code = "" if self._waiting is not None else self._code(work)
        if row := self._records.rows.pop((work.student, work.exercise), None):
            return self._graded(row, None, code, known)
        try:
            score = from_record(json.loads(self._records.line(known.start, known.length)))
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return self._graded(self._shared.row(row_of(score)), without_texts(score), code, known)

    def _still_unreadable(self, work: Handed | Submission, known: Known) -> Task | Graded | None:
        """Return the result of an earlier run for a damaged file, if reading it says the same again."""
        line = self._records.line(known.start, known.length)
        score = self._says_again(work, line)
        if score is None:
            return None
        if not self._pages_are_current or not self._output.has_pages(work.student, work.exercise):
            return self._again(work, known, line)
        code = code_hash(work if isinstance(work, Submission) else read_handed(work), ())
        row = self._records.rows.pop((work.student, work.exercise), None) or row_of(score)
        return self._graded(self._shared.row(row), without_texts(score), code, known)

    def _says_again(self, work: Handed | Submission, line: bytes) -> Score | None:
        """Return the score of work that cannot be read; None where it can be, or its record is not that line."""
        submission = work if isinstance(work, Submission) else read_handed(work)
        if not submission.unreadable:
            return None
        score = blank(self._outlines[work.exercise], submission, "unreadable", submission.unreadable)
        return score if json_line(score).encode() == line else None

    def _code(self, work: Handed | Submission) -> str:
        submission = work if isinstance(work, Submission) else read_handed(work)
        return code_hash(submission, own_cells(submission.cells, self._exercises[work.exercise]))

    def _orders(self) -> Orders:
        """Return what the workers are told; called before the first task is given out."""
        plans = _ready(self._workers, self._plans, self._at_least) if self._made is None else self._made
        self._gradebook.open()  # raises where it cannot be written
        self.begun = True
        for stamp in self._stamps:  # until the end nobody may trust what is there, whoever finishes this run
            stamp.unlink(missing_ok=True)
        return orders_of(plans, self._output)

    def _arrived(self, task: Task, done: Done) -> Graded:
        """Note a result in the journal, the moment it comes from a worker."""
        row = self._shared.row(done.row)
        carried = None if done.line else self._carried.pop(row.key)
        if carried is None or carried.resumed:
            self._output.remove_outdated(row)
        if carried is not None:
            known, resumed = carried.known, carried.resumed
            place = (int(carried.journaled), known.start, known.length)
            renewed = carried.journaled and not resumed
            return self._at(row, done.score, done.code, place, reused=not resumed, resumed=resumed, renewed=renewed)
        # What is unreadable and was read is the end of a process: the next run tries it again.
        lasts = row.status != "unreadable" or self._says_again(task.work, done.line) is not None
        place = (1, *self._journal.append(done.line, lasts=lasts))
        return self._at(row, done.score, done.code, place, retried=bool(task.before))

    def _graded(self, row: Row, marks: Score | None, code: str, known: Known) -> Graded:
        return self._at(row, marks, code, (0, known.start, known.length), reused=True)

    def _at(self, row: Row, marks: Score | None, code: str, place: tuple[int, int, int], **how: bool) -> Graded:
        return Graded(row, functools.partial(self._line, *place), code, place=place, marks=marks, **how)

    def _line(self, journaled: int, start: int, length: int) -> bytes:
        return (self._journal if journaled else self._records).line(start, length)

    # ----------------------------------------------------------------------- the end

    def _gone(self) -> dict[Key, str]:
        """Return what was in the last run and is not in this one; nothing of exercises that the course has no more."""
        rows = self._records.rows
        left = {key: rows[key].tree if key in rows else "" for key in self._records.known} | self._before
        return {key: tree for key, tree in left.items() if key[1] in self._exercises}

    def _is_as_before(self) -> bool:
        """Return whether all that this run would write is there already."""
        output = self._output
        return (
            not self.begun
            and not self._journal.resumed
            and self._waiting is not None
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
        for n, final in self._gradebook.final_scores(self.rows):
            self.rows[n] = replace(self.rows[n], final=final)
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
        for stamp in self._stamps:
            files.write(stamp, self._made_by)
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


@dataclass(frozen=True, slots=True)
class _Carried:
    """Work that is not graded again, while its pages are made anew."""

    known: Known
    resumed: bool = False
    """Whether its score is of this run."""
    journaled: bool = False
    """Whether its record is in the journal."""


class _Gradebook:
    """The gradebook, opened when it is needed, and written in a thread of its own while others are graded."""

    def __init__(
        self,
        output: Output,
        exercises: Mapping[str, Exercise],
        journal: Journal,
        kept: Kept,
        on_notice: Callable[[str], None],
    ) -> None:
        """Open nothing yet; ``kept`` knows of the gradebook that the last run left."""
        self._output, self._exercises, self._journal, self._kept = output, exercises, journal, kept
        self._on_notice, self._seen = on_notice, kept.fingerprint
        self._as_seen = True
        self._thread: ThreadPoolExecutor | None = None
        self._writer: GradebookWriter | None = None
        self._batch: Future[None] | None = None

    def open(self) -> None:
        """Open it; GradebookError where it cannot be written."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="gradebook")
            if said := self._thread.submit(self._open).result():
                self._on_notice(said)

    def put(self, batch: Sequence[Graded]) -> None:
        """Write a batch as soon as the one before it is written, for which this waits; raise what that one met."""
        self.open()
        self._wait()
        assert self._thread is not None
        if batch:
            self._batch = self._thread.submit(self._write, batch)

    def final_scores(self, rows: Sequence[Row]) -> Iterator[tuple[int, float | None]]:
        """Yield the place of each row that does not say what the gradebook holds once all is written, and what that is.

        None where that is now what the checks alone make of it.
        """
        self._wait()
        assert self._thread is not None
        assert self._writer is not None
        found = self._thread.submit(self._writer.final_scores, rows).result()
        for n, row in enumerate(rows):
            if row.final != (final := found.get(n)):
                yield n, final

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

    def _open(self) -> str:
        """Open it; return what is to be said of that, in one sentence, or ""."""
        from autograder.gradebook import GradebookWriter  # here, because SQLAlchemy takes its time
        from autograder.gradebook_rescue import copies_of, is_blank, made_anew, set_aside

        file = self._output.gradebook_file
        gone = file is not None and is_blank(file) and (self._kept.left_gradebook() or bool(copies_of(file)))
        aside = set_aside(file) if gone and file is not None else None  # before a copy of the new one needs the room
        self._writer = GradebookWriter(self._output.gradebook, self._exercises, self._before_change).__enter__()
        # Somebody may have written to it in the moment since it was looked at.
        self._as_seen = not self._seen or self._writer.fingerprint() == self._seen
        return made_anew(file, aside) if gone and file is not None else ""

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


def _as_it_lies(work: Handed | Submission, line: bytes) -> bytes:
    """Return a record with what it says of the folder of its work brought up to date, where that is not so any more.

    Where the work lies, and what lies beside it, is not in its bytes, and changes no mark.
    """
    try:
        score = from_record(json.loads(line))
    except (ValueError, KeyError, TypeError, RecursionError):
        return line  # it will be seen where it is used
    about = tuple(filter(of_folder, work.notes))
    rest = tuple(note for note in score.notes if not of_folder(note))
    if (score.path, score.notes) == (str(work.path), (*about, *rest)):
        return line
    return json_line(replace(score, path=str(work.path), notes=(*about, *rest))).encode()


def _trees(folder: Path) -> dict[Key, str]:
    """Return what the last run graded, and the folder of its class; "" where that is not known."""
    records = Records(folder)
    records.close()
    return {key: records.rows[key].tree if key in records.rows else "" for key in records.known}


def _says(stamp: Path, text: str) -> bool:
    return stamp.is_file() and stamp.read_text(encoding="utf-8", errors="replace") == text


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
