"""Judge an answer in the page: source in, the record of ``autograder check --json`` out.

``answer`` runs the student's code in this very interpreter. There is no wall around it, and no clock: the page has one.
It is told when each case begins and how long its check may take, ends the worker when that is over, and asks a new one
for the same answer with the case that had no end, so that the other checks are judged as everywhere.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from autograder import recorded
from autograder.browser import absent, course, home, numpy_free
from autograder.browser.printed import MOST_SHOWN, Printed
from autograder.grading import Answers, one_by_one, try_cases
from autograder.limits import MAX_TIMEOUTS, STUDENT, allowance
from autograder.loaded import Loaded, late, no_function, not_understood, place, too_large
from autograder.loaded import used_up as no_time
from autograder.marking import mark, untouched
from autograder.models import (
    Case,
    Cell,
    Check,
    CheckResult,
    Exercise,
    Observation,
    Opaque,
    Outcome,
    Raised,
    Scalar,
    Score,
    Submission,
    Tensor,
)
from autograder.notebooks import is_untouched
from autograder.observations import decode_observation, encode_observation, observe
from autograder.plan import Plan
from autograder.reference.expectations import Expected
from autograder.report.records import json_line
from autograder.sandbox import cells, frames
from autograder.sandbox.forbid import sentence
from autograder.tensors import exactly
from autograder.values import BadValue

ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder that the archive was unpacked into."""
_plans: Final[dict[str, Plan]] = {}

Trying = Callable[[str, int, int, int, float], object]
"""Is told, before a case runs: its check's id and number from 1, how many checks there are, the case's number in it
from 0, and the seconds that the check may take. Number 0, of no check, is the reader's code as it is read in."""
Ended = tuple[tuple[str, int], ...]
"""The cases that ran out of time before, in order: a check's id, and a case's number in it."""
Told = Callable[[str], object]
"""Is told what the code prints, while it runs."""


def grade(slug: str, source: str, trying: Trying | None = None) -> dict[str, Any]:
    """Grade an answer with the inputs of the public seed.

    Args:
        slug: the exercise.
        source: the whole text of the reader's editor.
        trying: is told which case is about to run.

    Returns:
        The record, with the keys and values of ``autograder check --json``: status "graded" or "not_started".

    Raises:
        LookupError: there is no such exercise in the page.
    """
    return dict(json.loads(answer(slug, source, trying))["record"])


def answer(
    slug: str,
    source: str,
    trying: Trying | None = None,
    printed: Told | None = None,
    ended: str = "[]",
    used_up: bool = False,
) -> str:
    """Return, as JSON text, ``{"record": ..., "marks": [...], "printed": {...}}``: what the page's worker posts.

    ``marks`` are the lines for an editor to mark, in order: ``{"line", "text", "check"}``, where ``check`` is the id
    of the check that met the exception, or "" where it left the code while that was being read in. The answer's
    ``printed`` is what was printed, ``{"text": the beginning of it, "calls": in how many calls}``, by the id of each
    check that did not pass: in the case that it shows; and by "" what the code printed while it was read in, in 0
    calls. Nothing stands there for what printed nothing.

    The argument ``printed`` is told the beginning of what the code prints: the page may have to end the run, and has
    it then.

    ``ended``, as JSON, is what has run out of time before with this very answer, as ``Ended`` says; it is not run
    again. With ``used_up`` nothing is run after the last of them.
    """
    plan = _plan(slug)
    data = source.encode("utf-8", "surrogatepass")
    cell, path = Cell(1, source), Path(f"{slug}.py")
    submission = Submission("", slug, path, (cell,), content_hash=hashlib.sha256(data).hexdigest())
    if is_untouched(submission.cells, plan.exercise):
        return _answer(untouched(plan, submission), [], {})
    started = time.monotonic()
    clock = _Clock(plan.exercise, trying, tuple((check, case) for check, case in json.loads(ended)), used_up)
    run = _Run(plan.exercise, submission.cells, clock, None if printed is None else Printed(printed))
    with home.kept():
        run.everything(plan)
    score = mark(plan, submission, run)  # with the modules that the code has found, not with those that it leaves
    score = replace(score, duration_s=round(time.monotonic() - started, 4))
    return _answer(score, _marks(run, score, plan), _printed(run, score, plan))


def slugs() -> str:
    """Return the exercises that are here, as a JSON list."""
    return json.dumps(sorted(path.parent.name for path in ROOT.glob(f"exercises/*/{course.FILE}")))


