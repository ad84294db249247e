"""Judging: what equal answers come to is worked out once, and what differs is told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder import catalog
from autograder.checks import Check, case, differ, each_call
from autograder.grading import Answers, Memory, judge, judge_one, one_by_one
from autograder.models import Observation, Outcome
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


def test_equal_answers_are_judged_once() -> None:
    memory = Memory()
    first = memory.judged(CHECK, EXPECTED, "halve", Answers(lambda: seen(1.0, 3.0), b"one"))
    looks = len(LOOKS)
    again = memory.judged(CHECK, EXPECTED, "halve", Answers(lambda: pytest.fail("read again"), b"one"))
    assert again is first
    assert len(LOOKS) == looks > 0
    assert (first.result.status, first.pattern[0], first.pattern[1] != ".") == ("failed", ".", True)


def test_other_answers_and_other_checks_are_judged_by_themselves() -> None:
    memory, other = Memory(), replace(CHECK, id="halves_too")
    wrong = memory.judged(CHECK, EXPECTED, "halve", Answers(lambda: seen(1.0, 3.0), b"one"))
    right = memory.judged(CHECK, EXPECTED, "halve", Answers(lambda: seen(1.0, 2.0), b"two"))
    elsewhere = memory.judged(other, EXPECTED, "halve", Answers(lambda: seen(1.0, 2.0), b"one"))
    assert [one.result.status for one in (wrong, right, elsewhere)] == ["failed", "passed", "passed"]
    assert elsewhere.result.id == "halves_too"


def test_what_is_not_to_be_compared_is_judged_each_time() -> None:
    memory = Memory()
    late = [Observation(ended="timeout", detail="no answer"), Observation(ended="not_run", detail="not run")]
    for answers in (late, seen(1.0, 2.0)):
        judged = memory.judged(CHECK, EXPECTED, "halve", Answers(lambda answers=answers: answers))
        assert judged.result.status == ("timeout" if answers is late else "passed")


def test_what_was_not_asked_for_the_longest_is_forgotten_first() -> None:
    memory, reads = Memory(size=2), []

    def ask(name: bytes) -> None:
        memory.judged(CHECK, EXPECTED, "halve", Answers(lambda: reads.append(name) or seen(1.0, 2.0), name))

    for name in (b"a", b"b", b"a", b"c", b"a", b"b"):
        ask(name)
    assert reads == [b"a", b"b", b"c", b"b"]


def test_the_first_thing_printed_comes_with_the_judgement() -> None:
    judged = judge_one(CHECK, EXPECTED, "halve", seen(1.0, output="") + seen(2.0, output="hello"))
    assert judged.output == "hello"


def test_cases_in_turn_end_where_the_process_ends() -> None:
    asked = []

    def observe(check, case):
        asked.append(case.name)
        return Observation(ended="crashed", detail="gone")

    answers = one_by_one(observe)(CHECK, EXPECTED)
    assert [one.ended for one in answers.read()] == ["crashed", "not_run"]
    assert asked == ["two"]
    assert answers.digest == b""


def test_the_whole_is_the_same_with_a_memory_and_without(course: Path) -> None:
    tiny = catalog.load("double", course)
    expectations = expect(tiny, Seed(PUBLIC), live_reference("cpu"))

    def ask(check, expected):
        return Answers(lambda: list(expected.observations), check.id.encode())

    memory = Memory()
    alone = judge(tiny, expectations, {}, ask)
    for _ in range(2):
        assert judge(tiny, expectations, {}, ask, memory=memory) == alone
    assert {result.status for result in alone[0]} == {"passed"}
