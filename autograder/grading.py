"""Judge one answer: observations in, check results out. Knows neither where the code runs nor who wrote it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from autograder.checks import failure, judge_case, passed, with_misconception
from autograder.models import Case, Check, CheckResult, Exercise, Mismatch, Observation, Score
from autograder.observations import observe as observe_here
from autograder.observations import plainly
from autograder.recognize import TIMEOUT, Marks, Pattern, recognize
from autograder.reference.expectations import Expectations, Expected

Observe = Callable[[Check, Case], Observation]
"""Runs one case of a check on the student's code."""

NOT_RUN: Final = Observation(ended="not_run", detail="not run, because an earlier case of this check ended the process")
TEXT_LIMIT: Final = 8_000
"""Characters that a result's texts about one value may have."""


class Answers:
    """What an answer did on the cases of one check; each is put together when it is asked for."""

    def __init__(self, read: Callable[[int], Observation], digests: Sequence[bytes] = ()) -> None:
        """Keep how to get at it.

        Args:
            read: returns the observation on a case, by its number. Cases are asked for in their order, and none after
                one that ended the process.
            digests: of what came from the process, for the cases from the first on for which it came whole: where two
                are equal, so are the observations.
        """
        self.read, self.digests = read, digests


Ask = Callable[[Check, Expected], Answers]
"""Runs all cases of a check on the student's code."""


def one_by_one(observe: Observe) -> Ask:
    """Return what asks for the cases of a check in turn, until one ends the process."""

    def ask(check: Check, expected: Expected) -> Answers:
        seen = [got for _, got, _ in try_cases(check, expected, observe)]
        return Answers(seen.__getitem__)

    return ask


@dataclass(frozen=True, slots=True)
class Found:
    """What the judge finds on one case."""

    mismatch: Mismatch | None
    mark: str
    plain: str
    """The mark had each number inside a dict been Python's own."""
    ended: str
    output: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What a check's answers come to."""

    result: CheckResult
    """Without a misconception."""
    pattern: Marks
    """On the fixed cases."""
    plain: Marks
    """The same, had each number inside a dict been Python's own."""
    output: str
    """The first thing printed."""


class Memory:
    """Findings by what was judged: the answers of a class repeat, and a finding is a function of nothing else."""

    def __init__(self, size: int = 8192, longest: int = 1_000) -> None:
        """Remember up to ``size`` findings; the one that was not asked for the longest is forgotten first.

        Args:
            size: findings.
            longest: characters of a finding that is kept.
        """
        self._size, self._longest = size, longest
        self._known: OrderedDict[tuple[str, int, bytes], Found] = OrderedDict()

    def recall(self, check: Check, case: int, digest: bytes) -> Found | None:
        """Return what was found on a case before, None where that is not known."""
        key = (check.id, case, digest)
        if (found := self._known.get(key)) is not None:
            self._known.move_to_end(key)
        return found

    def keep(self, check: Check, case: int, digest: bytes, found: Found) -> None:
        """Remember what was found on a case, if it may be found again and is short."""
        if found.ended or len(found.output) + len(found.mismatch.difference if found.mismatch else "") > self._longest:
            return
        self._known[check.id, case, digest] = found
        if len(self._known) > self._size:
            self._known.popitem(last=False)


def judge_one(check: Check, expected: Expected, entry: str, answers: Answers, memory: Memory) -> Judged:
    """Judge a check by what was observed on its cases; where one ended the process, the ones after it were not run."""
    result: CheckResult | None = None
    all_found: list[Found] = []
    for number, (case, want) in enumerate(zip(expected.cases, expected.observations, strict=True)):
        if result is not None and number >= expected.fixed:
            break  # a further random case is neither shown nor part of the pattern, and may be large
        ended = bool(all_found) and bool(all_found[-1].ended)
        digest = answers.digests[number] if number < len(answers.digests) and not ended else b""
        got = None
        found = memory.recall(check, number, digest) if digest else None
        if found is None:
            got = NOT_RUN if ended else answers.read(number)
            found = _find(check, case, got, want)
            if digest:
                memory.keep(check, number, digest, found)
        if found.mismatch is not None and result is None:
            # Whose finding is remembered is read all the same: the first failing case is shown.
            result = failure(check, entry, case, answers.read(number) if got is None else got, want, found.mismatch)
        all_found.append(found)
    fixed = all_found[: expected.fixed]
    # Which case ran out of time or memory, and of which first, depends on the machine; that one did does not.
    late = any(one.ended in ("timeout", "memory", "crashed") for one in all_found)
    pattern = (TIMEOUT,) * len(fixed) if late else tuple(one.mark for one in fixed)
    plain = pattern if late else tuple(one.plain for one in fixed)
    output = first_output([one.output for one in all_found])
    return Judged(_bounded(result or passed(check)), pattern, plain, output)