def seconds(slug: str) -> float:
    """Return the seconds of an exercise: twice as many are the end of an answer in any case."""
    return _plan(slug).exercise.seconds


def _answer(score: Score, marks: list[dict[str, Any]], printed: dict[str, dict[str, str | int]]) -> str:
    return f'{{"record": {json_line(score)}, "marks": {json.dumps(marks)}, "printed": {json.dumps(printed)}}}'


def _plan(slug: str) -> Plan:
    if slug not in _plans:
        absent.install()
        exercise = course.load(slug, ROOT)
        known = recorded.load(exercise)
        if known is None:
            raise LookupError(f"{slug}: what is recorded belongs to another version; build the book again")
        _plans[slug] = numpy_free.plan(Plan(exercise, *known))
    return _plans[slug]


# ------------------------------------------------------------------------------ running


class _Clock:
    """What the page's clock has ended before, and what it is told of what runs next."""

    def __init__(self, exercise: Exercise, trying: Trying | None, ended: Ended, used_up: bool) -> None:
        self._seconds, self._trying, self._ended, self._used_up = exercise.seconds, trying, ended, used_up
        self._places = {check.id: number for number, check in enumerate(exercise.checks, start=1)}
        self._timeouts = 0
        self._check, self._case = "", -1
        self.late = False
        """Whether the check that was tried last has had its time."""

    def load(self) -> None:
        """Tell that the code is read in."""
        self._tell("", 0, 0)

    def case(self, check: str) -> Observation | None:
        """Tell that a check's next case runs; return what was observed of it where it ran out of time before."""
        self._case = self._case + 1 if check == self._check else 0
        self._check, self.late = check, True
        if self._timeouts >= MAX_TIMEOUTS or (self._used_up and self._timeouts == len(self._ended)):
            return no_time()
        if (check, self._case) in self._ended:
            seen = Observation(ended="timeout", detail=late(allowance(self._seconds, self._timeouts)))
            self._timeouts += 1
            return seen
        self.late = False
        self._tell(check, self._places[check], self._case)
        return None

    def _tell(self, check: str, number: int, case: int) -> None:
        if self._trying is not None:
            self._trying(check, number, len(self._places), case, allowance(self._seconds, self._timeouts))


class _Run:
    """One answer's runs in this interpreter: first everything is observed, then ``answers`` tells of it."""

    def __init__(self, exercise: Exercise, code: tuple[Cell, ...], clock: _Clock, heard: Printed | None) -> None:
        self._exercise, self._code, self._clock, self._heard = exercise, code, clock, heard
        self._failed: Observation | None = None
        self._broken = False  # elsewhere the process is gone then, and the code is read in anew
        self._function: Any = None
        self._last: Case | None = None
        self._seen: dict[tuple[str, int], Observation] = {}
        self.loaded = Loaded()

    def everything(self, plan: Plan) -> None:
        """Run the code, and then every case of every check in order."""
        self._clock.load()
        self._load()
        for check in self._exercise.checks:
            self._last = None
            try_cases(check, plan.expectations.checks[check.id], self._observe)
            if self._failed is None and not self._clock.late:
                self._skip(check, numpy_free.between(check, self._last, None))

    def answers(self, check: Check, expected: Expected) -> Answers:
        """Return what the answer did on a check's cases."""
        return one_by_one(lambda check, case: self._seen[check.id, id(case)])(check, expected)

    def seen(self, result: CheckResult, plan: Plan) -> Observation | None:
        """Return what was observed on the case that a result shows."""
        shown = _shown(result, plan)
        return None if shown is None else self._seen.get((result.id, id(shown)))

    def _observe(self, check: Check, case: Case) -> Observation:
        seen = self._failed or self._clock.case(check.id)
        if seen is None:
            seen = self._read_in_anew() or self._after_others(check, case)
            self._broken = bool(seen.ended) and not seen.whole
        self._seen[check.id, id(case)] = seen
        return seen

    def _read_in_anew(self) -> Observation | None:
        if self._broken:
            try:
                self._load()
            except Exception as error:
                return _broke_python(error)
        return self._failed

    def _after_others(self, check: Check, case: Case) -> Observation:
        self._skip(check, numpy_free.between(check, self._last, case))
        self._last = case
        return self._try(check, case)

    def _skip(self, check: Check, cases: Iterable[Case]) -> None:
        for case in cases:
            self._try(check, case)

    def _try(self, check: Check, case: Case) -> Observation:
        try:
            seen = observe(self._function, case, check.scenario, cell_of=cells.cell_of, heard=self._heard)
        except KeyboardInterrupt:  # nobody has pressed a key: the code raised it, which ends a process
            return Observation(ended="crashed", detail="the code raised KeyboardInterrupt, which ends the run")
        except Exception as error:  # not the code's own, which are observed, but ours: it changed what we stand on
            return _broke_python(error)
        return _heard(seen, case)

    def _load(self) -> None:
        parsed = cells.parse(self._code)
        if hits := tuple(cells.forbidden(parsed, self._exercise.forbids)):
            self.loaded = Loaded(hits)
        else:
            ran = cells.run(parsed, self._heard)
            self._function = cells.entry_of(ran, self._exercise.entry)
            self.loaded = Loaded(
                defined=self._exercise.entry in ran.namespace,
                callable=self._function is not None,
                errors=tuple(ran.errors),
                notes=tuple(ran.notes),
                output=ran.output,
            )
        # A page has one piece of code, and no cells.
        self._failed = no_function(self.loaded, self._exercise.entry, lost=": was it renamed?", other="")


