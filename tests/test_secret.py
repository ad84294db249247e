"""The course secret: made once, for its owner's eyes, and never given away."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import catalog, secret
from autograder.errors import CourseError
from autograder.models import Exercise
from autograder.reference.expectations import PUBLIC, Seed, draw
from autograder.secret import FILE, SecretError, course_seed


@pytest.fixture
def exercise(course: Path) -> Exercise:
    return catalog.load("double", course)


def test_the_first_call_makes_it_and_the_next_ones_read_it(tmp_path: Path):
    seed = course_seed(tmp_path)
    text = (tmp_path / FILE).read_text()
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert bytes.fromhex(text) == seed.key
    assert len(seed.key) == 32
    assert course_seed(tmp_path) == seed
    assert (tmp_path / FILE).read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_every_course_has_its_own(tmp_path: Path):
    roots = [tmp_path / name for name in ("a", "b")]
    for root in roots:
        root.mkdir()
    assert len({course_seed(root).key for root in roots}) == 2


def test_a_final_newline_from_an_editor_does_no_harm(tmp_path: Path):
    seed = course_seed(tmp_path)
    (tmp_path / FILE).write_text(seed.key.hex().upper() + "\n")
    assert course_seed(tmp_path) == seed


def test_threads_that_start_at_once_get_the_same(tmp_path: Path):
    with ThreadPoolExecutor(16) as pool:
        seeds = list(pool.map(lambda _: course_seed(tmp_path), range(64)))
    assert len(set(seeds)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_processes_that_start_at_once_get_the_same(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from autograder.secret import course_seed\n"
        "print('ready', flush=True); sys.stdin.readline(); print(course_seed(Path(sys.argv[1])).key.hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    runs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    said = {run.communicate()[0] for run in runs}
    assert said == {(tmp_path / FILE).read_text() + "\n"}
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_race_that_is_lost_uses_the_winners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    winner = course_seed(tmp_path)
    monkeypatch.setattr(Path, "exists", lambda self: False)  # it was not there a moment ago
    assert course_seed(tmp_path) == winner


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "has 0 bytes, not 32; restore it, or remove it"),
        (b"abcd", "has 2 bytes, not 32; restore it, or remove it"),
        (b"00" * 33, "has 33 bytes, not 32; restore it, or remove it"),
        (b"xyz", "cannot be used: it does not hold hex digits; mend it, or pass --seed N"),
        (b"abc", "cannot be used: it does not hold hex digits; mend it, or pass --seed N"),
        (b"\xff\xfe", "cannot be used: it does not hold hex digits; mend it, or pass --seed N"),
    ],
)
def test_a_damaged_one_is_an_error_of_one_sentence(tmp_path: Path, content: bytes, reason: str):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(SecretError) as caught:
        course_seed(tmp_path)
    assert str(caught.value) == f"the course secret {tmp_path / FILE} {reason}"
    assert (tmp_path / FILE).read_bytes() == content
    assert isinstance(caught.value, CourseError)


def test_one_that_cannot_be_read_or_made_is_an_error_too(tmp_path: Path):
    with pytest.raises(SecretError, match=r"cannot be used: No such file or directory; mend it, or pass --seed N$"):
        course_seed(tmp_path / "nowhere")
    (tmp_path / FILE).mkdir()
    with pytest.raises(SecretError, match=r"cannot be used: Is a directory; mend it, or pass --seed N$"):
        course_seed(tmp_path)


def test_a_disk_that_is_full_leaves_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(secret.os, "fsync", full)
    with pytest.raises(SecretError, match="No space left on device"):
        course_seed(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_id_says_which_and_does_not_give_it_away(tmp_path: Path):
    seed = course_seed(tmp_path)
    assert seed.id.startswith("course:")
    assert len(seed.id) == len("course:") + 4
    (tmp_path / FILE).write_text("00" * 32)
    assert course_seed(tmp_path).id == "course:6668"  # sha256 of 32 zero bytes, from another implementation


def cases(exercise: Exercise, seed: Seed) -> list[object]:
    return [case.calls for case in draw(exercise, seed)["doubles"][2:]]


def test_the_same_secret_draws_the_same_and_another_draws_others(exercise: Exercise):
    one, other = Seed("course:aaaa", bytes(32)), Seed("course:aaaa", bytes(31) + b"\1")
    assert len(cases(exercise, one)) == 3
    assert cases(exercise, one) == cases(exercise, one)
    assert cases(exercise, one) != cases(exercise, other)


def test_the_id_alone_does_not_draw_the_cases(exercise: Exercise):
    # Records show the id: whoever takes it for the seed must draw something else.
    assert cases(exercise, Seed("course:aaaa", bytes(32))) != cases(exercise, Seed("course:aaaa"))
    assert cases(exercise, Seed(PUBLIC)) == cases(exercise, Seed(PUBLIC))


def test_exercise_version_and_check_have_draws_of_their_own(exercise: Exercise):
    seed = Seed("course:aaaa", bytes(32))
    variants = [exercise, replace(exercise, version="v2"), replace(exercise, slug="triple")]
    first = [seed.random(variant, "doubles").random() for variant in variants]
    first.append(seed.random(exercise, "leaves_x").random())
    assert len(set(first)) == len(first)


def test_fixed_cases_come_first_and_do_not_depend_on_the_seed(exercise: Exercise):
    for seed in (Seed(PUBLIC), Seed("5"), Seed("course:aaaa", bytes(32))):
        drawn = draw(exercise, seed)
        assert drawn["doubles"][:2] == exercise.checks[0].cases
        assert drawn["leaves_x"] == exercise.checks[1].cases
