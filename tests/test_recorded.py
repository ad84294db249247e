"""Recorded expectations: what is written comes back, and anything else is as if there were none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import JSON

from autograder import catalog, recorded
from autograder.models import Exercise, Observation, Reference
from autograder.recognize import Pattern
from autograder.reference.expectations import PUBLIC, Expectations, Seed, expect

PATTERNS: dict[str, Pattern] = {
    "squares": {"doubles": ("abc123", "."), "leaves_x": (".",)},
    "in_place": {"doubles": (".", "."), "leaves_x": ("-",)},
}


@pytest.fixture
def exercise(course: Path) -> Exercise:
    return catalog.load("double", course)


@pytest.fixture
def expectations(exercise: Exercise) -> Expectations:
    return expect(exercise, Seed(PUBLIC), Reference("the solution", "cpu", "2.13.0"))


@pytest.fixture
def written(exercise: Exercise, expectations: Expectations) -> Path:
    """Return the path of a file that is current."""
    path = exercise.folder / "recorded.json"
    path.write_text(recorded.render(exercise, expectations, PATTERNS), encoding="utf-8")
    assert recorded.load(exercise) is not None
    return path


def test_what_is_written_comes_back(exercise: Exercise, expectations: Expectations, written: Path):
    assert recorded.load(exercise) == (expectations, PATTERNS)
    assert {check: len(row.cases) for check, row in expectations.checks.items()} == {"doubles": 5, "leaves_x": 1}
    assert expectations.checks["doubles"].fixed == 2


def test_exceptions_and_ends_come_back_too(exercise: Exercise, expectations: Expectations):
    ended = Observation(ended="timeout", detail="d", whole=True, output="o")
    checks = dict(expectations.checks)
    checks["leaves_x"] = replace(checks["leaves_x"], observations=(ended,))
    text = recorded.render(exercise, replace(expectations, checks=checks), {})
    (exercise.folder / "recorded.json").write_text(text)
    loaded = recorded.load(exercise)
    assert loaded is not None
    assert loaded[0].checks["leaves_x"].observations == (ended,)
    assert loaded[1] == {}


def test_the_text_is_the_same_every_time(exercise: Exercise, expectations: Expectations):
    text = recorded.render(exercise, expectations, PATTERNS)
    again = expect(exercise, Seed(PUBLIC), Reference("the solution", "cpu", "2.13.0"))
    assert recorded.render(exercise, again, dict(reversed(PATTERNS.items()))) == text
    assert text.isascii()
    assert text.endswith("}\n")


def test_a_change_shows_in_one_line(exercise: Exercise, expectations: Expectations):
    one = recorded.render(exercise, expectations, PATTERNS).splitlines()
    other = recorded.render(exercise, expectations, {**PATTERNS, "squares": {"doubles": ("def456",)}}).splitlines()
    assert [a for a, b in zip(one, other, strict=True) if a != b] == [line for line in one if '"squares"' in line]


def test_none_where_there_is_no_file(exercise: Exercise):
    assert recorded.load(exercise) is None


def test_none_where_it_is_of_another_version(exercise: Exercise, written: Path):
    assert recorded.load(replace(exercise, version="other")) is None


def test_none_where_it_is_of_another_seed(exercise: Exercise, written: Path):
    seeded = expect(exercise, Seed("5"), Reference("the solution", "cpu", "2.13.0"))
    written.write_text(recorded.render(exercise, seeded, PATTERNS))
    assert recorded.load(exercise) is None


def test_none_where_the_cases_are_others_in_number(exercise: Exercise, written: Path):
    more = replace(exercise.checks[1], cases=exercise.checks[1].cases * 2)
    assert recorded.load(replace(exercise, checks=(exercise.checks[0], more))) is None
    unknown = replace(exercise.checks[1], id="new")
    assert recorded.load(replace(exercise, checks=(*exercise.checks, unknown))) is None


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"\xff", b"{}", b"[" * 100_000, b'{"version": ' + b"[" * 100_000, b"1e999", b"NaN",
    ],
    ids=range(10),
)  # fmt: skip
def test_none_where_it_is_no_such_file(exercise: Exercise, written: Path, content: bytes):
    written.write_bytes(content)
    assert recorded.load(exercise) is None


def test_none_for_a_folder(exercise: Exercise, written: Path):
    written.unlink()
    written.mkdir()
    assert recorded.load(exercise) is None


@given(where=st.integers(0, 10**6), new=st.binary(max_size=2))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_a_damaged_file_is_none_or_still_reads(exercise: Exercise, written: Path, where: int, new: bytes):
    good = written.read_bytes()
    where %= len(good)
    written.write_bytes(good[:where] + new + good[where + 1 :])
    try:
        loaded = recorded.load(exercise)
        assert loaded is None or set(loaded[0].checks) == {"doubles", "leaves_x"}
    finally:
        written.write_bytes(good)


@given(part=st.sampled_from(["expected", "patterns", "reference", "version", "seed"]), data=JSON)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_a_part_of_another_form_is_none_or_still_reads(exercise: Exercise, written: Path, part: str, data: Any):
    good = written.read_text()
    written.write_text(json.dumps({**json.loads(good), part: data}))
    try:
        loaded = recorded.load(exercise)
        assert loaded is None or part in ("patterns", "reference")
    finally:
        written.write_text(good)


@pytest.mark.parametrize(
    "reference",
    [None, [], {}, {"backend": "b", "device": "cpu"}, {"backend": "", "device": "", "torch": "", "more": ""}],
)
def test_none_where_the_reference_is_malformed(exercise: Exercise, written: Path, reference: Any):
    written.write_text(json.dumps({**json.loads(written.read_text()), "reference": reference}))
    assert recorded.load(exercise) is None
