"""A reference that PyTorch contradicts is told with file, check, case, what each did, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_exercise

from autograder import catalog
from autograder.models import Exercise, Reference
from autograder.reference import oracle
from autograder.reference.expectations import ReferenceError, Seed, expect

HERE = Reference("x", "cpu", "2")
ORACLE = """\
from autograder.checks import differ

DIFFERENCES = ()


def coincides(arguments):
    return arguments["x"] < 0


def pytorch(x):
    {body}


def agrees(got, want):
    return differ(got, want)
"""


def course(tmp_path: Path, body: str) -> Exercise:
    root = tiny_exercise.write(tmp_path)
    (root / "exercises/halve/oracle.py").write_text(ORACLE.format(body=body))
    return catalog.load("halve", root)


def test_they_agree_where_they_must(tmp_path: Path) -> None:
    exercise = course(tmp_path, "return x / 2")
    assert oracle.verify(exercise, expect(exercise, Seed("1"), HERE)) == 1


@pytest.mark.parametrize(
    ("body", "found", "did"),
    [
        ("return x / 4", "it is -1.0, not -0.5", "returned -0.5"),
        ("raise KeyError('no scale')", "PyTorch raised KeyError: 'no scale'", "raised KeyError: 'no scale'"),
    ],
)
def test_a_difference_is_told_with_place_deeds_and_mend(tmp_path: Path, body: str, found: str, did: str) -> None:
    exercise = course(tmp_path, body)
    with pytest.raises(ReferenceError) as caught:
        oracle.verify(exercise, expect(exercise, Seed("1"), HERE))
    text = str(caught.value)
    checks = exercise.folder / "checks.py"
    line = next(n for n, one in enumerate(checks.read_text().splitlines(), 1) if '"keeps_the_sign"' in one)
    place = f"{checks}:{line}: check keeps_the_sign, case “minus two”: "
    assert text.startswith(f"{place}our reference and PyTorch disagree on halve(x=-2.0): {found}. solutions/")
    assert f"solutions/halve.py returned -1.0; PyTorch, as oracle.py asks it, {did}. Mend solutions/" in text
    assert text.endswith(
        "let `coincides` in exercises/halve/oracle.py return False for such arguments, and say why in DIFFERENCES."
    )


def test_a_reference_that_fails_is_told_with_its_check(tmp_path: Path) -> None:
    root = tiny_exercise.write(tmp_path)
    solution = root / "solutions/halve.py"
    solution.write_text(solution.read_text().replace("abs(x) / HALF", "abs(x) / (HALF - x)"))
    exercise = catalog.load("halve", root)
    with pytest.raises(ReferenceError) as caught:
        expect(exercise, Seed("1"), HERE)
    assert ": check halves, case “two”: solutions/halve.py raised ZeroDivisionError: " in str(caught.value)
    assert str(caught.value).endswith(
        "which no specification asks for. Mend the solution, or the case that it is given."
    )
