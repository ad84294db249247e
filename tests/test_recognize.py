"""Which belief is named for which check: one that fits alone, and none where two fit or nothing does."""

from __future__ import annotations

from pathlib import Path

from autograder.models import Answer, Exercise
from autograder.recognize import NOT_RUN, PASS, Pattern, recognize

A, B, C = "aaaaaa", "bbbbbb", "cccccc"
FINE = (PASS, PASS)


def exercise(*wrong: tuple[str, str, str]) -> Exercise:
    """Return an exercise with wrong answers of this (name, check that catches it, belief)."""
    answers = tuple(Answer(name, Path(), "", check, belief) for name, check, belief in wrong)
    return Exercise(
        slug="e", folder=Path(), title="", teaches=(), practises=(), needs=(), runs_on=(), forbids=(), seconds=1.0,
        entry="e", statement="", hints=(), starter="", solution="", checks=(), misconceptions={}, wrong=answers,
        right=(), version="",
    )  # fmt: skip


TWO = exercise(("w1", "one", "belief1"), ("w2", "two", "belief2"))
PATTERNS: dict[str, Pattern] = {"w1": {"one": (A, PASS), "two": (B, B)}, "w2": {"one": FINE, "two": (B, B)}}


def test_an_answer_that_fails_as_a_known_one_on_every_check_names_its_belief_everywhere():
    assert recognize(TWO, PATTERNS, {"one": (A, PASS), "two": (B, B)}) == {"one": "belief1", "two": "belief1"}
    assert recognize(TWO, PATTERNS, {"one": FINE, "two": (B, B)}) == {"two": "belief2"}


def test_else_each_check_is_looked_at_by_itself():
    # Check two fails as both do; w2 is there for it. Check one fails as nobody does.
    assert recognize(TWO, PATTERNS, {"one": (C, C), "two": (B, B)}) == {"two": "belief2"}
    assert recognize(TWO, PATTERNS, {"one": (A, PASS), "two": (C, C)}) == {"one": "belief1"}


def test_an_answer_caught_elsewhere_is_named_where_it_fits_alone():
    only_first = {"w1": PATTERNS["w1"]}
    assert recognize(TWO, only_first, {"one": (C, C), "two": (B, B)}) == {"two": "belief1"}


def test_two_beliefs_that_fit_are_none():
    both = exercise(("w1", "one", "belief1"), ("w2", "one", "belief2"))
    patterns: dict[str, Pattern] = {"w1": {"one": (A,)}, "w2": {"one": (A,)}}
    assert recognize(both, patterns, {"one": (A,)}) == {}


def test_two_answers_of_one_belief_are_one():
    both = exercise(("w1", "one", "belief"), ("w2", "two", "belief"))
    patterns: dict[str, Pattern] = {"w1": {"one": (A,), "two": (B,)}, "w2": {"one": (A,), "two": (C,)}}
    assert recognize(both, patterns, {"one": (A,), "two": ("dddddd",)}) == {"one": "belief"}


def test_an_answer_that_passes_where_a_known_one_fails_does_not_hold_its_belief():
    one = exercise(("w1", "one", "belief"))
    patterns: dict[str, Pattern] = {"w1": {"one": (A,), "two": (PASS, B)}}
    assert recognize(one, patterns, {"one": (A,), "two": (PASS, PASS)}) == {}


def test_each_of_two_mistakes_is_named_by_the_check_that_shows_it_alone():
    both = exercise(("w1", "one", "belief1"), ("w2", "two", "belief2"))
    patterns: dict[str, Pattern] = {"w1": {"one": (A,), "two": (PASS,)}, "w2": {"one": (PASS,), "two": (B,)}}
    assert recognize(both, patterns, {"one": (A,), "two": (B,)}) == {"one": "belief1", "two": "belief2"}


def test_two_that_fit_on_every_check_may_still_be_told_apart_by_what_catches_them():
    both = exercise(("w1", "one", "belief1"), ("w2", "two", "belief2"))
    patterns: dict[str, Pattern] = {"w1": {"one": (A,), "two": (B,)}, "w2": {"one": (A,), "two": (B,)}}
    assert recognize(both, patterns, {"one": (A,), "two": (B,)}) == {"one": "belief1", "two": "belief2"}


def test_the_answer_that_explains_more_checks_comes_first():
    """Check two is there for w2, which fails nowhere else; the answer fails check one as well, just as w1 does."""
    both = exercise(("w1", "one", "belief1"), ("w2", "two", "belief2"), ("w3", "three", "belief3"))
    patterns: dict[str, Pattern] = {
        "w1": {"one": (A,), "two": (B,), "three": (PASS,)},
        "w2": {"one": (PASS,), "two": (B,), "three": (PASS,)},
        "w3": {"one": (PASS,), "two": (PASS,), "three": (C,)},
    }
    found = recognize(both, patterns, {"one": (A,), "two": (B,), "three": (C,)})
    assert found == {"one": "belief1", "two": "belief1", "three": "belief3"}


def test_nothing_is_named_without_a_pattern_or_a_failure():
    assert recognize(TWO, {}, {"one": (A, PASS), "two": (B, B)}) == {}
    assert recognize(TWO, PATTERNS, {"one": FINE, "two": FINE}) == {}
    assert recognize(TWO, PATTERNS, {}) == {}
    assert recognize(TWO, {"stranger": {"one": (A, PASS)}}, {"one": (A, PASS)}) == {}


def test_an_answer_that_fails_no_check_names_nothing():
    # Caught by what it uses, not by what it returns: it fits every answer that passes, and those need no belief.
    forbidden = exercise(("w1", "forbids", "belief1"))
    assert recognize(forbidden, {"w1": {"one": FINE}}, {"one": FINE}) == {}


def test_one_mark_that_differs_is_no_match():
    for row in ((A, A), (PASS, A), (A,), (A, PASS, PASS), (B, PASS)):
        assert recognize(TWO, PATTERNS, {"one": row, "two": FINE}) == {}


def test_a_check_that_was_not_run_is_no_failure():
    assert recognize(TWO, PATTERNS, {"one": (NOT_RUN, NOT_RUN), "two": (B, B)}) == {"two": "belief2"}


def test_one_check_alone_may_be_asked_about():
    assert recognize(TWO, PATTERNS, {"one": (A, PASS)}) == {"one": "belief1"}
    assert recognize(TWO, PATTERNS, {"two": (B, B)}) == {"two": "belief2"}
