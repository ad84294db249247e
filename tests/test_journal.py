"""The journal: what is appended is read back, whatever the end of the process or of the disk was."""

from __future__ import annotations

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from autograder import journal as module
from autograder.journal import FILE, Journal
from autograder.models import CheckResult, Reference, Score
from autograder.report.records import from_record, json_line


def a_score(student: str, points: float = 1.0, message: str = "It halves.") -> Score:
    check = CheckResult("halves", "Halves", 1.0, points, "passed" if points else "failed", message)
    reference = Reference("solutions/halve.py", "cpu", "")
    return Score(student, "halve", "graded", points, 1.0, "seed:1", (check,), reference, (), 0.0)


def as_line(score: Score) -> bytes:
    return json_line(score).encode()


def taken_up(folder: Path, *, forced: bool = False) -> dict[str, Score]:
    with Journal(folder, forced=forced) as journal:
        lines = {student: journal.line(known.start, known.length) for (student, _), known in journal.known.items()}
    return {student: from_record(json.loads(found)) for student, found in lines.items()}


def write(folder: Path, *scores: Score, forced: bool = False) -> Path:
    with Journal(folder, forced=forced) as journal:
        for score in scores:
            journal.append(as_line(score))
        return journal.path


def test_what_was_appended_is_taken_up_and_the_last_of_a_student_counts(tmp_path: Path):
    hostile = a_score("a\nb\u2028\ud800", message="\0 \r\n é")
    write(tmp_path, a_score("ada"), hostile, a_score("ada", 0.0))
    assert taken_up(tmp_path) == {"ada": a_score("ada", 0.0), hostile.student: hostile}


def test_a_fresh_folder_has_nothing_to_take_up(tmp_path: Path):
    with Journal(tmp_path, forced=False) as journal:
        assert (journal.resumed, journal.kept, journal.known) == (False, 0, {})
    with Journal(tmp_path, forced=False) as journal:
        assert (journal.resumed, journal.kept) == (True, 0)
        journal.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(tmp_path: Path):
    whole = write(tmp_path, a_score("ada"), a_score("ben")).read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in (*range(start, start + 40), len(whole) - 1):
        (tmp_path / FILE).write_bytes(whole[:end])
        assert taken_up(tmp_path) == {"ada": a_score("ada")}
        write(tmp_path, a_score("cy"))
        assert taken_up(tmp_path) == {"ada": a_score("ada"), "cy": a_score("cy")}


def test_a_torn_first_line_is_begun_anew(tmp_path: Path):
    whole = write(tmp_path).read_bytes()
    for end in range(len(whole)):
        (tmp_path / FILE).write_bytes(whole[:end])
        write(tmp_path, a_score("ada"))
        assert taken_up(tmp_path) == {"ada": a_score("ada")}


@pytest.mark.parametrize(
    "damage", [b"\0" * 4096, b"{}", b"[" * 100_000, b"\xff\xfe", b"null", b'{"student": "x"}', b""]
)
def test_a_line_that_does_not_read_back_counts_as_never_written(tmp_path: Path, damage: bytes):
    path = write(tmp_path, a_score("ada"))
    path.write_bytes(path.read_bytes() + damage + b"\n")
    write(tmp_path, a_score("ben"))
    assert taken_up(tmp_path) == {"ada": a_score("ada"), "ben": a_score("ben")}


@pytest.mark.parametrize(
    ("then", "now", "kept"), [(False, False, True), (True, True, True), (True, False, True), (False, True, False)]
)
def test_force_takes_up_only_what_was_graded_by_force(tmp_path: Path, then: bool, now: bool, kept: bool):
    write(tmp_path, a_score("ada"), forced=then)
    assert bool(taken_up(tmp_path, forced=now)) is kept
    assert bool(taken_up(tmp_path, forced=now)) is kept


def test_a_journal_of_another_version_is_dropped_but_for_what_happened_to_the_gradebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with Journal(tmp_path, forced=False) as journal:
        journal.append(as_line(a_score("ada")))
        journal.mark_gradebook_changed()
        journal.mark_gradebook_changed()
    assert (tmp_path / FILE).read_text().count("changed") == 1
    monkeypatch.setattr(module, "__version__", "0.0.0")
    for _ in range(2):
        with Journal(tmp_path, forced=False) as journal:
            assert (journal.known, journal.gradebook_changed, journal.resumed) == ({}, True, True)


@pytest.mark.parametrize("written", [0, 7])
def test_a_full_disk_is_named_and_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int):
    real = os.write
    with Journal(tmp_path, forced=False) as journal:
        journal.append(as_line(a_score("ada")))
        before = journal.path.read_bytes()

        def full(descriptor: int, data: Any) -> int:
            if len(data) > 40 and written:
                return real(descriptor, bytes(data[:written])) if bytes(data[:1]) == b"{" else fail()
            return fail()

        def fail() -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left") as caught:
            journal.append(as_line(a_score("ben")))
        assert caught.value.filename == str(journal.path)
        monkeypatch.undo()
        assert journal.path.read_bytes() == before
        journal.append(as_line(a_score("cy")))
    assert taken_up(tmp_path).keys() == {"ada", "cy"}


@pytest.mark.parametrize("whole", [True, False])
def test_an_end_in_the_moment_of_writing_leaves_a_whole_line_that_counts_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
):
    write_ = os.write

    def ended(descriptor: int, data: Any) -> int:
        write_(descriptor, data if whole else data[:10])
        raise KeyboardInterrupt

    with Journal(tmp_path, forced=False) as journal:
        journal.append(as_line(a_score("ada")))
        with monkeypatch.context() as patch:
            patch.setattr(module.os, "write", ended)
            with pytest.raises(KeyboardInterrupt):
                journal.append(as_line(a_score("ben")))
        assert journal.kept == (2 if whole else 1)
        start, length = journal.append(as_line(a_score("cy")))
        assert from_record(json.loads(journal.line(start, length))).student == "cy"
    assert list(taken_up(tmp_path)) == (["ada", "ben", "cy"] if whole else ["ada", "cy"])


def test_threads_do_not_mix_their_lines(tmp_path: Path):
    with Journal(tmp_path, forced=False) as journal, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: journal.append(as_line(a_score(f"s{n}", message="x" * 5000))), range(200)))
        assert journal.kept == 200
    for line in (tmp_path / FILE).read_text().splitlines():
        json.loads(line)
    assert len(taken_up(tmp_path)) == 200


def test_a_line_is_where_append_says(tmp_path: Path):
    lines = [as_line(a_score(f"s{n}", message="é" * n)) for n in range(5)]
    with Journal(tmp_path, forced=False) as journal:
        places = [journal.append(one) for one in lines]
        assert [journal.line(*place) for place in places] == lines
