"""Reading a class: what is found, what is refused and in which words, and that nothing a student does is fatal."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import choice, untrusted_files
from autograder import collect as collect_module
from autograder.collect import CollectError, collect, read_file, unknown_folders
from autograder.errors import CourseError
from autograder.models import Cell, Submission

SLUGS = ("grad_scaler_step", "dynamic_loss_scale")
ANSWER = "def grad_scaler_step(grads, scale):\n    return grads, scale\n"


def notebook(*sources: str, **changed: Any) -> bytes:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **changed}).encode()


def put(tree: Path, where: str, data: bytes = notebook(ANSWER)) -> Path:
    path = tree / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def only(tree: Path) -> Submission:
    [submission] = collect(tree, SLUGS)
    return submission


# ------------------------------------------------------------------------------ found


def test_submissions_come_by_student_then_exercise_with_what_was_read(tmp_path: Path) -> None:
    put(tmp_path, "s2/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb", notebook("a = 1", "b = 2"))
    put(tmp_path, "s1/dynamic_loss_scale/dynamic_loss_scale.py", b"x = 3\n")
    put(tmp_path, "s1/ps1/ps1.ipynb")
    found = list(collect(tmp_path, SLUGS))
    assert [(each.student, each.exercise) for each in found] == [
        ("s1", "dynamic_loss_scale"),
        ("s1", "grad_scaler_step"),
        ("s2", "grad_scaler_step"),
    ]
    assert not any(each.unreadable or each.notes for each in found)
    assert found[0].cells == (Cell(1, "x = 3\n"),)
    assert found[1].cells == (Cell(1, "a = 1"), Cell(2, "b = 2"))
    for each in found:
        assert each.content_hash == hashlib.sha256(each.path.read_bytes()).hexdigest()
        assert each.path.parent == tmp_path / each.student / each.exercise


def test_a_submission_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    for student in ("s1", "s2"):
        put(tmp_path, f"{student}/grad_scaler_step/grad_scaler_step.ipynb")
    stream = collect(tmp_path, SLUGS)
    next(stream)
    put(tmp_path, "s2/grad_scaler_step/grad_scaler_step.ipynb", notebook("later = True"))
    assert next(stream).cells == (Cell(1, "later = True"),)


def test_the_notebook_counts_where_there_is_a_script_too(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.py", b"other = 1")
    submission = only(tmp_path)
    assert submission.cells == (Cell(1, ANSWER),)
    assert submission.notes == ("grad_scaler_step.ipynb was taken; grad_scaler_step.py beside it was not read",)


def test_a_single_notebook_of_another_name_is_graded_with_a_note(tmp_path: Path) -> None:
    path = put(tmp_path, "s1/grad_scaler_step/Grad_Scaler_Step (1).ipynb")
    put(tmp_path, "s1/grad_scaler_step/timestamp.txt", b"2026-11-29 10:00:00 UTC")
    put(tmp_path, "s1/grad_scaler_step/.ipynb_checkpoints/x.ipynb")
    submission = only(tmp_path)
    assert (submission.path, submission.unreadable) == (path, "")
    assert submission.notes == (
        "there is no grad_scaler_step.ipynb; Grad_Scaler_Step (1).ipynb was taken in its place",
    )


BESIDE = {
    "a second download": (("grad_scaler_step (1).ipynb",), "grad_scaler_step (1).ipynb beside it was"),
    "a copy": (("grad_scaler_step-Copy1.ipynb",), "grad_scaler_step-Copy1.ipynb beside it was"),
    "another name, and a name in capitals": (("HW.IPYNB", "Notes.ipynb"), "HW.IPYNB, Notes.ipynb beside it were"),
    "scripts": (
        ("grad_scaler_step.py", "grad_scaler_step (1).py"),
        "grad_scaler_step (1).py, grad_scaler_step.py beside it were",
    ),
    "many": (tuple(f"{n}.ipynb" for n in range(9)), "0.ipynb, 1.ipynb, 2.ipynb and 6 more beside it were"),
    "what does not print": (("a\x1b[2J.ipynb",), "a\\u001b[2J.ipynb beside it was"),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_other_versions_beside_the_one_that_counts_are_named(tmp_path: Path, kind: str) -> None:
    names, said = BESIDE[kind]
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    for name in names:
        put(tmp_path, f"s1/grad_scaler_step/{name}", b"better = 1")
    submission = only(tmp_path)
    assert submission.cells == (Cell(1, ANSWER),)
    assert submission.notes == (f"grad_scaler_step.ipynb was taken; {said} not read",)
    assert all(map(choice.of_folder, submission.notes))


def test_nothing_is_said_of_files_that_are_no_other_version(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    for name in (".ipynb_checkpoints/grad_scaler_step-checkpoint.ipynb", ".x.ipynb", "helper.py", "data.csv", "a.pdf"):
        put(tmp_path, f"s1/grad_scaler_step/{name}")
    put(tmp_path, "s1/grad_scaler_step/timestamp.txt", b"2026-11-29 10:00:00 UTC")
    assert only(tmp_path).notes == ()


def test_a_damaged_notebook_is_told_of_with_the_one_beside_it(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb", b"{")
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step (1).ipynb")
    submission = only(tmp_path)
    assert "not JSON" in submission.unreadable
    assert submission.notes == ("grad_scaler_step.ipynb was taken; grad_scaler_step (1).ipynb beside it was not read",)


def test_a_script_is_told_of_with_the_notebook_beside_it(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.py", b"x = 1\n")
    put(tmp_path, "s1/grad_scaler_step/mine.ipynb")
    assert only(tmp_path).notes == ("grad_scaler_step.py was taken; mine.ipynb beside it was not read",)


UNTIMED = "no time of submission was taken from it"
TIMES = {
    "nbgrader's": (b"2026-02-03 15:27:00.000000 UTC\n", ""),
    "with an offset": (b"2026-02-03T15:27:00+01:00", ""),
    "in words that are read": (b"3 February 2026 15:27", ""),
    "in words": (b"yesterday evening\n", "says “yesterday evening”, which is no time that can be read"),
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "damaged": (b"\x00\xff", r"says “\u0000\\xff”, which is no time that can be read"),
    "long": (b"x" * 5_000, f"says “{'x' * 40}…”, which is no time that can be read"),
    "a tune": (b"\x1b[2J now", "says “\\u001b[2J now”, which is no time that can be read"),
}


@pytest.mark.parametrize("kind", TIMES)
def test_a_time_that_cannot_be_read_is_told_and_another_is_not(tmp_path: Path, kind: str) -> None:
    data, said = TIMES[kind]
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "s1/grad_scaler_step/timestamp.txt", data)
    notes = only(tmp_path).notes
    assert notes == ((f"timestamp.txt beside it {said}; {UNTIMED}",) if said else ())
    assert all(map(choice.of_folder, notes))


def test_a_time_that_is_a_link_is_not_followed_and_told(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "time", b"2026-02-03 15:27:00 UTC")
    (tmp_path / "s1/grad_scaler_step/timestamp.txt").symlink_to(tmp_path / "time")
    (note,) = only(tmp_path).notes
    why = "it is a symbolic link, which could show another student's work"
    assert note == f"timestamp.txt beside it was not read ({why}); {UNTIMED}"


def test_what_a_reader_or_the_code_notes_is_not_of_the_folder() -> None:
    for note in ("cell 3: NameError", "timestamp.txt", "x was taken", "a magic was left out; the cells after it ran"):
        assert not choice.of_folder(note)


def test_a_hard_link_is_a_file_like_others(tmp_path: Path) -> None:
    first = put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    (tmp_path / "s2/grad_scaler_step").mkdir(parents=True)
    os.link(first, tmp_path / "s2/grad_scaler_step/grad_scaler_step.ipynb")
    assert [each.unreadable for each in collect(tmp_path, SLUGS)] == ["", ""]


def test_the_tree_itself_may_be_a_link(tmp_path: Path) -> None:
    put(tmp_path / "real", "s1/grad_scaler_step/grad_scaler_step.ipynb")
    (tmp_path / "link").symlink_to("real")
    assert only(tmp_path / "link").unreadable == ""


# ---------------------------------------------------------------------------- refused

NEW_COPY = "; hand in a new copy, saved in Jupyter"
OLD_FORMAT = json.dumps({"worksheets": [{"cells": []}], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}).encode()
DAMAGED = {
    "empty": (b"", f"the file is empty{NEW_COPY}"),
    "cut": (notebook(ANSWER)[:40], f"the file is not JSON, as a notebook is: .*{NEW_COPY}"),
    "latin": ('{"cells": "ü"}'.encode("latin-1"), f"the file is not UTF-8 text: byte 11 cannot be read{NEW_COPY}"),
    "old": (OLD_FORMAT, "the notebook is in the old format 3; convert it with .* and submit again"),
    "no code": (notebook(), f"the notebook has no cells{NEW_COPY}"),
    "text only": (
        notebook(cells=[{"cell_type": "markdown", "source": "Hello", "metadata": {}}]),
        f"the notebook has no code cell with an answer in it: .*{NEW_COPY}",
    ),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_notebook_is_named_with_what_to_do(tmp_path: Path, damage: str) -> None:
    data, message = DAMAGED[damage]
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb", data)
    submission = only(tmp_path)
    where = "s1/grad_scaler_step/grad_scaler_step.ipynb: "
    assert submission.unreadable.startswith(where)
    assert_matches(submission.unreadable.removeprefix(where), message)
    assert submission.content_hash == hashlib.sha256(data).hexdigest()
    assert submission.cells == ()


def assert_matches(text: str, pattern: str) -> None:
    start, _, rest = pattern.partition(".*")
    assert text.startswith(start), text
    assert text.endswith(rest), text
    assert "\n" not in text


def test_a_large_file_is_refused_with_its_size(tmp_path: Path) -> None:
    path = put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    os.truncate(path, 50_000_000)
    assert only(tmp_path).unreadable == (
        "s1/grad_scaler_step/grad_scaler_step.ipynb: the file has 47.7 MiB, and at most 20 MiB are read; "
        "clear the outputs of its cells and hand it in again"
    )
    assert only(tmp_path).content_hash == ""


def test_a_file_that_grows_after_it_was_measured_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Path("/proc/self/status")  # a regular file of size 0, by its own account
    assert endless.stat().st_size == 0
    monkeypatch.setattr(untrusted_files, "LIMIT", 10)
    assert "at most 0 MiB are read" in read_file(endless, "s1", "grad_scaler_step").unreadable


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's address must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


A_LINK = "a symbolic link, which could show another student's work; put the file itself there"
ODD_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "folder": (Path.mkdir, "it is a folder, not a file; put a file there"),
    "pipe": (make_fifo, "it is a pipe, not a file; put a file there"),
    "socket": (make_socket, "it is a socket, not a file; put a file there"),
    "another's work": (link_to("../../s2/grad_scaler_step/grad_scaler_step.ipynb"), f"it is {A_LINK}"),
    "out of the tree": (link_to("/etc/passwd"), f"it is {A_LINK}"),
    "a device": (link_to("/dev/zero"), f"it is {A_LINK}"),
    "broken": (link_to("nowhere"), "it is a symbolic link, and leads to nothing; put the file itself there"),
    "loop": (
        link_to("grad_scaler_step.ipynb"),
        "it is a symbolic link, and leads to nothing; put the file itself there",
    ),
}


@pytest.mark.parametrize("kind", ODD_FILES)
def test_nothing_but_a_regular_file_is_opened(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, message = ODD_FILES[kind]
    put(tmp_path, "s2/grad_scaler_step/grad_scaler_step.ipynb")
    folder = tmp_path / "s1/grad_scaler_step"
    folder.mkdir(parents=True)
    make(folder / "grad_scaler_step.ipynb")
    opened = []
    really_open = os.open

    def note_and_open(name: Any, *more: Any, **named: Any) -> int:
        opened.append(name)
        return really_open(name, *more, **named)

    monkeypatch.setattr(os, "open", note_and_open)
    first, second = collect(tmp_path, SLUGS)
    assert first.unreadable == f"s1/grad_scaler_step/grad_scaler_step.ipynb: {message}"
    assert (first.cells, first.content_hash, second.unreadable) == ((), "", "")
    assert opened.count("grad_scaler_step.ipynb") == 1  # the other student's


@pytest.mark.parametrize("part", ["s1", "s1/grad_scaler_step"])
def test_a_linked_folder_is_not_entered(tmp_path: Path, part: str) -> None:
    other = tmp_path / "elsewhere"
    put(other, "grad_scaler_step/grad_scaler_step.ipynb")
    put(other, "grad_scaler_step.ipynb")
    link = tmp_path / "tree" / part
    link.parent.mkdir(parents=True)
    link.symlink_to(other)
    submission = only(tmp_path / "tree")
    assert submission.unreadable == (
        f"{part}: it is a symbolic link, which could show another student's work; put the folder itself there"
    )


def test_a_file_swapped_for_a_link_between_look_and_open_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    really_open = os.open

    def swap_then_open(name: Any, *more: Any, **named: Any) -> int:
        if name == path.name:
            path.unlink()
            path.symlink_to("/etc/passwd")
        return really_open(name, *more, **named)

    monkeypatch.setattr(os, "open", swap_then_open)
    where = "s1/grad_scaler_step/grad_scaler_step.ipynb"
    assert only(tmp_path).unreadable == f"{where}: it cannot be read (Too many levels of symbolic links); copy it anew"


def test_a_file_in_place_of_the_exercises_folder_is_named(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step")
    assert only(tmp_path).unreadable == "s1/grad_scaler_step: it is a file, not a folder; put a folder there"


MISSING = {
    "nothing": ((), "the folder is empty; put grad_scaler_step.ipynb into it"),
    "a time": (("timestamp.txt",), "the folder is empty; put grad_scaler_step.ipynb into it"),
    "notebooks": (
        ("b.ipynb", "a.ipynb", "c.txt"),
        "a.ipynb, b.ipynb; rename the one to grade to grad_scaler_step.ipynb",
    ),
    "a script": (("answer.py",), "answer.py; rename it to grad_scaler_step.py"),
    "scripts": (("b.py", "a.py"), "a.py, b.py; rename the one to grade to grad_scaler_step.py"),
    "disguised": (
        ("grad_scaler_step.ipynb.txt",),
        "grad_scaler_step.ipynb.txt; rename it to grad_scaler_step.ipynb, without the ending that a browser added",
    ),
    "an archive": (
        ("grad_scaler_step.zip",),
        "grad_scaler_step.zip; unpack it and put grad_scaler_step.ipynb into the folder",
    ),
    "archives": (
        ("b.pdf", "Answer.TAR.GZ"),
        "Answer.TAR.GZ, b.pdf; unpack Answer.TAR.GZ and put grad_scaler_step.ipynb into the folder",
    ),
    "a folder": (("mine/",), "mine; if grad_scaler_step.ipynb is inside it, move it up into this folder"),
    "a folder with the name of a notebook's script": (
        ("old.py/", "b.txt"),
        "b.txt, old.py; if grad_scaler_step.ipynb is inside old.py, move it up into this folder",
    ),
    "others": (
        tuple(f"{n}.pdf" for n in range(8)),
        "0.pdf, 1.pdf, 2.pdf, 3.pdf, 4.pdf and 3 more; only a notebook or a Python file can be graded: "
        "put grad_scaler_step.ipynb into the folder",
    ),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_notebook_is_named_with_what_is_there_and_what_to_do_with_that(tmp_path: Path, kind: str) -> None:
    files, message = MISSING[kind]
    (tmp_path / "s1/grad_scaler_step").mkdir(parents=True)
    for name in files:
        if name.endswith("/"):
            (tmp_path / "s1/grad_scaler_step" / name).mkdir()
        else:
            put(tmp_path, f"s1/grad_scaler_step/{name}")
    submission = only(tmp_path)
    there = "there is no grad_scaler_step.ipynb, only " if set(files) - {"timestamp.txt"} else ""
    assert submission.unreadable == f"s1/grad_scaler_step: {there}{message}"
    assert submission.path == tmp_path / "s1/grad_scaler_step/grad_scaler_step.ipynb"


@pytest.mark.parametrize(
    ("refused", "where"),
    [
        ("s1", "s1"),
        ("grad_scaler_step", "s1/grad_scaler_step"),
        ("grad_scaler_step.ipynb", "s1/grad_scaler_step/grad_scaler_step.ipynb"),
    ],
)
def test_permission_denied_is_said_of_the_folder_or_file_that_denies_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str, where: str
) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    really_open = os.open

    def deny(name: Any, *more: Any, **named: Any) -> int:  # the administrator's account is denied nothing
        if name == refused:
            raise PermissionError(13, "Permission denied", name)
        return really_open(name, *more, **named)

    monkeypatch.setattr(os, "open", deny)
    assert only(tmp_path).unreadable == f"{where}: permission denied; let the account that grades read it"


def test_a_students_folder_that_cannot_be_searched_is_reported_for_each_exercise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s1").mkdir()

    def deny(path: Any, *more: Any, **named: Any) -> Any:
        raise PermissionError(13, "Permission denied", path)

    for name in ("lstat", "listdir", "open"):
        monkeypatch.setattr(os, name, deny)
    found = list(collect(tmp_path, SLUGS))
    assert [each.exercise for each in found] == sorted(SLUGS)
    assert all("permission denied" in each.unreadable for each in found)


def test_a_file_that_vanishes_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    monkeypatch.setattr(collect_module, "choose", lambda names, slug, is_folder: ("gone.ipynb", ()))
    assert only(tmp_path).unreadable == (
        "s1/grad_scaler_step/gone.ipynb: it was removed while it was read; hand it in again"
    )


def test_a_fault_of_the_reader_is_reported_and_not_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")

    def fail(data: bytes) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(collect_module, "read_notebook", fail)
    assert only(tmp_path).unreadable == (
        f"s1/grad_scaler_step/grad_scaler_step.ipynb: the reader failed on it (RuntimeError: two lines){NEW_COPY}"
    )


@given(st.binary(max_size=200))
def test_no_bytes_are_fatal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("any.ipynb", "any.py"):
        (folder / name).write_bytes(data)
        submission = read_file(folder / name, "s1", "grad_scaler_step")
        assert bool(submission.cells) != bool(submission.unreadable)
        assert submission.unreadable.isprintable()


# ----------------------------------------------------------------------------- python


@pytest.mark.parametrize(
    ("data", "source"),
    [
        ("s = 'ü'\n".encode(), "s = 'ü'\n"),
        ("\ufeffs = 'ü'\n".encode(), "s = 'ü'\n"),
        ("# -*- coding: latin-1 -*-\ns = 'ü'\n".encode("latin-1"), "# -*- coding: latin-1 -*-\ns = 'ü'\n"),
        ("# coding: cp1252\r\ns = '€'\r\n".encode("cp1252"), "# coding: cp1252\r\ns = '€'\r\n"),
    ],
)
def test_a_python_file_is_one_cell_in_its_own_encoding(tmp_path: Path, data: bytes, source: str) -> None:
    submission = read_file(put(tmp_path, "answer.py", data), "s1", "grad_scaler_step")
    assert submission.cells == (Cell(1, source),)
    compile(submission.cells[0].source, "answer", "exec")


NO_ENCODING = "the file names an encoding that no Python source has; save it as UTF-8"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" \n", f"the file is empty{NEW_COPY}"),
        (b"s = '\xfc'\n", "the file is not UTF-8 text: byte 5 cannot be read; save it as UTF-8"),
        (b"\n\n\n\n# \xfc\n", "the file is not UTF-8 text: byte 6 cannot be read; save it as UTF-8"),
        ("x = 1".encode("utf-16"), "the file is not UTF-8 text: byte 0 cannot be read; save it as UTF-8"),
        (b"# coding: ascii\n# \xfc\n", "the file is not ASCII text: byte 18 cannot be read; save it as UTF-8"),
        (b"x = 1\0\n", "the file holds NUL characters, as no Python source does; save it as UTF-8"),
        (b"# coding: nonsense\n", NO_ENCODING),
        *[
            (f"# coding: {name}\nx = 1\n".encode(), NO_ENCODING)
            for name in ("punycode", "hex", "rot13", "utf-16", "utf-7", "unicode_escape", "zlib", "idna", "cp037")
        ],
    ],
)
def test_a_python_file_that_is_no_text_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = put(tmp_path, "answer.py", data)
    assert read_file(path, "s1", "grad_scaler_step").unreadable == f"{path}: {message}"


# ---------------------------------------------------------------------------- one file


def test_one_file_may_be_a_link_but_must_be_a_file(tmp_path: Path) -> None:
    path = put(tmp_path, "answer.ipynb")
    link = tmp_path / "link.ipynb"
    link.symlink_to(path.name)
    assert read_file(link, "me", "grad_scaler_step") == Submission(
        "me", "grad_scaler_step", link, (Cell(1, ANSWER),), hashlib.sha256(path.read_bytes()).hexdigest()
    )
    missing = tmp_path / "missing.py"
    assert read_file(missing, "me", "x").unreadable == f"{missing}: there is no such file; check its name"
    assert read_file(tmp_path, "me", "x").unreadable == f"{tmp_path}: it is a folder, not a file; put a file there"
    assert (
        read_file(Path("/dev/null"), "me", "x").unreadable == "/dev/null: it is a device, not a file; put a file there"
    )
    make_fifo(tmp_path / "pipe.py")
    assert "it is a pipe, not a file" in read_file(tmp_path / "pipe.py", "me", "x").unreadable


# ------------------------------------------------------------------------------ names

NAMES = {
    "ü ñ 名": "ü ñ 名",
    "-rf": "-rf",
    "a b": "a b",
    "two\nlines": r"two\u000alines",
    "\x1b[31mred": r"\u001b[31mred",
    "right\u202eleft": r"right\u202eleft",
    "tag\U000e0041": r"tag\U000e0041",
    "back\\slash": r"back\\slash",
    os.fsdecode(b"caf\xe9"): r"caf\xe9",
    r"caf\xe9": r"caf\\xe9",
    "=1+1": "=1+1",
}


def test_a_students_name_becomes_printable_and_stays_their_own(tmp_path: Path) -> None:
    for name in NAMES:
        put(tmp_path, f"{name}/grad_scaler_step/grad_scaler_step.ipynb")
        put(tmp_path, f"{name}/dynamic_loss_scale/dynamic_loss_scale.ipynb", b"")
    found = list(collect(tmp_path, SLUGS))
    assert [each.student for each in found] == sorted(2 * list(NAMES.values()))
    for each in found:
        assert each.student.isprintable()
        assert NAMES[each.path.parent.parent.name] == each.student
        if each.exercise == "dynamic_loss_scale":
            assert each.unreadable.startswith(f"{each.student}/dynamic_loss_scale/dynamic_loss_scale.ipynb: ")
        else:
            assert not each.unreadable


def test_a_long_name_is_cut_to_what_a_gradebook_and_a_file_name_take(tmp_path: Path) -> None:
    names = ["x" * 200, "x" * 199 + "y", os.fsdecode(b"\xff" * 200), "名" * 80 + "\x01" * 5, "y" * 128]
    for name in names:
        put(tmp_path, f"{name}/grad_scaler_step/grad_scaler_step.ipynb")
    found = {each.path.parent.parent.name: each.student for each in collect(tmp_path, SLUGS)}
    assert sorted(found) == sorted(names)
    assert len(set(found.values())) == len(names)
    assert all(len(student) <= 128 and len(student.encode()) <= 255 for student in found.values())
    assert found["x" * 200].startswith("x" * 112 + "...")
    assert found["y" * 128] == "y" * 128

    copied = found["x" * 200]
    put(tmp_path, f"{copied}/grad_scaler_step/grad_scaler_step.ipynb")
    assert len({each.student for each in collect(tmp_path, SLUGS)}) == len(names) + 1


@given(st.lists(st.binary(min_size=1, max_size=255), min_size=2, max_size=2, unique=True))
def test_different_folders_are_different_students(names: list[bytes]) -> None:
    students = [collect_module._student_id(os.fsdecode(name)) for name in names]
    assert students[0] != students[1]
    assert all(student.isprintable() and student.encode() for student in students)


# ------------------------------------------------------------------------- passed over


def test_what_is_passed_over_is_said(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "s1/ps1/ps1.ipynb")
    put(tmp_path, "s1/grad_scaler_step copy/grad_scaler_step.ipynb")
    put(tmp_path, "s2/Grad-Scaler-Step (1)/x.ipynb")
    put(tmp_path, "s3/grad_scalar_step.ipynb")
    put(tmp_path, "s1/my pictures.zip")
    put(tmp_path, "s4/all of it.tar.gz")
    put(tmp_path, "s5/ps1/ps1.ipynb")
    put(tmp_path, "grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "hand-in.zip")
    put(tmp_path, "loose.py")
    put(tmp_path, "README.md")
    put(tmp_path, ".git/x.ipynb")
    (tmp_path / "s6").symlink_to("s1")
    shape = "<student>/<exercise>/<exercise>.ipynb"
    assert unknown_folders(tmp_path, SLUGS) == [
        f"hand-in.zip: an archive among the students' folders is not graded; unpack it into {shape}.",
        f"loose.py: a file among the students' folders is not graded; its place is {shape}.",
        f"grad_scaler_step: an exercise's folder where a student's belongs; the tree's shape is {shape}.",
        "s2/Grad-Scaler-Step (1): a folder of this name is not graded; rename it to grad_scaler_step.",
        "s3/grad_scalar_step.ipynb: a file outside its folder is not graded; "
        "move it to grad_scaler_step/grad_scaler_step.ipynb.",
        "s4/all of it.tar.gz: an archive is not graded; unpack it into s4/<exercise>/<exercise>.ipynb.",
        "s6: a symbolic link, which is not followed; put the folder itself there.",
        "No exercise that is graded (grad_scaler_step, dynamic_loss_scale) in the folder of: s5.",
    ]


def test_a_student_whose_folder_begins_with_a_dot_is_named(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, ".git/objects/x")
    (tmp_path / ".empty").mkdir()
    (tmp_path / ".DS_Store").write_text("")
    assert unknown_folders(tmp_path, SLUGS) == []
    put(tmp_path, ".dot/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "..hidden\x1b[2J/dynamic_loss_scale/dynamic_loss_scale.py")
    sentence = "Not graded, because a folder's name begins with a dot; rename it: ..hidden\\u001b[2J, .dot."
    assert unknown_folders(tmp_path, SLUGS) == [sentence]
    assert [each.student for each in collect(tmp_path, SLUGS)] == ["s1"]
    for number in range(300):
        put(tmp_path, f".x{number:03}/grad_scaler_step/grad_scaler_step.ipynb")
    assert unknown_folders(tmp_path, SLUGS)[0].endswith(", .dot, .x000, .x001, .x002 and 297 more.")


def test_many_students_without_an_exercise_are_one_sentence(tmp_path: Path) -> None:
    for number in range(300):
        put(tmp_path, f"s{number:03}/ps1/ps1.ipynb")
    [sentence] = unknown_folders(tmp_path, SLUGS)
    assert sentence.endswith("in the folder of: s000, s001, s002, s003, s004 and 295 more.")
    assert list(collect(tmp_path, SLUGS)) == []


def test_nothing_is_said_where_nothing_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "s2/dynamic_loss_scale/anything.txt")
    assert unknown_folders(tmp_path, SLUGS) == []


def test_folders_whose_names_look_the_same_are_told_apart_in_one_sentence(tmp_path: Path) -> None:
    for name in ("Jos\u00e9", "Jose\u0301", "Jose", "Ada", "Ada ", "jos\u00e9", "Zo\u0065\u0308"):
        put(tmp_path, f"{name}/grad_scaler_step/grad_scaler_step.ipynb")
    (sentence,) = collect_module.lookalikes(tmp_path)
    assert sentence == (
        r"Folders whose names look the same are different students: 'Ada' and 'Ada ', 'Jose\u0301' and 'Jos\xe9'; "
        "where they are one, put the work into one of them."
    )
    assert len(list(collect(tmp_path, SLUGS))) == 7


def test_nothing_is_said_of_names_that_only_have_accents(tmp_path: Path) -> None:
    for name in ("Jose\u0301", "Zo\u00eb", "two  blanks", "\u674e\u96f7"):
        (tmp_path / name).mkdir()
    assert collect_module.lookalikes(tmp_path) == []


# ---------------------------------------------------------------------------- no tree


def missing(tmp_path: Path) -> Path:
    return tmp_path / "missing"


def a_file(tmp_path: Path) -> Path:
    return put(tmp_path, "notebook.ipynb")


def an_archive(tmp_path: Path) -> Path:
    return put(tmp_path, "class.zip")


def empty(tmp_path: Path) -> Path:
    return tmp_path


def files_only(tmp_path: Path) -> Path:
    put(tmp_path, "grad_scaler_step.ipynb")
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (missing, "there is no such folder; give the folder that holds <student>/<exercise>/<exercise>.ipynb"),
        (a_file, "it is a file, not a folder; give the folder that holds"),
        (an_archive, "it is a file, not a folder; unpack it, then give the folder that holds"),
        (empty, "it holds no student's folder; give the folder that holds"),
        (files_only, "it holds no student's folder; give the folder that holds"),
    ],
)
@pytest.mark.parametrize("function", [collect, unknown_folders])
def test_what_is_no_tree_is_an_error_at_once(
    tmp_path: Path, make: Callable[[Path], Path], message: str, function: Callable[..., object]
) -> None:
    tree = make(tmp_path)
    with pytest.raises(CollectError) as caught:
        function(tree, SLUGS)
    assert str(caught.value).startswith(f"{tree}: {message}")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CourseError)
    assert "\n" not in str(caught.value)


def test_one_students_folder_is_no_tree(tmp_path: Path) -> None:
    put(tmp_path, "grad_scaler_step/grad_scaler_step.ipynb")
    put(tmp_path, "notes/todo.txt")
    with pytest.raises(CollectError) as caught:
        unknown_folders(tmp_path, SLUGS)
    assert str(caught.value) == (
        f"{tmp_path}: this looks like one student's folder, for it holds grad_scaler_step; give the folder above it"
    )
    put(tmp_path, "dynamic_loss_scale/dynamic_loss_scale.py")
    with pytest.raises(CollectError, match="for it holds grad_scaler_step, dynamic_loss_scale; give the folder above"):
        collect_module.survey(tmp_path, SLUGS, lambda name: True)
    put(tmp_path, "ada/grad_scaler_step/grad_scaler_step.ipynb")
    sentences, count = collect_module.survey(tmp_path, SLUGS, lambda name: True)
    assert (count, len(sentences)) == (0, 3)


def test_a_tree_by_exercise_is_not_taken_for_a_students_folder(tmp_path: Path) -> None:
    put(tmp_path, "grad_scaler_step/ada/grad_scaler_step.ipynb")
    (sentence, *_) = unknown_folders(tmp_path, SLUGS)
    assert sentence.startswith("grad_scaler_step: an exercise's folder where a student's belongs; ")


def test_a_tree_that_may_not_be_listed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", deny)
    with pytest.raises(CollectError, match="permission denied; let the account that grades read it"):
        collect(tmp_path, SLUGS)


def test_a_survey_counts_what_there_is_to_grade(tmp_path: Path) -> None:
    for name in ("s1/grad_scaler_step/grad_scaler_step.ipynb", "s1/dynamic_loss_scale/x", "s2/grad_scaler_step/y.py"):
        put(tmp_path, name)
    put(tmp_path, "s3/other/other.ipynb")
    put(tmp_path, ".s4/grad_scaler_step/grad_scaler_step.ipynb")
    sentences, count = collect_module.survey(tmp_path, SLUGS)
    assert (count, sentences) == (3, unknown_folders(tmp_path, SLUGS))
    assert len(list(collect(tmp_path, SLUGS))) == 3
    assert collect_module.survey(tmp_path, SLUGS, lambda name: name == "s1") == (sentences, 1)


def test_what_was_handed_in_is_hashed_and_parsed_later(tmp_path: Path) -> None:
    file = put(tmp_path, "s1/grad_scaler_step/grad_scaler_step.ipynb")
    file.write_bytes(b"{")
    (handed,) = collect_module.handed_in(tmp_path, SLUGS)
    assert (handed.data, handed.trouble, handed.path) == (b"{", "", file)
    assert handed.digest == hashlib.sha256(b"{").hexdigest()
    read = collect_module.read_handed(handed)
    assert read == only(tmp_path)
    assert (read.content_hash, "not JSON" in read.unreadable) == (handed.digest, True)
