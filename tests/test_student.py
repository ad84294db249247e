"""`check`: what a student sees when they try their answer."""

from __future__ import annotations

import html
import json
import re
import sys
import warnings
from pathlib import Path

import pytest
import tiny_exercise

import autograder
from autograder import catalog, known
from autograder.student import CheckFailed, Feedback, check


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tiny_exercise.write(tmp_path)
    monkeypatch.setenv(catalog.ROOT_VARIABLE, str(root))
    return root


def right(x: float) -> float:
    return x / 2


def without_sign(x: float) -> float:
    return abs(x) / 2


def test_a_right_answer_gets_full_marks() -> None:
    feedback = check("halve", right)
    assert isinstance(feedback, Feedback)
    assert (feedback.score.score, feedback.score.max_score, feedback.score.status) == (3.0, 3.0, "graded")
    assert feedback.hints == ()


def test_a_wrong_answer_gets_the_points_it_earned_and_the_hints() -> None:
    feedback = check("halve", without_sign)
    assert isinstance(feedback, Feedback)
    assert {result.id: result.earned for result in feedback.score.checks} == {
        "halves": 1.5,
        "keeps_the_sign": 0.0,
        "is_a_float": 0.5,
    }
    assert len(feedback.hints) == 3


def test_feedback_shows_itself_as_text_and_as_html() -> None:
    feedback = check("halve", without_sign)
    assert isinstance(feedback, Feedback)
    page = feedback._repr_html_()
    for shown in (repr(feedback), html.unescape(re.sub(r"<[^>]+>", "", page))):
        assert "Keeps the sign of x" in shown
        assert "halve(x=-2.0)" in shown
        assert "Half of a negative number is negative." in shown
    assert page.lstrip().startswith("<div")


def test_one_check_that_passes_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("halve", right, "halves") is None
    assert capsys.readouterr() == ("✓ Halves a positive number (1.5 points)\n", "")


def test_one_check_that_fails_raises_with_the_message_that_teaches() -> None:
    with pytest.raises(CheckFailed) as caught:
        check("halve", without_sign, "keeps_the_sign")
    assert str(caught.value).splitlines() == [
        "✗ Keeps the sign of x",
        "Half of a negative number is negative.",
        "Called    halve(x=-2.0)",
        "It returned 1.0",
        "Expected  -1.0",
        "It is 1.0, not -1.0.",
    ]
    assert isinstance(caught.value, AssertionError)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_jupyter_shows_the_message_alone() -> None:
    with pytest.raises(CheckFailed) as caught:
        check("halve", without_sign, "keeps_the_sign")
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_a_check_is_judged_by_itself() -> None:
    with pytest.raises(CheckFailed, match="Half of a negative number is negative"):
        check("halve", without_sign, "keeps_the_sign")
    assert check("halve", without_sign, "halves") is None


def test_nothing_reaches_stderr_and_prints_are_kept_for_the_feedback(capfd: pytest.CaptureFixture[str]) -> None:
    def noisy(x: float) -> float:
        print("halving", x)
        print("to stderr", file=sys.stderr)
        warnings.warn("a warning", stacklevel=1)
        return x / 2

    feedback = check("halve", noisy)
    assert check("halve", noisy, "halves") is None
    captured = capfd.readouterr()
    assert captured.err == ""
    assert captured.out == "✓ Halves a positive number (1.5 points)\n"
    assert isinstance(feedback, Feedback)
    assert feedback.score.score == 3.0
    assert "halving 2.0" in feedback.score.output


def test_the_starter_is_not_started_yet() -> None:
    names: dict[str, object] = {}
    exec(compile(tiny_exercise.STARTER, "starter", "exec"), names)
    feedback = check("halve", names["halve"])
    assert isinstance(feedback, Feedback)
    assert feedback.score.status == "not_started"


def test_the_students_exception_is_part_of_the_message() -> None:
    def broken(x: float) -> float:
        return x.half  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(CheckFailed, match="AttributeError: 'float' object has no attribute 'half'"):
        check("halve", broken, "halves")


def test_the_student_can_stop_a_run() -> None:
    def stopped(x: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("halve", stopped)


@pytest.mark.parametrize("slug", ["halv", "", "../halve", None, 3, ["halve"]])
def test_an_unknown_exercise_is_named_with_those_there_are(slug: object) -> None:
    with pytest.raises(ValueError, match=r"there is no exercise .*; there are halve") as caught:
        check(slug, right)  # type: ignore[arg-type]
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_unknown_check_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="has no check 'sign'; its checks are halves, keeps_the_sign, is_a_float"):
        check("halve", right, "sign")


@pytest.mark.parametrize("given", [1.0, "halve", None])
def test_a_value_in_place_of_the_function_is_explained(given: object) -> None:
    with pytest.raises(TypeError, match=r"was given a value of type \w+\. Write check\('halve', halve\)\."):
        check("halve", given)


def test_a_damaged_course_is_named_in_one_line(course: Path) -> None:
    (course / "exercises/halve/starter.py").write_text("def")
    with pytest.raises(ValueError, match=r"starter\.py:1: syntax error"):
        check("halve", right)


def test_recorded_expectations_are_used_while_they_are_current(course: Path) -> None:
    path = course / "exercises/halve/recorded.json"
    data = json.loads(known.recorded_text(catalog.load("halve", course)))
    data["expected"]["halves"][0]["outcomes"][0]["returned"] = 77.0
    path.write_text(json.dumps(data))
    with pytest.raises(CheckFailed, match=r"Expected  77\.0"):
        check("halve", right, "halves")
    data["version"] = "of another day"
    path.write_text(json.dumps(data))
    assert check("halve", right, "halves") is None


def test_a_known_belief_is_named_from_the_recorded_patterns(course: Path) -> None:
    text = known.recorded_text(catalog.load("halve", course))
    (course / "exercises/halve/recorded.json").write_text(text)
    with pytest.raises(CheckFailed, match="Half is about size, so the sign may go"):
        check("halve", without_sign, "keeps_the_sign")


def test_the_package_offers_check() -> None:
    assert autograder.check is check
