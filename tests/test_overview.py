"""A class in a terminal: few are listed as they were, many are counted, and those to look at are named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_classroom import EXERCISES, a_score, not_started, unreadable
from test_report import HOSTILE, is_harmless

from autograder.models import Score
from autograder.report.overview import LISTED, class_text
from autograder.report.rows import Row, row_of
from autograder.report.terminal import class_table, summary


def many(*scores: Score, more: int = LISTED) -> list[Row]:
    """Return rows of scores and of more students, who passed one check of three."""
    others = (a_score(f"z{n:05}", ("passed", "failed", "failed"), score=1.0) for n in range(more))
    return [row_of(score) for score in (*scores, *others)]


def test_a_small_class_is_listed_one_by_one():
    rows = many(unreadable("fay"), more=LISTED - 1)
    assert class_text(rows, EXERCISES, width=90, color=True) == class_table(rows, width=90, color=True)


def test_a_large_class_is_counted_and_those_to_look_at_are_named():
    rows = many(
        *(unreadable(f"u{n}") for n in range(4)), not_started("gus"), a_score("ada"),
        a_score("dan", ("passed", "timeout", "not_run"), duration_s=5.0), a_score("eve", duration_s=3.0),
        more=1_200,
    )  # fmt: skip
    head, _, step, blank, *rest = class_text(rows, EXERCISES).split("\n")
    assert head.split("  ")[0] == "exercise"
    assert step.split(maxsplit=5) == ["step", "1,208", "1,203", "1/4", "1/4", "1% pass: Does thing 1"]
    assert blank == ""
    assert rest == [
        "To look at:", "  4 unreadable: u0, u1, u2, …", "  1 out of time: dan", "  1 slow: eve", "", summary(rows),
        "The 1,208 submissions, one by one, are in the class report and in grades.csv.",
    ]  # fmt: skip
    assert "1,203 graded" in summary(rows)


def test_each_exercise_has_its_line_and_its_hardest_check():
    other = [replace(row, exercise="run", checks=row.checks[::-1]) for row in many(a_score("ada"))]
    text = class_text([*many(unreadable("fay"), a_score("ada")), *other], EXERCISES).split("\n")
    assert [line.split()[0] for line in text[2:4]] == ["step", "run"]
    assert text[2].endswith("1% pass: Does thing 1")
    assert "  1 unreadable: fay (step)" in text


def test_nothing_stands_out_is_not_said_and_nobody_is_listed():
    text = class_text(many(more=LISTED + 1), EXERCISES)
    assert "To look at" not in text
    assert "z0" not in text
    assert len(text.split("\n")) == 6
    assert "z00000" in class_text(many(more=LISTED), EXERCISES)


def test_what_is_listed_elsewhere_is_not_listed_twice():
    pointed = a_score("ada", look=("the code names gc",))
    slow_too = a_score("ben", look=("the code names gc",), duration_s=9.0)
    text = class_text(many(pointed, slow_too), EXERCISES)
    assert "ada" not in text
    assert "  1 slow: ben" in text


@pytest.mark.parametrize("width", [60, 120])
def test_no_name_is_obeyed_and_the_width_is_kept(width: int):
    hostile = [unreadable(f"{n}{HOSTILE * 3}") for n in range(5)]
    text = class_text(many(*hostile), EXERCISES, width=width)
    assert is_harmless(text)
    assert max(map(len, text.split("\n"))) <= width


def test_its_length_does_not_grow_with_the_class():
    lost = [unreadable(f"u{n}") for n in range(50)]
    small, large = (class_text(many(*lost, more=more), EXERCISES).split("\n") for more in (300, 3_000))
    assert len(small) == len(large)
