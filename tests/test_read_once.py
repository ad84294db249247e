"""Is an exercise read once while its files stay as they are, and again whenever one of them has changed?"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_exercise

from autograder import catalog, known, read_once
from autograder.student import Feedback, UnknownName, check

FOLDER = Path("exercises/halve")


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tiny_exercise.write(tmp_path)
    monkeypatch.setenv(catalog.ROOT_VARIABLE, str(root))
    return root


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the files had been left alone for long."""
    monkeypatch.setattr(read_once, "SETTLED", 0.0)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The exercises that were read from their folders, one entry each time."""
    read: list[str] = []
    load: Callable[..., object] = catalog.load

    def counted(slug: str, root: Path | None = None) -> object:
        read.append(slug)
        return load(slug, root)

    monkeypatch.setattr(catalog, "load", counted)
    return read


def right(x: float) -> float:
    return x / 2


def score() -> float:
    feedback = check("halve", right)
    assert isinstance(feedback, Feedback)
    return feedback.score.score


@pytest.mark.usefixtures("at_rest")
def test_what_has_not_changed_is_read_once(reads: list[str]) -> None:
    assert [score() for _ in range(3)] == [3.0, 3.0, 3.0]
    assert check("halve", right, "keeps_the_sign") is None
    assert reads == ["halve"]


def test_what_has_just_changed_is_read_again(reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_once, "SETTLED", 3600.0)  # however long it takes from the change to the second look
    score()
    once = len(reads)
    score()
    assert len(reads) == 2 * once > 0


@pytest.mark.usefixtures("at_rest")
def test_a_change_of_the_same_length_and_time_is_seen(course: Path) -> None:
    # An editor that keeps a file's time, on a file that keeps its length.
    path = course / FOLDER / "checks.py"
    assert score() == 3.0
    before, text = path.stat(), path.read_text(encoding="utf-8")
    changed = text.replace("Keeps the sign of x", "Keeps the SIGN of x")
    assert changed != text
    assert len(changed) == len(text)
    path.write_text(changed, encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    feedback = check("halve", right)
    assert isinstance(feedback, Feedback)
    assert "Keeps the SIGN of x" in [result.title for result in feedback.score.checks]


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize(
    "name", ["statement.md", "starter.py", "checks.py", "wrong/new.py", "right/new.py", "../../solutions/halve.py"]
)
def test_a_change_in_any_of_its_files_is_seen(course: Path, name: str, reads: list[str]) -> None:
    score()
    first = read_once.exercise("halve")
    path = course / FOLDER / name
    if path.exists():
        path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    else:
        other = next((course / FOLDER / name).parent.glob("*.py"))
        path.write_bytes(other.read_bytes())
    second = read_once.exercise("halve")
    assert reads == ["halve", "halve"]
    assert (first.version, first.hints, first.wrong, first.right) != (
        second.version, second.hints, second.wrong, second.right,
    )  # fmt: skip


@pytest.mark.usefixtures("at_rest")
def test_a_new_record_is_seen(course: Path) -> None:
    exercise = catalog.load("halve", course)
    assert read_once.expectations("halve")[1] == {}  # nothing is recorded: the reference is run
    path = course / FOLDER / "recorded.json"
    path.write_text(known.recorded_text(exercise), encoding="utf-8")
    patterns = read_once.expectations("halve")[1]
    assert patterns
    path.write_text(path.read_text(encoding="utf-8").replace("loses_sign", "keeps_none"), encoding="utf-8")
    assert read_once.expectations("halve")[1].keys() != patterns.keys()
    path.unlink()
    assert read_once.expectations("halve")[1] == {}


@pytest.mark.usefixtures("at_rest")
def test_the_notebook_beside_it_decides_nothing(course: Path, reads: list[str]) -> None:
    score()
    (course / FOLDER / "halve.ipynb").write_text("{}", encoding="utf-8")
    (course / FOLDER / ".ipynb_checkpoints").mkdir()
    score()
    assert reads == ["halve"]


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("name", ["statement.md", "checks.py", "../../solutions/halve.py"])
def test_a_file_that_goes_missing_is_missed(course: Path, name: str) -> None:
    score()
    (course / FOLDER / name).unlink()
    with pytest.raises(UnknownName, match="is missing"):
        check("halve", right)


@pytest.mark.usefixtures("at_rest")
def test_another_course_is_another_exercise(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, reads: list[str]
) -> None:
    first = read_once.exercise("halve")
    other = tiny_exercise.write(tmp_path_factory.mktemp("other"))
    monkeypatch.setenv(catalog.ROOT_VARIABLE, str(other))
    assert read_once.exercise("halve").folder != first.folder
    assert len(reads) == 2