def _find(check: Check, case: Case, got: Observation, want: Observation) -> Found:
    mismatch, mark = judge_case(check, case, got, want)
    plain = plainly(got)
    other = mark if plain is got else judge_case(check, case, plain, want)[1]
    return Found(mismatch, mark, other, got.ended, got.output)


def judge(
    exercise: Exercise,
    expectations: Expectations,
    patterns: Mapping[str, Pattern],
    ask: Ask,
    only: str | None = None,
    memory: Memory | None = None,
) -> tuple[tuple[CheckResult, ...], Pattern, str]:
    """Return every check's result, in order, the pattern of the answer on the fixed cases, and what was printed first.

    Args:
        exercise: the checks.
        expectations: what the reference did on each case.
        patterns: how the known wrong answers fail; empty to name no misconception.
        ask: runs a check's cases.
        only: the id of the one check to judge.
        memory: of this exercise with these expectations, and no other.
    """
    memory = Memory() if memory is None else memory
    judged: dict[str, Judged] = {}
    for check in exercise.checks:
        if only is None or check.id == only:
            expected = expectations.checks[check.id]
            judged[check.id] = judge_one(check, expected, exercise.entry, ask(check, expected), memory)
    pattern = {name: one.pattern for name, one in judged.items()}
    plain = {name: one.plain for name, one in judged.items()}
    beliefs = recognize(exercise, patterns, pattern)
    if plain != pattern:
        # What fits as it stands comes first; the form itself is no mistake of the plain one, and is not named by it.
        beliefs = {**recognize(exercise, patterns, plain), **beliefs}
    results = tuple(_name(exercise, one.result, beliefs.get(name, "")) for name, one in judged.items())
    return results, pattern, first_output([one.output for one in judged.values()])


def try_cases(check: Check, expected: Expected, observe: Observe) -> list[tuple[Case, Observation, Observation]]:
    """Run a check's cases and return each with what was observed and expected.

    Where a case ended the process, the rest of the check is not run: it cannot pass any more.
    """
    tried = []
    ended = False
    for case, want in zip(expected.cases, expected.observations, strict=True):
        got = NOT_RUN if ended else observe(check, case)
        ended = ended or bool(got.ended)
        tried.append((case, got, want))
    return tried


def _bounded(result: CheckResult) -> CheckResult:
    # What comes back may nest so that showing it takes megabytes; the record is kept, mailed and put in a page.
    return replace(
        result,
        message=_cut(result.message),
        returned=_cut(result.returned),
        difference=_cut(result.difference),
    )


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT - 1]}…"


def _name(exercise: Exercise, result: CheckResult, belief: str) -> CheckResult:
    return with_misconception(result, exercise.misconceptions[belief]) if belief else result


def not_started(results: tuple[CheckResult, ...]) -> bool:
    """Return whether every check met the starter's NotImplementedError and nothing else."""
    return bool(results) and all(r.status == "error" and r.returned == "raised NotImplementedError" for r in results)


def total(results: tuple[CheckResult, ...]) -> float:
    """Return the sum of the points earned."""
    return sum(result.earned for result in results)


def grade_function(
    exercise: Exercise,
    expectations: Expectations,
    patterns: Mapping[str, Pattern],
    function: Callable[..., Any],
    only: str | None = None,
) -> Score:
    """Grade a function of this very process: a student's own check in their notebook, where no wall is needed."""

    def observe(check: Check, case: Case) -> Observation:
        return observe_here(function, case, check.scenario)

    results, _, output = judge(exercise, expectations, patterns, one_by_one(observe), only)
    score = Score(
        student="",
        exercise=exercise.slug,
        status="graded",
        score=total(results),
        max_score=sum(result.points for result in results),
        seed_id=expectations.seed_id,
        checks=results,
        reference=expectations.reference,
        sandbox=(),
        duration_s=0.0,
        version=exercise.version,
        output=output,
    )
    if not_started(results):
        return replace(score, status="not_started", reason=f"{exercise.entry} still raises NotImplementedError")
    return score


def first_output(outputs: Sequence[str]) -> str:
    """Return the first thing printed: with many cases the rest repeats it."""
    return next((text for text in outputs if text), "")
