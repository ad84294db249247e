"""Run one submission's cases in the confined process, within its time budget.

The budget of a submission is the exercise's ``seconds``, enforced from outside: of wall clock, less those in which the
process could have run and had no processor (``waiting``). A check may take half of it; each check that runs out of time
is ended, halves what the next ones may take, and the code is loaded afresh for the next check. So one endless loop
costs half the budget, loops in every check never more than the whole, and a check that is right is still graded after
one that loops. After MAX_TIMEOUTS the rest is not run. To read the code in may take half of the budget each time,
beside the checks: what was fast enough once does not fail because others looped. Twice the budget is the end of it all.

To start a new confined process, and to end a submission's, takes seconds that are not the student's time. The first are
bounded by number: after MAX_LOST processes that were lost with a submission the rest of it is not run; the others count
as waiting.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from autograder.grading import NOT_RUN, Answers
from autograder.limits import MAX_TIMEOUTS as MAX_TIMEOUTS
from autograder.limits import MOST_WAITING, allowance
from autograder.loaded import (
    Loaded,
    before_the_end,
    far_too_slow,
    late,
    no_function,
    not_understood,
    too_large,
    used_up,
    whole,
)
from autograder.loaded import place as place
from autograder.models import Case, Cell, Check, Exercise, Observation
from autograder.reference.expectations import Expected
from autograder.sandbox import frames
from autograder.sandbox.forbid import sentence
from autograder.sandbox.leftovers import MOST_ENTRIES
from autograder.sandbox.questions import Questions
from autograder.sandbox.zygote import SandboxError, Session, Zygote, how_it_ended, observation
from autograder.values import brief

T = TypeVar("T")

MAX_LOST: Final = 2
"""Confined processes that may be lost while one submission runs, whoever's fault it is."""
_LOST: Final = f"not run, because the process that runs it was lost {MAX_LOST} times before"
_ASKING_SECONDS: Final = 10.0
"""How long it may take to send a submission's process what is asked of it; it waits for that, and for nothing else."""
_GRACE_SECONDS: Final = 3.0
"""How long a process that closed its socket may take to end: enough to learn how, although the machine stands still.

One that closes its socket and lives on is charged for as long as it does, and nobody else waits.
"""


