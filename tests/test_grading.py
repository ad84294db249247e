"""Judging: what equal answers come to is worked out once, and what differs is told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder import catalog
from autograder.checks import Check, case, differ, each_call
from autograder.grading import Answers, Found, Memory, judge, judge_one, one_by_one
from autograder.models import Mismatch, Observation, Outcome
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Expected, Seed, expect

LOOKS: list[object] = []


def seen(*values: float, output: str = "") -> list[Observation]:
    return [Observation((Outcome(returned=value),), output=output) for value in values]


def same_value(arguments, got, want):
    LOOKS.append(got)
    return differ(got.returned, want.returned)


CHECK = Check(
    id="halves", title="Halves", points=1.0, rule="Rule.", see="book/x.html#a", judge=each_call(same_value),
    cases=(case("two", x=2.0), case("four", x=4.0)),
)  # fmt: skip
EXPECTED = Expected(CHECK.cases, tuple(seen(1.0, 2.0)), 2)


@pytest.fixture(autouse=True)
def forget() -> None:
    LOOKS.clear()


def answers(*values: float, digests: str = "", reads: list[int] | None = None) -> Answers:
    """Answers to CHECK with a letter for the digest of each case."""
    observations = seen(*values)

    def read(number: int) -> Observation:
        if reads is not None:
            reads.append(number)
        return observations[number]

    return Answers(read, [letter.encode() for letter in digests])


def test_an_answer_to_a_case_is_judged_once() -> None:
    memory, reads = Memory(), []
    first = judge_one(CHECK, EXPECTED, "halve", answers(1.0, 3.0, digests="ab", reads=reads), memory)
    looks = len(LOOKS)
    again = judge_one(CHECK, EXPECTED, "halve", answers(1.0, 3.0, digests="ab", reads=reads), memory)
    assert again == first
    assert len(LOOKS) == looks == 2
    assert reads == [0, 1, 1]  # the failing case is read once more, to be shown
    assert (first.result.status, first.pattern[0], first.pattern[1] != ".") == ("failed", ".", True)


def test_another_answer_to_one_case_is_all_that_is_judged_anew() -> None:
    memory = Memory()
    judge_one(CHECK, EXPECTED, "halve", answers(1.0, 3.0, digests="ab"), memory)
    looks = len(LOOKS)
    right = judge_one(CHECK, EXPECTED, "halve", answers(1.0, 2.0, digests="ac"), memory)
    assert right.result.status == "passed"
    assert len(LOOKS) == looks + 1


def test_the_same_answer_to_another_case_or_check_is_another_matter() -> None:
    memory, other = Memory(), replace(CHECK, id="halves_too")
    judge_one(CHECK, EXPECTED, "halve", answers(1.0, 2.0, digests="aa"), memory)
    swapped = judge_one(other, EXPECTED, "halve", answers(2.0, 2.0, digests="aa"), memory)
    assert (swapped.result.id, swapped.result.status) == ("halves_too", "failed")
    assert len(LOOKS) == 4


def test_what_has_no_digest_is_judged_each_time() -> None:
    memory = Memory()
    for _ in range(2):
        judge_one(CHECK, EXPECTED, "halve", answers(1.0, 2.0), memory)
    assert len(LOOKS) == 4


def test_what_ended_a_process_is_never_remembered() -> None:
    memory = Memory()
    late = Answers(lambda number: Observation(ended="timeout", detail="no answer"), [b"a"])
    judged = judge_one(CHECK, EXPECTED, "halve", late, memory)
    assert (judged.result.status, judged.pattern) == ("timeout", ("late", "late"))
    assert judge_one(CHECK, EXPECTED, "halve", answers(1.0, 2.0, digests="ab"), memory).result.status == "passed"


def test_what_was_not_asked_for_the_longest_is_forgotten_first() -> None:
    memory = Memory(size=2)
    found = Found(None, ".", ".", "", "")
    for name in (b"a", b"b"):
        memory.keep(CHECK, 0, name, found)
    assert memory.recall(CHECK, 0, b"a") is found
    memory.keep(CHECK, 0, b"c", found)
    assert [memory.recall(CHECK, 0, name) is found for name in (b"a", b"b", b"c")] == [True, False, True]


def test_a_long_finding_is_not_kept() -> None:
    memory = Memory(longest=10)
    memory.keep(CHECK, 0, b"a", Found(Mismatch("x" * 11), "m", "m", "", ""))
    memory.keep(CHECK, 0, b"b", Found(None, ".", ".", "", "printed" * 2))
    assert memory.recall(CHECK, 0, b"a") is memory.recall(CHECK, 0, b"b") is None


def test_the_first_thing_printed_comes_with_the_judgement() -> None:
    said = [*seen(1.0, output=""), *seen(2.0, output="hello")]
    memory = Memory()
    for _ in range(2):
        judged = judge_one(CHECK, EXPECTED, "halve", Answers(said.__getitem__, [b"a", b"b"]), memory)
        assert judged.output == "hello"


def test_cases_in_turn_end_where_the_process_ends() -> None:
    asked = []

    def observe(check, case):
        asked.append(case.name)
        return Observation(ended="crashed", detail="gone")

    found = one_by_one(observe)(CHECK, EXPECTED)
    assert [found.read(number).ended for number in range(2)] == ["crashed", "not_run"]
    assert asked == ["two"]
    assert not found.digests


def test_the_whole_is_the_same_with_a_memory_and_without(course: Path) -> None:
    tiny = catalog.load("double", course)
    expectations = expect(tiny, Seed(PUBLIC), live_reference("cpu"))

    def ask(check, expected):
        return Answers(expected.observations.__getitem__, [f"{n}".encode() for n in range(len(expected.cases))])

    memory = Memory()
    alone = judge(tiny, expectations, {}, ask)
    for _ in range(2):
        assert judge(tiny, expectations, {}, ask, memory=memory) == alone
    assert {result.status for result in alone[0]} == {"passed"}
