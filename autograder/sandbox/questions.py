"""All that is asked of a submission to one exercise, ready to send: to each warm process once, not with each of them.

The inputs are no secret from the code that is called with them, so the warm process may hold them; what is expected
never leaves the grader.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.limits import Limits
from autograder.models import Case, Check
from autograder.observations import encode_arguments
from autograder.reference.expectations import Expected
from autograder.sandbox import frames


@dataclass(frozen=True, slots=True)
class Questions:
    """The cases of an exercise's checks."""

    name: str
    """A digest of them: equal ones are asked for by one name."""
    data: bytes
    """A frame: for each check its scenario and the calls of each case."""
    numbers: Mapping[str, int]
    """Which of them a check is, by its id."""
    sizes: Mapping[str, tuple[tuple[int, int], ...]]
    """How many bytes and elements the answer to each case of a check may have, by the check's id."""


def questions(checks: Sequence[Check], expected: Mapping[str, Expected], limits: Limits) -> Questions:
    """Return the questions of some checks.

    Raises:
        frames.TooLarge: the inputs of an exercise exceed a frame.
    """
    asked = [[check.scenario, [_calls(case) for case in expected[check.id].cases]] for check in checks]
    data = frames.written(asked)
    return Questions(
        hashlib.sha256(data).hexdigest(),
        data,
        {check.id: number for number, check in enumerate(checks)},
        {check.id: tuple(limits.answer(case) for case in expected[check.id].cases) for check in checks},
    )


def _calls(case: Case) -> list[dict[str, Any]]:
    return [encode_arguments(arguments) for arguments in case.calls]