class Runner:
    """One submission's runs. ``answers`` is what the judge asks, ``observe`` tries a case of one's own."""

    def __init__(
        self,
        take: Callable[[], Zygote],
        drop: Callable[[], None],
        cells: Sequence[Cell],
        exercise: Exercise,
        lost: int = 0,
        questions: Questions | None = None,
    ) -> None:
        """Prepare; nothing runs before the first case.

        Args:
            take: returns a warm zygote.
            drop: ends that zygote, because it is of no more use; the next ``take`` returns a new one.
            cells: the student's code.
            exercise: names the entry, the budget, and what is forbidden.
            lost: how many confined processes were lost with this submission before.
            questions: all that ``answers`` is asked.
        """
        self._questions = questions
        self._asked: tuple[str, ...] = ()
        """Checks that the session was asked for and that were not looked at yet."""
        self._take, self._drop, self._cells, self._exercise = take, drop, tuple(cells), exercise
        self._session: Session | None = None
        self._check = ""
        self._deadline = 0.0
        # Endless loops use up less than ``seconds`` by the halving alone; twice that ends what is slow in every check.
        self._end = time.monotonic() + 2 * exercise.seconds
        self._over = False
        """Whether the check began after that: what has come of it by then counts, and nothing else."""
        self._patience = MOST_WAITING * exercise.seconds
        self._put_off = 0.0
        """Seconds that the session's put off and that are part of the deadlines."""
        self._paused = time.monotonic()
        self._timeouts, self._lost = 0, lost
        self._failed: Observation | None = None
        self.loaded = Loaded()
        """What came of the cells, once they were run."""

    def observe(self, check: Check, case: Case) -> Observation:
        """Return what the student's code does on one case of a check; never raises for what the code does."""
        if (ended := self._begin(check)) is not None:
            return ended
        assert self._session is not None
        session = self._session
        seen = self._tried(lambda: session.observe(case, check.scenario, self._deadline))
        self._paused = self._session.heard if self._session is not None else time.monotonic()
        if isinstance(seen, Observation):
            return seen
        got, hit = seen
        return Observation(ended="forbidden", detail=sentence(hit)) if hit else got

    def answers(self, check: Check, expected: Expected) -> Answers:
        """Return what the student's code does on all cases of a check, of ``questions``; never raises for what it does.

        Where a case ends the process, the rest of the check is not run: it cannot pass any more.
        """
        came: list[bytes] = []
        ended = self._begin(check) or self._ask(check, len(expected.cases), came)
        assert self._questions is not None
        sizes = self._questions.sizes[check.id]

        def read(number: int) -> Observation:
            if number >= len(came):
                return ended if ended is not None and number == len(came) else NOT_RUN
            try:
                return observation(came[number], sizes[number][1])
            except frames.BadFrame as error:
                self._resume()
                return self._crash(error, "")

        return Answers(read, [hashlib.sha256(data).digest() for data in came])

    def _begin(self, check: Check) -> Observation | None:
        """Get ready for a check; return what is observed of it where it cannot be run."""
        now = self._resume()
        if check.id != self._check:
            if self._session is not None:  # what it waited for the checks before is theirs
                self._session.count()
                self._note(self._session)
            self._check = check.id
            self._deadline = min(now + self.allowance(), self._end)
        if self._failed is not None:
            return self._failed
        # Answers are read when the grader comes to it: what is here already was in time, however late it is now.
        self._over = now >= self._end and not self._more_than(now)
        if self._timeouts >= MAX_TIMEOUTS or (self._over and self._asked[:1] != (check.id,)):
            self._failed = used_up()
        elif self._session is None and self._lost >= MAX_LOST:
            self._failed = whole("not_run", _LOST)
        elif self._session is None:
            return self._load()
        return self._failed

    def _more_than(self, now: float) -> bool:
        """Return whether the end is put off to after ``now``, because the child had no processor."""
        if self._session is not None and self._session.more(now - self._end):
            self._note(self._session)
        return now < self._end

    def _note(self, session: Session) -> float:
        """Make what a session's deadlines were put off by part of ours; return how much that is."""
        more = session.put_off - self._put_off
        self._put_off = session.put_off
        self._patience = session.patience
        self._put_all_off(more)
        return more

    def _put_all_off(self, seconds: float) -> None:
        self._deadline += seconds
        self._end += seconds

    def _ask(self, check: Check, count: int, came: list[bytes]) -> Observation | None:
        """Run a check's cases and append what came of each; return what ended it before the last."""
        session = self._session
        assert session is not None
        assert self._questions is not None
        ended = None
        if not self._asked:
            # The rest as well: while one check is judged, the next one runs.
            names = tuple(self._questions.numbers)
            self._asked = names[names.index(check.id) :]
            self._paused = time.monotonic()
            ended = self._tried(lambda: session.ask(self._asked, self._paused + _ASKING_SECONDS))
            if ended is None:
                self._resume()  # the time begins when it was asked
        elif self._asked[0] != check.id:
            raise ValueError(f"the next check is {self._asked[0]}, not {check.id}: they are run in their order")
        self._asked = self._asked[1:]
        while ended is None and len(came) < count:
            answer = self._tried(lambda: session.next_answer(check.id, len(came), self._deadline))
            if isinstance(answer, Observation):
                ended = answer
            elif answer[1]:
                ended = Observation(ended="forbidden", detail=sentence(answer[1]))
            else:
                came.append(answer[0])
        self._paused = session.heard if self._session is not None else time.monotonic()
        return ended

    def _resume(self) -> float:
        # The clock stood still since the last answer was heard: reading and judging it is our time, not the student's.
        now = time.monotonic()
        self._put_all_off(now - self._paused)
        self._paused = now
        return now

    def allowance(self) -> float:
        """Return how many seconds a check may take now."""
        return allowance(self._exercise.seconds, self._timeouts)

    def close(self) -> None:
        """End the child, if there is one."""
        if self._session is not None:
            self._stop()

    # ------------------------------------------------------------------------ steps

    def _load(self) -> Observation | None:
        first = allowance(self._exercise.seconds, 0)
        try:
            self._session = session = self._open()
            began = time.monotonic()
            deadline = min(began + first, self._end)
            self.loaded = session.load(self._cells, self._exercise.entry, self._exercise.forbids, deadline)
            # Cells that were read in once are not why a check ran out of time: to read them in anew does not cost it.
            session.count()
            more = self._note(session)  # it changes the deadline, too: not within the next line
            self._deadline += time.monotonic() - began - more
            self._deadline = min(self._deadline, self._end)
        except frames.Late:
            # What was allowed, not what was measured: the same submission gets the same message.
            at_the_end = deadline >= self._end
            when = before_the_end(self._exercise.seconds) if at_the_end else f"within {brief(first, 3)} s"
            self._stop()
            self._failed = whole("timeout", f"your cells did not finish {when}")
        except (frames.Closed, frames.BadFrame) as error:
            self._failed = replace(self._crash(error, "while your cells ran"), whole=True)
        else:
            self._failed = no_function(self.loaded, self._exercise.entry)
        return self._failed

    def _open(self) -> Session:
        started = time.monotonic()
        try:
            session = self._take().session(self._questions)
        except SandboxError:
            self._lose()
            session = self._take().session(self._questions)
        # Waiting for a warm process is not the student's time.
        self._put_all_off(time.monotonic() - started)
        self._put_off, session.patience = session.put_off, self._patience
        return session

    def _tried(self, step: Callable[[], T]) -> T | Observation:
        """Take a step with the session; return what is observed where it takes too long, or the process ends."""
        try:
            got = step()
        except frames.Late:
            self._stop()
            if self._over:
                self._failed = used_up()
                return self._failed
            at_the_end = self._deadline >= self._end
            detail = far_too_slow(self._exercise.seconds) if at_the_end else late(self.allowance())
            self._timeouts += 1
            return Observation(ended="timeout", detail=detail)
        except (frames.Closed, frames.BadFrame) as error:
            return self._crash(error, "")
        assert self._session is not None
        self._note(self._session)
        return got

    def _crash(self, error: Exception, when: str) -> Observation:
        if isinstance(error, frames.BadFrame):
            self._stop()
            return not_understood(error)
        status = self._stop(_GRACE_SECONDS)
        if status == frames.EXIT_OUT_OF_MEMORY << 8:
            return Observation(ended="memory", detail="it ran out of memory")
        if status == frames.EXIT_TOO_LARGE << 8:
            return too_large(frames.LIMIT)
        if status == frames.TOO_MANY_FILES:
            return Observation(ended="crashed", detail=f"it made more than {MOST_ENTRIES:,} files {when}".rstrip())
        return Observation(ended="crashed", detail=f"{how_it_ended(status)} {when}".rstrip())

    def _stop(self, grace: float = 0.0) -> int | None:
        session, self._session, self._asked = self._session, None, ()
        if session is None:
            return None
        try:
            session.count()
            self._note(session)
            began, lived = time.monotonic(), grace
            try:
                status, lived = session.end(grace)
                return status
            finally:
                # To end it is our time; within bounds, for a submission can make that slow, and not where it lived on.
                more = min(max(0.0, time.monotonic() - began - lived), self._patience)
                self._patience -= more
                self._put_all_off(more)
                self._paused = time.monotonic()
        except SandboxError:
            self._lose()
            return None

    def _lose(self) -> None:
        self._lost += 1
        self._drop()
