"""`release`: derived files are written when they differ, and only then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiny_exercise

from autograder import catalog, recorded
from autograder.catalog import CatalogError
from autograder.notebooks import source_notebook, student_notebook
from autograder.release import release

CONFIG = "title: A course\nrepository:\n  url: https://example.org/course/\n"
URL = "https://example.org/course"
COMMITTED = ["exercises/halve/recorded.json", "exercises/halve/halve.ipynb"]


def files_under(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}


def test_release_writes_what_is_not_current_and_nothing_else(tmp_path: Path) -> None:
    root = tiny_exercise.write(tmp_path, CONFIG)
    source = "build/course/source/halve/halve.ipynb"
    before = files_under(root)
    assert release(root, ["halve"], check=True) == [
        f"{name} is missing; run `autograder release halve`" for name in COMMITTED
    ]
    assert files_under(root) == before

    assert release(root, ["halve"], check=False) == [f"wrote {name}" for name in [*COMMITTED, source]]
    assert sorted(files_under(root)) == sorted([*before, *COMMITTED, source])
    exercise = catalog.load("halve", root)
    assert (root / COMMITTED[1]).read_text(encoding="utf-8") == student_notebook(exercise, URL)
    assert (root / source).read_text(encoding="utf-8") == source_notebook(exercise, URL)
    assert recorded.load(exercise) is not None

    written = files_under(root)
    assert release(root, [], check=True) == []
    assert release(root, [], check=False) == []
    assert files_under(root) == written

    (root / COMMITTED[1]).write_text(json.dumps({}))
    assert release(root, [], check=True) == [f"{COMMITTED[1]} is not current; run `autograder release halve`"]


def test_how_fast_the_machine_was_is_no_reason_to_record_again(tmp_path: Path) -> None:
    root = tiny_exercise.write(tmp_path, CONFIG)
    release(root, ["halve"], check=False)
    path = root / COMMITTED[0]
    data = json.loads(path.read_text(encoding="utf-8"))
    name, rows = next(iter(data["patterns"].items()))
    check, row = next((check, row) for check, row in rows.items() if set(row.split()) != {"."})
    stale = [f"{COMMITTED[0]} is not current; run `autograder release halve`"]
    for other, state in (("late", []), ("-", []), ("abcdef", stale)):
        data["patterns"][name] = {**rows, check: " ".join([other] * len(row.split()))}
        path.write_text(json.dumps(data), encoding="utf-8")
        assert release(root, ["halve"], check=True) == state
    data["patterns"][name] = rows
    data["expected"] = {}
    path.write_text(json.dumps(data), encoding="utf-8")
    assert release(root, ["halve"], check=True)


def test_a_starter_and_a_solution_that_do_not_fit_are_named(tmp_path: Path) -> None:
    root = tiny_exercise.write(tmp_path)
    (root / "exercises/halve/starter.py").write_text("def halve(x):\n    return None\n")
    with pytest.raises(CatalogError, match=r"starter\.py: halve: no function of starter\.py ends with `raise"):
        release(root, ["halve"], check=True)
