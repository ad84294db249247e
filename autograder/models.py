"""The data that flows through the grader: frozen dataclasses, standard library only.

One way, left to right::

    exercise folder -> Exercise -> {notebook, page}
    submission      -> Submission -> Observation -> CheckResult -> Score

Everything here is plain data, so that the same checks run beside torch, beside CUDA, and in a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias

# --------------------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as plain data; ``values`` are in row-major order."""

    dtype: str
    """Name of the dtype: float16, bfloat16, float32, float64, int64, bool, ..."""
    shape: tuple[int, ...]
    """Size of each dimension; () is a 0-d tensor."""
    values: tuple[float | int | bool, ...]
    """As many as the shape says; a float32 is held exactly by the Python float."""
    library: Literal["torch", "numpy"] = "torch"
    """Which library it belongs to."""
    strided: bool = False
    """Inputs only: build it as a non-contiguous view."""
    share: str = ""
    """Inputs only: tensors of one call with the same non-empty name are one object."""
    bits: bool = False
    """Inputs only: the values are the elements' bit patterns, whole numbers without sign: a nan has many."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A NumPy scalar, kept apart from a Python number because the two print and compare differently."""

    dtype: str
    value: float | int | bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is not plain data: its type's name and a short text of it."""

    type_name: str
    text: str


Value: TypeAlias = Any
"""None, bool, int, float, str, list, tuple, dict with str keys, Tensor, Scalar or Opaque, nested."""

# ------------------------------------------------------------------------ exercises


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try: the calls that a scenario makes, in order, in one process."""

    name: str
    """What is special about this input, as a reader would say it."""
    calls: tuple[Mapping[str, Value], ...]
    """Keyword arguments of each call."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that left the student's code."""

    type_name: str
    message: str
    cell: int | None = None
    """Which of the student's code cells (from 1) holds the line; None where it is not theirs."""
    line: int | None = None
    source: str = ""
    """The text of that line."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call did."""

    returned: Value = None
    raised: Raised | None = None
    after: Mapping[str, Value] = field(default_factory=dict)
    """The arguments as they were after the call."""
    later: Value = None
    """Scenario ``overwritten`` only: the returned value, read again after the inputs were overwritten."""
    kept: Value = None
    """Scenarios ``kept`` and ``overwritten`` only: the returned value, read again after all calls of the case."""


Part: TypeAlias = Literal["returned", "after", "later", "kept"]
"""A part of an outcome, by the name of its field."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a scenario saw on one case. From the confined process it is a claim, never a verdict."""

    outcomes: tuple[Outcome, ...] = ()
    ended: Literal["", "error", "timeout", "memory", "crashed", "forbidden", "not_run"] = ""
    """Why there are no outcomes, when the process could not deliver them."""
    detail: str = ""
    """One sentence about ``ended``, without its full stop."""
    whole: bool = False
    """Whether ``ended`` concerns the whole submission (its cells, its name) and not this case."""
    output: str = ""
    """What the code printed, cut to a limit."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How an observation differs from the expected one; the judge's finding."""

    difference: str
    """One sentence: where, what came back, what was expected."""
    call: int = 0
    """Which call of the case."""
    status: Literal["failed", "error", "timeout", "memory", "crashed", "forbidden", "not_run"] = "failed"
    show: Part = "returned"
    """Which part of the outcome the difference is in."""
    item: int | None = None
    """Scenario ``each`` only: which of the calls that it makes, so that this one alone is shown."""
    whole: bool = False
    """Whether it concerns the whole submission, so that no call is worth showing."""


Judge: TypeAlias = Callable[[Case, Observation, Observation], "Mismatch | None"]
"""(case, observed on the student's code, observed on the reference) -> the first difference, or None."""


@dataclass(frozen=True, slots=True)
class Check:
    """One graded property: inputs + scenario + judge."""

    id: str
    title: str
    """What a right answer does, in one line."""
    points: float
    cases: tuple[Case, ...]
    """Fixed cases, smallest first: they alone decide every known right and wrong answer."""
    judge: Judge
    rule: str
    """What a failure means, as a sentence of the specification."""
    see: str
    """The section of the book that treats it: ``book/<page>.html#<anchor>``."""
    scenario: str = "call"
    """A name in ``autograder.scenarios``."""
    random: Callable[[Random], Sequence[Case]] | None = None
    """More cases, drawn from a seed."""