def _shown(result: CheckResult, plan: Plan) -> Case | None:
    """Return the case that a result shows."""
    return next((case for case in plan.expectations.checks[result.id].cases if case.name == result.case), None)


def _broke_python(error: Exception) -> Observation:
    detail = f"the code changed Python itself, so that it cannot be tried ({type(error).__name__})"
    return Observation(ended="crashed", detail=detail)


def _heard(seen: Observation, case: Case) -> Observation:
    """Return an observation as it arrives from a confined process, within the same limits."""
    size, elements = STUDENT.answer(case)
    if (few := _numbers((seen.outcomes, seen.output), elements // 2)) is not None and few * _BYTES < size:
        return seen  # by far within the limits, as nearly all are
    try:
        return decode_observation(frames.read(frames.written(encode_observation(seen)), size), elements=elements)
    except frames.TooLarge:
        return too_large(frames.LIMIT)
    except (frames.BadFrame, BadValue) as error:
        return not_understood(error)


_BYTES: Final = 32
"""No number takes more as JSON."""


def _numbers(value: Any, limit: int) -> int | None:
    """Return about how many numbers an observation holds, or as much text; None where it is more than ``limit``."""
    if isinstance(value, str):
        count = 1 + len(value) // 4
    elif isinstance(value, (Outcome, Raised, Tensor, Scalar, Opaque)):
        return _numbers([getattr(value, name) for name in value.__slots__], limit)
    elif isinstance(value, Mapping):
        return _numbers([*value, *value.values()], limit)
    elif isinstance(value, (list, tuple)):
        count = 1 + len(value)
        if not {int, float, bool}.issuperset(map(type, value)):
            for item in value:
                inside = _numbers(item, limit - count) if count <= limit else None
                if inside is None:
                    return None
                count += inside
    else:
        count = 1
    return count if count <= limit else None


# -------------------------------------------------------------------- printed, and marks


def _printed(run: _Run, score: Score, plan: Plan) -> dict[str, dict[str, str | int]]:
    """Return what was printed while the code was read in, by "", and in the case that each lost check shows."""
    texts = {"": (run.loaded.output, 0)}
    for result in score.checks:
        case, seen = _shown(result, plan), run.seen(result, plan)
        if result.status != "passed" and case is not None and seen is not None:
            texts[result.id] = (seen.output, len(case.calls))
    return {
        name: {"text": exactly(text, MOST_SHOWN + 1), "calls": calls} for name, (text, calls) in texts.items() if text
    }


def _marks(run: _Run, score: Score, plan: Plan) -> list[dict[str, Any]]:
    marks = [_mark("", line, sentence(name)) for _, line, name in run.loaded.forbidden]
    marks += [_mark("", error.line, _said(error)) for error in run.loaded.errors]
    marks += [
        _mark(result.id, error.line, _said(error))
        for result in score.checks
        for error in _raised(run.seen(result, plan), result)
    ]
    return [mark for mark in marks if mark["line"] is not None]


def _raised(seen: Observation | None, result: CheckResult) -> list[Raised]:
    """Return the exception that a check failed by, in a list; none where it failed by something else."""
    if result.status not in ("error", "memory", "forbidden") or seen is None:
        return []
    raised = [outcome.raised for outcome in seen.outcomes if outcome.raised is not None]
    return [error for error in raised if result.returned == f"raised {error.type_name}"][:1]


def _said(error: Raised) -> str:
    return place(replace(error, cell=None, line=None, source=""))


def _mark(check: str, line: int | None, text: str) -> dict[str, Any]:
    return {"line": line, "text": text, "check": check}
