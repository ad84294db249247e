"""Notebooks: what is handed out, what is read back, what formgrader is shown."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
import tiny_exercise
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import catalog, files
from autograder.models import Cell, CheckResult, Exercise, Reference, Score
from autograder.notebook_cells import free_cell
from autograder.notebooks import (
    ReadNotebook,
    Unreadable,
    failed_text,
    graded_notebook,
    is_untouched,
    read_notebook,
    solution_id,
    source_notebook,
    student_notebook,
    submission_notebook,
)
from autograder.solution_cell import STUB, opened, solved

ROOT = Path(__file__).parent.parent
URL = "https://example.org/course"
MENDED = "cell 1: held characters that no text may hold (NUL or half a surrogate pair), mended"


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return catalog.load("halve", tiny_exercise.write(tmp_path_factory.mktemp("course")))


def cells_of(text: str) -> list[dict[str, Any]]:
    return json.loads(text)["cells"]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def notebook(*cells: Any, **more: Any) -> bytes:
    return json.dumps({"cells": list(cells), "nbformat": 4, "nbformat_minor": 5, "metadata": {}, **more}).encode()


def code(text: Any, **mark: Any) -> dict[str, Any]:
    metadata = {"nbgrader": mark} if mark else {}
    return {"cell_type": "code", "source": text, "metadata": metadata, "outputs": [], "execution_count": None}


def made_score(exercise: Exercise, *failed: str, **more: Any) -> Score:
    results = tuple(
        CheckResult(c.id, c.title, c.points, 0.0, "failed", f"{c.rule}\nIt returned 9.")
        if c.id in failed
        else CheckResult(c.id, c.title, c.points, c.points, "passed")
        for c in exercise.checks
    )
    fields: dict[str, Any] = {
        "student": "s", "exercise": exercise.slug, "status": "graded", "score": sum(r.earned for r in results),
        "max_score": exercise.max_score, "seed_id": "public", "checks": results,
        "reference": Reference("solutions", "cpu", ""), "sandbox": (), "duration_s": 0.0,
    }  # fmt: skip
    return Score(**{**fields, **more})


# ------------------------------------------------------------------- the student's


def test_the_students_notebook_is_valid_and_stable(exercise: Exercise) -> None:
    text = student_notebook(exercise, URL)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == student_notebook(exercise, URL)
    assert text.endswith("}\n")
    assert json.loads(text)["metadata"]["half_precision"] == {"exercise": "halve", "version": exercise.version}


def test_its_nbgrader_metadata_is_what_nbgrader_releases(exercise: Exercise) -> None:
    from nbgrader.nbgraderformat import MetadataValidator
    from nbgrader.utils import compute_checksum

    book = nbformat.reads(student_notebook(exercise, URL), as_version=4)
    MetadataValidator().validate_nb(book)
    marked = [cell for cell in book.cells if "nbgrader" in cell.metadata]
    assert [cell.metadata.nbgrader.checksum for cell in marked] == [compute_checksum(cell) for cell in marked]
    points = {c.id: c.metadata.nbgrader.points for c in marked if c.metadata.nbgrader.grade}
    assert points == {check.id: check.points for check in exercise.checks}


def test_a_stretch_exercise_says_so_below_its_heading(exercise: Exercise) -> None:
    plain = source(cells_of(student_notebook(exercise, URL))[0])
    text = source(cells_of(student_notebook(replace(exercise, stretch=True), URL))[0])
    heading, note, rest = text.split("\n\n", 2)
    assert note == "*A stretch exercise: it goes further than the chapter, and nothing later builds on it.*"
    assert f"{heading}\n\n{rest}" == plain


def test_it_shows_the_task_then_hints_answer_and_checks(exercise: Exercise) -> None:
    cells = cells_of(student_notebook(exercise, URL))
    assert source(cells[0]) == f"# {exercise.title}\n\n{exercise.statement}"
    assert URL in source(cells[1])
    assert [f"<summary>Hint {n}</summary>" in source(cells[1 + n]) for n in (1, 2, 3)] == [True] * 3
    assert source(cells[5]) == opened(exercise.starter)
    assert source(cells[6]).endswith('\ncheck("halve", halve)')
    assert source(cells[7]) == (
        '# Halves a positive number (1.5 points)\nfrom autograder import check\ncheck("halve", halve, "halves")'
    )
    assert len(cells) == 10


def test_without_a_repository_nothing_is_installed(exercise: Exercise) -> None:
    assert "pip" not in student_notebook(exercise, "")


def test_the_setup_cell_installs_only_what_is_missing(exercise: Exercise, tmp_path: Path) -> None:
    setup = source(cells_of(student_notebook(exercise, URL))[1])
    fake = (
        "import importlib.abc, subprocess, sys, types\n"
        "class Nowhere(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'autograder': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Nowhere())\n"
        "def run(command, check):\n"
        "    print('ran', *command[1:], check)\n"
        "    sys.modules['autograder'] = types.SimpleNamespace(check='installed')\n"
        "subprocess.run = run\n"
    )
    show = "\nprint(check)"
    ran = subprocess.run([sys.executable, "-c", fake + setup + show], capture_output=True, text=True, check=True)
    assert ran.stdout == f"ran -m pip install --quiet git+{URL} True\ninstalled\n"


@pytest.mark.parametrize("slug", catalog.slugs(ROOT))
def test_a_real_statement_reads_well_in_a_notebook(slug: str) -> None:
    real = catalog.load(slug, ROOT)
    cells = cells_of(student_notebook(real, URL))
    assert len({cell["id"] for cell in cells}) == len(cells)
    # Jupyter knows neither MyST's roles and directives nor the book's folders.
    foreign = re.compile(r"\{[\w:-]+\}`|^(```|:::)\{|\]\((?!https?:|#)", re.MULTILINE)
    assert [source(cell) for cell in cells if cell["cell_type"] == "markdown" and foreign.search(source(cell))] == []
    assert [line.startswith("# ") for line in source(cells[0]).splitlines()[:3]] == [True, False, False]
    assert STUB in source(next(cell for cell in cells if cell["id"] == solution_id(real)))
    assert "### BEGIN SOLUTION" in source_notebook(real, URL)


# ------------------------------------------------------------------- the instructor's


def test_the_source_notebook_holds_the_solution(exercise: Exercise) -> None:
    cell = next(c for c in cells_of(source_notebook(exercise, URL)) if c["id"] == solution_id(exercise))
    names: dict[str, Any] = {}
    exec(compile(source(cell), "cell", "exec"), names)
    assert names["halve"](-3) == -1.5
    assert "### BEGIN SOLUTION" in source(cell)
    assert "checksum" not in cell["metadata"]["nbgrader"]


def test_a_class_keeps_its_helpers_inside() -> None:
    starter = (
        "class Scaler:\n"
        '    """Scales."""\n\n'
        "    def scale(self, x):\n"
        '        """Scale."""\n'
        "        raise NotImplementedError\n\n"
        "    def half(self, x):\n"
        "        raise NotImplementedError('half')\n"
    )
    solution = (
        "import math\n\n"
        "class Scaler:\n"
        '    """Scales."""\n\n'
        "    factor = 4\n\n"
        "    def scale(self, x):\n"
        "        return self._times(x, self.factor)\n\n"
        "    def half(self, x):\n"
        "        # Down to an int.\n"
        "        return math.floor(x / 2)\n\n"
        "    @staticmethod\n"
        "    def _times(x, y):\n"
        "        return x * y\n"
    )
    names: dict[str, Any] = {}
    text = solved(starter, solution)
    exec(text, names)
    assert (names["Scaler"]().scale(2), names["Scaler"]().half(5)) == (8, 2)
    assert text.count("### BEGIN SOLUTION") == 2
    assert "# Down to an int." in text
    assert opened(starter).count(STUB) == 2


@pytest.mark.parametrize(
    ("starter", "solution", "says"),
    [
        ("def f(x):\n    return x\n", "def f(x):\n    return x\n", "ends with `raise NotImplementedError"),
        ("def f(x):\n    raise NotImplementedError\n", "def g(x):\n    return x\n", "does not define f"),
        (
            "class A:\n    def f(self):\n        raise NotImplementedError\n    def g(self):\n        pass\n",
            "import os\nclass A:\n    def f(self):\n        return os\n    def g(self):\n        pass\n",
            "be the last thing in it",
        ),
    ],
)
def test_a_starter_and_a_solution_that_do_not_fit_are_named(starter: str, solution: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        solved(starter, solution)


# --------------------------------------------------------------------------- reading


def test_reading_gives_all_code_cells_but_the_checks(exercise: Exercise) -> None:
    read = read_notebook(submission_notebook(exercise, "def halve(x):\n    return x / 2\n").encode())
    assert [cell.number for cell in read.cells] == [2, 6, 7]
    assert read.cells[1].source == "def halve(x):\n    return x / 2"
    assert read.notes == ()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b'{"cells": [', "not JSON, as a notebook is: Expecting value at line 1, column 12"),
        (b"x = 1\n", "not JSON"),
        (b'\n\n  {"cells" 1}', "line 3, column 12"),
        (b"\xff\xfe{\x00", "not UTF-8 text: byte 0"),
        (b'{"cells": "\xe9"}', "not UTF-8 text: byte 11"),
        (b"[]", "its JSON is a list, not an object"),
        (b"null", "its JSON is null"),
        (b'"text"', "its JSON is a text"),
        (b"5", "its JSON is a single value"),
        (b"{}", "no list of cells"),
        (b'{"cells": {}}', "its cells are not a list"),
        (b'{"cells": []}', "has no cells"),
        (b'{"cells": [1, null, []]}', "none of the notebook's cells can be read"),
        (b'{"nbformat": 3, "worksheets": []}', "old format 3; convert it with `jupyter nbconvert"),
        (b'{"nbformat": 2, "cells": []}', "old format 2"),
        (b'{"worksheets": []}', "old format 3"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"cells": ' + b'{"a":' * 200_000, "nested too deeply"),
        (notebook({"cell_type": "markdown", "source": "hi"}), "no code cell with an answer"),
        (notebook(code(" \n ")), "no code cell with an answer"),
        (notebook(code("check()", grade=True, grade_id="a")), "no code cell with an answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_in_one_line(data: bytes, says: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_notebook(data)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def read_one(cell: Any) -> ReadNotebook:
    return read_notebook(notebook(cell, code("kept = 1")))


def read_or_reason(data: bytes) -> tuple[ReadNotebook | None, str]:
    try:
        return read_notebook(data), ""
    except Unreadable as error:
        return None, str(error)


@pytest.mark.parametrize(
    ("cell", "sources", "notes"),
    [
        (code(["a = 1\n", "b = 2"]), ["a = 1\nb = 2"], []),
        (code(["a\n", 5, None, "b"]), ["a\nb"], ["cell 1: parts of its source are no text, left out"]),
        (code({"a": 1}), [""], ["cell 1: its source is no text, read as empty"]),
        (code(7), [""], ["cell 1: its source is no text, read as empty"]),
        ({"cell_type": "code"}, [""], []),
        ({"cell_type": "code", "source": "a", "metadata": [1]}, ["a"], ["cell 1: damaged metadata, ignored"]),
        ({"cell_type": "code", "source": "a", "metadata": {"nbgrader": 3}}, ["a"],
         ["cell 1: damaged nbgrader metadata, ignored"]),
        ("just a text", [], ["cell 1: not a cell, left out"]),
        ({"source": "a"}, [], ["cell 1: neither code nor text, left out"]),
        ({"cell_type": {"x": 1}, "source": "a"}, [], ["cell 1: neither code nor text, left out"]),
        (code("a", grade="yes"), ["a"], []),
        (code("a", grade=True, solution=True), ["a"], []),
        (code("a", grade=True), [], []),
        ({**code("a", solution=True), "cell_type": "raw"}, ["a"],
         ["cell 1: the answer was turned into a raw cell; read as code"]),
        (code("a\0b"), ["ab"], [MENDED]),
        (code("\ud800x\udc00"), ["\ufffdx\ufffd"], [MENDED]),
        (code("'\U0001f600é\ufeff'"), ["'\U0001f600é\ufeff'"], []),
    ],
)  # fmt: skip
def test_odd_cells_are_put_up_with(cell: Any, sources: list[str], notes: list[str]) -> None:
    read = read_one(cell)
    assert [c.source for c in read.cells] == [*sources, "kept = 1"]
    assert list(read.notes) == notes


def test_copied_cells_are_noted_once_and_both_kept() -> None:
    mark = {"grade_id": "halve_solution", "solution": True}
    read = read_notebook(notebook(code("a", **mark), code("b"), code("c", **mark)))
    assert [cell.source for cell in read.cells] == ["a", "b", "c"]
    assert read.notes == ("cells 1, 3: share the grade id 'halve_solution'; a cell was probably copied",)


def test_many_odd_cells_make_a_short_note() -> None:
    read = read_notebook(notebook(*[None] * 1_999, code("a = 1")))
    assert read.cells == (Cell(2_000, "a = 1"),)
    assert read.notes == ("cells 1, 2, 3, 4, 5 and 1994 more: not a cell, left out",)


def test_numbers_beyond_all_bounds_do_no_harm() -> None:
    huge = b'{"nbformat": ' + b"9" * 500_000 + b', "x": [1e999999, NaN, -' + b"9" * 500_000 + b"], "
    assert read_notebook(huge + b'"cells": [{"cell_type": "code", "source": "a"}]}').cells == (Cell(1, "a"),)


def test_a_byte_order_mark_and_raw_control_characters_are_read() -> None:
    data = b'\xef\xbb\xbf{"cells": [{"cell_type": "code", "source": "a\tb\n\x00"}]}'
    assert read_notebook(data).cells[0].source == "a\tb\n"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_cell = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "raw", "markdown"]) | _json,
        "source": st.text(max_size=8) | _json,
        "metadata": _json
        | st.fixed_dictionaries(
            {"nbgrader": st.dictionaries(st.sampled_from(["grade", "solution", "grade_id"]), _json | st.just(True))}
        ),
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_cell | _json, max_size=4) | _json, st.booleans())
def test_any_json_is_read_or_refused_and_can_be_shown(exercise: Exercise, cells: Any, wrapped: bool) -> None:
    data = json.dumps({"cells": cells} if wrapped else cells).encode()
    read, reason = read_or_reason(data)
    assert (read is None) == bool(reason)
    for cell in read.cells if read else ():
        assert cell.source.encode().count(b"\0") == 0
    shown = graded_notebook(data, exercise, made_score(exercise))
    nbformat.validate(nbformat.reads(shown, as_version=4))


def test_any_bytes_are_read_or_refused(exercise: Exercise) -> None:
    whole = student_notebook(exercise, URL).encode()
    chance = random.Random(7)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        whole_or_part = damaged[: chance.randrange(len(damaged))] if chance.random() < 0.3 else damaged
        read, reason = read_or_reason(bytes(whole_or_part))
        assert (read is None) == bool(reason)
        assert "\n" not in reason


# ------------------------------------------------------------------------- untouched


def test_the_notebook_as_handed_out_is_untouched(exercise: Exercise) -> None:
    for url in (URL, ""):
        assert is_untouched(read_notebook(student_notebook(exercise, url).encode()).cells, exercise)
    assert is_untouched((Cell(1, exercise.starter),), exercise)


@pytest.mark.parametrize(
    ("text", "untouched"),
    [
        (opened(tiny_exercise.STARTER).replace("    ", "\t") + "\n\n\n", True),
        (opened(tiny_exercise.STARTER).replace("# Your code goes here.", "# I do not know yet") + "  ", True),
        ("# nothing yet\n" + tiny_exercise.STARTER, True),
        (tiny_exercise.STARTER.replace("raise", "return x / 2  # raise"), False),
        (tiny_exercise.STARTER + "halve = abs\n", False),
        (tiny_exercise.STARTER + "'''", False),
    ],
)
def test_blanks_and_comments_are_no_answer(exercise: Exercise, text: str, untouched: bool) -> None:
    assert is_untouched(read_notebook(submission_notebook(exercise, text).encode()).cells, exercise) is untouched


def test_another_cell_is_an_answer(exercise: Exercise) -> None:
    cells = read_notebook(student_notebook(exercise, URL).encode()).cells
    assert not is_untouched((*cells, Cell(11, "halve = abs")), exercise)
    smuggled = cells[0].source.replace(URL, 'x"])\nhalve = abs\n(["')
    assert not is_untouched((Cell(2, smuggled), *cells[1:]), exercise)


# ---------------------------------------------------------------------------- graded


def grades(text: str) -> dict[str, float]:
    from nbgrader.nbgraderformat import MetadataValidator
    from nbgrader.utils import determine_grade, is_grade

    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    MetadataValidator().validate_nb(book)
    graded = [cell for cell in book.cells if is_grade(cell)]
    return {cell.metadata.nbgrader.grade_id: determine_grade(cell)[0] for cell in graded}


def test_the_graded_notebook_shows_every_check_once(exercise: Exercise) -> None:
    answer = "def halve(x):\n    return abs(x) / 2"
    text = graded_notebook(submission_notebook(exercise, answer).encode(), exercise, made_score(exercise, "halves"))
    assert grades(text) == {"halves": 0, "keeps_the_sign": 1.0, "is_a_float": 0.5}
    cells = cells_of(text)
    assert [source(c) for c in cells if c["id"] == solution_id(exercise)] == [answer]
    [failed] = cells[7]["outputs"]
    assert failed["traceback"] == ["✗ Halves a positive number\nHalf of x is x divided by two.\nIt returned 9."]
    assert cells[8]["outputs"][0]["text"] == ["✓ Keeps the sign of x (1 point)\n"]


def test_what_is_kept_of_an_exercise_is_of_that_very_exercise(exercise: Exercise) -> None:
    harder, *others = exercise.checks
    changes: list[dict[str, Any]] = [
        {"checks": (replace(harder, points=harder.points + 1), *others)},
        {"checks": (replace(harder, title="Another title"), *others)},
        {"starter": exercise.starter.replace("def ", "def _other(): pass\n\ndef ", 1)},
        {"entry": "another_entry"},
    ]
    shown = [graded_notebook(b"", replace(exercise, **change), made_score(exercise)) for change in ({}, *changes, {})]
    assert shown[0] == shown[-1]
    assert len(set(shown)) == len(changes) + 1
    for change in changes[2:]:
        assert is_untouched([Cell(1, exercise.starter)], exercise)
        other = replace(exercise, **change)
        assert is_untouched([Cell(1, opened(other.starter)), Cell(2, free_cell(other))], other)
        assert not is_untouched([Cell(1, opened(other.starter)), Cell(2, free_cell(other))], exercise)


def test_copies_and_forged_checks_are_dropped(exercise: Exercise) -> None:
    mark = {"grade_id": solution_id(exercise), "solution": True, "points": 100}
    forged = {**code("pass", grade=True, grade_id="halves"), "outputs": [{"output_type": "stream"}]}
    data = notebook(code("a", **mark), forged, code("b", **mark), forged)
    cells = cells_of(graded_notebook(data, exercise, made_score(exercise)))
    assert [source(cell) for cell in cells[:2]] == ["a", "b"]
    assert cells[0]["metadata"] == {}
    assert cells[1]["metadata"]["nbgrader"]["grade_id"] == solution_id(exercise)
    assert "points" not in cells[1]["metadata"]["nbgrader"]
    assert [cell["id"] for cell in cells[2:]] == [check.id for check in exercise.checks]


def test_a_missing_answer_gets_an_empty_cell(exercise: Exercise) -> None:
    cells = cells_of(graded_notebook(notebook(code("a")), exercise, made_score(exercise)))
    assert [(cell["id"], source(cell)) for cell in cells[:2]] == [("cell-1", "a"), (solution_id(exercise), "")]


@pytest.mark.parametrize("checks", [(), None])
def test_an_unreadable_submission_shows_the_reason_at_each_check(exercise: Exercise, checks: tuple[()] | None) -> None:
    unrun = tuple(CheckResult(c.id, c.title, c.points, 0.0, "not_run", "Not run.") for c in exercise.checks)
    fields = {"status": "unreadable", "score": None, "reason": "the file is empty"}
    score = made_score(exercise, checks=unrun if checks is None else checks, **fields)
    text = graded_notebook(b"", exercise, score)
    assert grades(text) == {"halves": 0, "keeps_the_sign": 0, "is_a_float": 0}
    assert source(cells_of(text)[5]) == opened(exercise.starter)
    assert cells_of(text)[7]["outputs"][0]["evalue"] == "the file is empty"


def test_a_students_text_and_outputs_cannot_run_in_the_instructors_browser(exercise: Exercise) -> None:
    from nbconvert.exporters import HTMLExporter

    bad = "```\n</code><script>stolen()</script>\n[x](javascript:stolen())"
    shout = {"output_type": "display_data", "data": {"text/html": "<script>stolen()</script>"}, "metadata": {}}
    data = notebook(
        {"cell_type": "markdown", "source": bad, "metadata": {}},
        {"cell_type": "raw", "source": "<script>stolen()</script>", "metadata": {"raw_mimetype": "text/html"}},
        {**code("a"), "outputs": [shout]},
    )
    page, _ = HTMLExporter().from_notebook_node(
        nbformat.reads(graded_notebook(data, exercise, made_score(exercise)), as_version=4)
    )
    assert "stolen()" in page
    assert "<script>stolen" not in page
    assert 'href="javascript' not in page


# Half a surrogate pair, NUL, an escape sequence, a carriage return, a text that runs backwards, an unseen separator.
HOSTILE = "half \ud800 \x00 \x1b[31m \r \u202e \u2028 end"
SHOWN = "half \\ud800 \\x00 \\x1b[31m \\r \\u202e \\u2028 end"


def exported(path: Path) -> str:
    """Return the page that formgrader shows of a graded notebook's file."""
    from nbconvert.exporters import HTMLExporter

    page, _ = HTMLExporter().from_filename(str(path))
    page.encode()
    return page