@dataclass(frozen=True, slots=True)
class Misconception:
    """A belief that leads to a known wrong answer."""

    id: str
    belief: str
    """The belief, in the student's words."""
    truth: str
    """What is so instead, and why; one or two sentences."""
    see: str
    """The section of the book that treats it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A known answer that ships with an exercise, to prove its checks with."""

    name: str
    path: Path
    source: str
    caught_by: str = ""
    """Wrong answers: the id of the check that must fail, or ``forbids``."""
    misconception: str = ""
    """Wrong answers: the id of the belief behind it."""
    same_as: str = ""
    """Wrong answers: why another one may fail the same checks with the same misconception."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise folder, read and validated."""

    slug: str
    folder: Path
    title: str
    teaches: tuple[str, ...]
    practises: tuple[str, ...]
    needs: tuple[str, ...]
    runs_on: tuple[str, ...]
    forbids: tuple[str, ...]
    """Dotted names that are not accepted as an answer."""
    seconds: float
    """Wall-clock budget of one submission."""
    entry: str
    """The name that the student defines; the slug, unless the front matter says otherwise."""
    statement: str
    hints: tuple[str, ...]
    starter: str
    solution: str
    checks: tuple[Check, ...]
    misconceptions: Mapping[str, Misconception]
    wrong: tuple[Answer, ...]
    right: tuple[Answer, ...]
    version: str
    """Hash of all that can change a mark: front matter, starter, solution, checks."""
    stretch: bool = False
    """For those who want more: nothing later builds on it. Readers are told; it is graded like any other."""

    @property
    def max_score(self) -> float:
        """The sum of the checks' points."""
        return sum(check.points for check in self.checks)

    def check(self, check_id: str) -> Check:
        """Return the check of that id; KeyError when there is none."""
        for check in self.checks:
            if check.id == check_id:
                return check
        raise KeyError(check_id)


# ----------------------------------------------------------------------- submissions


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the student's code cells."""

    number: int
    """Position among all the notebook's cells, from 1, as Jupyter would count them; 1 for a .py file."""
    source: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A student's answer to one exercise, read but not run."""

    student: str
    exercise: str
    path: Path
    cells: tuple[Cell, ...] = ()
    content_hash: str = ""
    """sha256 of the file's bytes."""
    unreadable: str = ""
    """Why it cannot be graded, naming the file; empty when it can."""
    notes: tuple[str, ...] = ()
    """What the reader had to put up with: duplicated cells, unreadable outputs, ..."""


# --------------------------------------------------------------------------- results

CheckStatus: TypeAlias = Literal["passed", "failed", "error", "timeout", "memory", "crashed", "forbidden", "not_run"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check's verdict, with the message that teaches."""

    id: str
    title: str
    points: float
    earned: float
    status: CheckStatus
    message: str = ""
    misconception: str = ""
    see: str = ""
    case: str = ""
    """Name of the smallest failing case."""
    call: str = ""
    """The failing call, as Python source."""
    returned: str = ""
    expected: str = ""
    show: Part = "returned"
    """Which part of the outcome ``returned`` and ``expected`` are."""
    rule: str = ""
    """What a failure means, as a sentence of the specification; empty where nothing was compared."""
    difference: str = ""
    """One sentence: where, what came back, what was expected."""
    belief: str = ""
    """The misconception's belief and truth, where one was recognized."""
    truth: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """Where the expected observations came from."""

    backend: str
    device: str
    torch: str


@dataclass(frozen=True, slots=True)
class Score:
    """One graded submission: the record that every report is made from."""

    student: str
    exercise: str
    status: Literal["graded", "unreadable", "not_started"]
    score: float | None
    max_score: float
    seed_id: str
    checks: tuple[CheckResult, ...]
    reference: Reference
    sandbox: tuple[str, ...]
    duration_s: float
    reason: str = ""
    """One line for the whole submission, where there is one to say."""
    version: str = ""
    """The exercise's version."""
    content_hash: str = ""
    path: str = ""
    output: str = ""
    """What the student's code printed."""
    notes: tuple[str, ...] = ()
    grader: str = ""
    """The versions of the autograder and of Python that graded it; torch's is the reference's."""
    look: tuple[str, ...] = ()
    """What an instructor may want to look at in the code, found without running it; says nothing of the marks."""
    crashes: int = 0
    """How many runs in a row it crashed in the very same way."""
