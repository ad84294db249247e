"""What a page's worker unpacks: the judge and nothing more, whose every import the standard library has."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import catalog
from autograder.browser import archive
from autograder.browser import course as page_course
from autograder.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]
HOOK = """
import sys

class Refused:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "yaml", "rich", "jinja2", "markdown_it", "IPython"):
            raise ModuleNotFoundError(name)  # whatever this machine has installed

sys.meta_path.insert(0, Refused)
sys.path[:] = [sys.argv[1], *(path for path in sys.path if "site-packages" not in path)]
import json
import torch
from autograder.browser import judge
answers = json.loads(sys.stdin.read())
for slug, source in answers.items():
    record = judge.grade(slug, source)
    print(json.dumps([slug, record["status"], record["score"] == record["max_score"]]))
roots = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([torch.__file__, sorted(roots - set(sys.stdlib_module_names) - {"autograder", "torch", "__main__"})]))
"""


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return archive.contents(ROOT)


@pytest.fixture(scope="module")
def unpacked(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    (folder / "course.zip").write_bytes(archive.packed(files))
    with zipfile.ZipFile(folder / "course.zip") as zipped:
        zipped.extractall(folder)
    return folder


def test_judging_in_the_page_imports_the_standard_library_alone(unpacked: Path) -> None:
    solutions = {slug: catalog.load(slug, ROOT).solution for slug in archive.slugs(ROOT)}
    command = [sys.executable, "-I", "-S", "-c", HOOK, str(unpacked)]
    run = subprocess.run(command, input=json.dumps(solutions), capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    *graded, (torch, foreign) = map(json.loads, run.stdout.splitlines())
    assert graded == [[slug, "graded", True] for slug in solutions]
    assert Path(torch).parent == unpacked / "torch"
    assert foreign == []


def test_the_archive_holds_what_judging_needs_and_no_answer(files: dict[str, bytes]) -> None:
    slugs = archive.slugs(ROOT)
    assert {"grad_scaler_step", "dynamic_loss_scale"} <= set(slugs)
    names = {name for name in files if name.startswith("exercises/")}
    assert names == {f"exercises/{s}/{n}" for s in slugs for n in ("checks.py", "exercise.json", "recorded.json")}
    assert {name.partition("/")[0] for name in files} == {"autograder", "exercises", "torch"}
    everything = b"\0".join(files.values())
    for slug in slugs:
        exercise = catalog.load(slug, ROOT)
        sources = [exercise.solution, *(answer.source for answer in (*exercise.wrong, *exercise.right))]
        assert not [source for source in sources if source.encode() in everything]
    assert "autograder/catalog.py" not in files  # the reader of folders needs YAML


def test_the_same_course_gives_the_same_bytes(files: dict[str, bytes]) -> None:
    again = archive.contents(ROOT)
    assert archive.packed(files) == archive.packed(again)
    assert archive.digest(files) == archive.digest(again)
    changed = {**files, "torch/dtypes.py": files["torch/dtypes.py"] + b"\n"}
    assert archive.digest(changed) != archive.digest(files)


def test_an_exercise_is_the_same_after_the_way_to_the_page(unpacked: Path) -> None:
    for slug in archive.slugs(ROOT):
        there, here = page_course.load(slug, unpacked), catalog.load(slug, ROOT)
        for name in ("slug", "title", "entry", "starter", "version", "forbids", "hints", "seconds", "misconceptions"):
            assert getattr(there, name) == getattr(here, name), (slug, name)
        assert [check.id for check in there.checks] == [check.id for check in here.checks]
        assert [(answer.name, answer.caught_by, answer.misconception) for answer in there.wrong] == [
            (answer.name, answer.caught_by, answer.misconception) for answer in here.wrong
        ]
    with pytest.raises(LookupError, match=r"'nothing' cannot be solved in the page; what can is decode_float16, "):
        page_course.load("nothing", unpacked)


def test_what_is_recorded_must_be_current(course: Path) -> None:
    statement = course / "exercises/double/statement.md"
    statement.write_text(statement.read_text().replace("runs_on: [torch]", "runs_on: [torch, browser]"))
    assert archive.slugs(course) == ("double",)
    with pytest.raises(CourseError, match=r"recorded\.json is not current.*autograder release double"):
        archive.contents(course)