@pytest.mark.parametrize("where", ["message", "reason"])
def test_no_character_of_a_submission_is_obeyed_or_stops_the_export(
    exercise: Exercise, tmp_path: Path, where: str
) -> None:
    told = f"ValueError: {HOSTILE}\nand more"
    failed = [CheckResult(c.id, c.title, c.points, 0.0, "failed", told) for c in exercise.checks]
    lost: dict[str, Any] = {"status": "unreadable", "score": None, "reason": told, "checks": ()}
    score = made_score(exercise, **({"checks": tuple(failed)} if where == "message" else lost))
    data = submission_notebook(exercise, "def halve(x):\n    raise ValueError").encode()
    path = tmp_path / "halve.ipynb"
    files.write(path, graded_notebook(data, exercise, score))
    [output] = cells_of(path.read_text())[7]["outputs"]
    assert output["evalue"] == f"ValueError: {SHOWN}"
    assert output["traceback"] == [f"✗ {exercise.checks[0].title}\nValueError: {SHOWN}\nand more"]
    assert output["ename"] == "CheckFailed"
    assert SHOWN.replace("\x1b", "") in unescape(exported(path))


@pytest.mark.parametrize("kind", ["code", "markdown", "raw"])
def test_half_a_surrogate_pair_in_a_students_cell_does_not_stop_the_export(
    exercise: Exercise, tmp_path: Path, kind: str
) -> None:
    cell = {"cell_type": kind, "source": f"x = '{HOSTILE}'", "metadata": {}}
    cell |= {"outputs": [], "execution_count": None} if kind == "code" else {}
    data = notebook(cell, code("a\udfff", grade_id=solution_id(exercise), solution=True))
    path = tmp_path / "halve.ipynb"
    files.write(path, graded_notebook(data, exercise, made_score(exercise)))
    cells = cells_of(path.read_text())
    assert source(cells[1]) == "a\ufffd"
    assert "x = 'half \ufffd  \x1b[31m" in source(cells[0])
    assert "half \ufffd" in exported(path)


