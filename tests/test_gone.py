"""Who left a class is said in one sentence, and not where a part of it was graded on purpose."""

from __future__ import annotations

import fnmatch
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.gone import gone_text


def rows(*students: str, tree: str = "in") -> Any:
    return [SimpleNamespace(student=student, tree=tree) for student in students]


END = "They are in grades.csv, records.jsonl and the report no more; marks and pages stay."


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ([], ""),
        ([("ada", "halve"), ("ada", "share")], "1 student (ada)"),
        ([(f"s{n}", "halve") for n in range(5)], "5 students (s0, s1, s2 and 2 more)"),
        ([("cy", "share")], "1 submission (cy: share)"),
        ([("cy", "share"), ("ada", "halve")], "1 student (ada) and 1 submission (cy: share)"),
        ([(f"s{n:04}", "halve") for n in range(1_500)], "1,500 students (s0000, s0001, s0002 and 1497 more)"),
    ],
)
def test_students_and_single_submissions_are_counted_and_the_first_named(gone: list[Any], said: str) -> None:
    text = gone_text(dict.fromkeys(gone, "in"), rows("cy", "dan"))
    assert text == (f"In the last run and not in this class: {said}. {END}" if said else "")


@pytest.mark.parametrize(
    ("before", "here", "is_said"),
    [
        ("in", ("ada",), True),  # folders were taken out of the class itself
        ("elsewhere", ("ada",), False),  # one student's folder, graded on purpose
        ("", ("ada",), False),
        ("elsewhere", ("ada", "ben", "cy"), True),  # the class has moved, and two are missing
    ],
)
def test_a_part_of_a_class_that_is_graded_on_purpose_leaves_nobody_out(
    before: str, here: tuple[str, ...], is_said: bool
) -> None:
    gone = dict.fromkeys([("dan", "halve"), ("eve", "halve")], before)
    assert bool(gone_text(gone, rows(*here))) == is_said


def test_who_is_skipped_has_not_left() -> None:
    gone = {("ada", "halve"): "in", ("ben", "halve"): "in"}
    assert "1 student (ben)" in gone_text(gone, rows("cy"), lambda student: fnmatch.fnmatch(student, "a*"))
    assert gone_text(gone, rows("cy"), lambda student: True) == ""