def test_what_a_check_cell_shows_can_be_sent_to_a_notebook() -> None:
    assert failed_text("Halves", HOSTILE) == f"✗ Halves\n{SHOWN}"


# ------------------------------------------------------------------- beyond all measure


def with_cells(cells: list[object]) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def test_two_thousand_cells_are_read_and_one_more_is_not() -> None:
    cell = {"cell_type": "code", "source": "x = 1"}
    assert len(read_notebook(with_cells([cell] * 2000)).cells) == 2000
    with pytest.raises(Unreadable, match="2001 cells, and at most 2000 are read; clear"):
        read_notebook(with_cells([cell] * 2001))


def test_a_mebibyte_of_code_is_read_and_one_character_more_is_not() -> None:
    half = {"cell_type": "code", "source": "x" * 2**19}
    assert len(read_notebook(with_cells([half, half])).cells) == 2
    with pytest.raises(Unreadable, match="1048577 characters, and at most 1048576 are graded; clear"):
        read_notebook(with_cells([half, half, {"cell_type": "code", "source": "y"}]))


def test_a_million_brackets_are_not_even_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = with_cells([{"cell_type": "code", "source": "x"}])
    monkeypatch.setattr(json, "loads", None)
    with pytest.raises(Unreadable, match="brackets, and at most 1000000 are read; clear"):
        read_notebook(data + b"[" * 10**6)
