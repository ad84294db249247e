"""Exercise folders: a good one is read whole, a fault is named with file, line and mend, versions tell marks apart."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder import catalog
from autograder.catalog import CatalogError, course_root, load, load_all, slugs
from autograder.errors import CourseError
from autograder.models import Exercise

STATEMENT = "exercises/double/statement.md"
STARTER = "exercises/double/starter.py"
CHECKS = "exercises/double/checks.py"
SQUARES = "exercises/double/wrong/squares.py"
ADDS = "exercises/double/right/adds.py"
SOLUTION = "solutions/double.py"


def edit(root: Path, name: str, old: str, new: str) -> None:
    """Replace the one place where a file holds a text."""
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{name} holds {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")


def refusal(root: Path) -> str:
    """Return the error's sentence, from the name of the course's folder on."""
    with pytest.raises(CatalogError) as caught:
        load("double", root)
    assert isinstance(caught.value, CourseError)
    text = str(caught.value)
    assert text.startswith(f"{root}/")
    return text.removeprefix(f"{root}/")


# --------------------------------------------------------------------------- a good one


def test_a_folder_is_read_whole(course: Path):
    exercise = load("double", course)
    assert (exercise.slug, exercise.title, exercise.entry) == ("double", "Double a tensor", "double")
    assert (exercise.teaches, exercise.practises, exercise.needs) == (("doubling",), (), ())
    assert (exercise.runs_on, exercise.forbids, exercise.seconds) == (("torch",), ("torch.add",), 5.0)
    assert exercise.statement.startswith("Write `double(x)`")
    assert "## Hints" not in exercise.statement
    assert exercise.hints == ("By two.", "An operator without an equals sign makes one.", "`x * ...`")
    assert [(check.id, check.points) for check in exercise.checks] == [("doubles", 2.0), ("leaves_x", 1.0)]
    assert exercise.max_score == 3.0
    assert exercise.check("leaves_x") is exercise.checks[1]
    assert set(exercise.misconceptions) == {"squares", "in_place"}
    assert [(a.name, a.caught_by, a.misconception, a.same_as) for a in exercise.wrong] == [
        ("in_place", "leaves_x", "in_place", ""),
        ("squares", "doubles", "squares", ""),
    ]
    assert [answer.name for answer in exercise.right] == ["adds"]
    assert exercise.starter == (course / STARTER).read_text()
    assert exercise.solution == (course / SOLUTION).read_text()
    with pytest.raises(KeyError):
        exercise.check("halves")


def test_all_exercises_of_a_course(course: Path):
    (course / "exercises/.hidden").mkdir()
    (course / "exercises/_draft").mkdir()
    (course / "exercises/README.md").write_text("not a folder")
    assert slugs(course) == ("double",)
    assert list(load_all(course)) == ["double"]


def test_generated_and_hidden_files_have_a_role(course: Path):
    for name in ("recorded.json", "double.ipynb", "oracle.py", ".DS_Store", "wrong/.squares.py.swp", "right/.x.py"):
        (course / "exercises/double" / name).write_text("")
    for name in ("__pycache__", "wrong/__pycache__", "right/.ipynb_checkpoints"):
        (course / "exercises/double" / name).mkdir()
    assert len(load("double", course).wrong) == 2


def test_an_exercise_is_a_stretch_only_where_it_says_so(course: Path):
    assert not load("double", course).stretch
    edit(course, STATEMENT, "seconds: 5", "seconds: 5\nstretch: true")
    assert load("double", course).stretch


def test_the_entry_may_have_another_name(course: Path):
    edit(course, STATEMENT, "seconds: 5", "seconds: 0.5\nentry: Doubler")
    for name in (STARTER, SOLUTION):
        edit(
            course, name, "def double(x: Tensor) -> Tensor:", "class Doubler:\n  def double(self, x: Tensor) -> Tensor:"
        )
    exercise = load("double", course)
    assert (exercise.entry, exercise.seconds) == ("Doubler", 0.5)


def test_two_wrong_answers_may_be_alike_with_a_reason(course: Path):
    text = (course / SQUARES).read_text()
    (course / "exercises/double/wrong/powers.py").write_text(
        text.replace("\n", "\n# like squares: by a power\n", 1).replace("x * x", "x ** 2")
    )
    (powers,) = (answer for answer in load("double", course).wrong if answer.name == "powers")
    assert (powers.misconception, powers.same_as) == ("squares", "by a power")


def test_a_wrong_answer_may_be_caught_by_what_is_forbidden(course: Path):
    edit(course, SQUARES, "# caught by doubles: squares", "# caught by forbids: squares")
    assert [answer.caught_by for answer in load("double", course).wrong] == ["leaves_x", "forbids"]


def test_reading_checks_leaves_no_module_behind(course: Path):
    before, argv = set(sys.modules), list(sys.argv)
    edit(course, CHECKS, "def drawn", "import colorsys as left_alone\n\ndef drawn")
    exercise = load("double", course)
    assert set(sys.modules) - before <= {"colorsys"}
    assert sys.argv == argv
    assert exercise.checks[0].random is not None
    other = exercise.folder / "checks.py"
    other.write_text(other.read_text().replace("8.0", "9.0"))
    assert load("double", course).checks[0].random is not exercise.checks[0].random  # read anew, not from a cache


# ------------------------------------------------------------------------------ faults


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda root: edit(root, name, old, new)


def written(name: str, text: str | bytes) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    return write


def removed(name: str) -> Callable[[Path], None]:
    def remove(root: Path) -> None:
        path = root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return remove


TASK = "Write `double(x)`: it returns a new tensor, twice `x`, and leaves `x` as it is."
MISSING = "the file is missing. Every exercise has one; see CONTRIBUTING.md."
FIELDS = "title, teaches, practises, needs, runs_on, forbids, seconds"
CASE = 'cases=(case("one element", x=f32(1.0)),),'

FAULTS = {
    "a file without a role": (written("exercises/double/notes.txt", ""),
        "exercises/double/notes.txt: this file has no role in an exercise folder. Remove or rename it."),
    "another notebook": (written("exercises/double/other.ipynb", ""),
        "exercises/double/other.ipynb: this file has no role in an exercise folder. Remove or rename it."),
    "no statement": (removed(STATEMENT), f"{STATEMENT}: {MISSING}"),
    "no starter": (removed(STARTER), f"{STARTER}: {MISSING}"),
    "no checks": (removed(CHECKS), f"{CHECKS}: {MISSING}"),
    "no solution": (removed(SOLUTION), f"{SOLUTION}: {MISSING}"),
    "not UTF-8": (written(STARTER, b"abc\xff"), f"{STARTER}: not UTF-8 at byte 3. Save it as UTF-8."),
    # front matter
    "no front matter": (written(STATEMENT, "Write it."),
        f"{STATEMENT}:1: no front matter. Begin with a line ---, the fields, and a second line ---."),
    "text before it": (replaced(STATEMENT, "---\ntitle", "\n---\ntitle"),
        f"{STATEMENT}:1: no front matter. Begin with a line ---, the fields, and a second line ---."),
    "not YAML": (replaced(STATEMENT, "needs: []", "needs: [}"),
        f"{STATEMENT}:5: the front matter is not YAML: expected the node content, but found '}}'. Mend that line."),
    "no fields": (written(STATEMENT, "---\njust a text\n---\nWrite it."),
        f"{STATEMENT}:2: the front matter holds no fields. Give {FIELDS}."),
    "a field too many": (replaced(STATEMENT, "seconds: 5", "seconds: 5\npoints: 3"),
        f"{STATEMENT}:9: unknown field 'points'. The fields are {FIELDS}, entry, stretch."),
    "no title": (replaced(STATEMENT, "title: Double a tensor", "title:"),
        f"{STATEMENT}:2: `title` is None. Give a text."),
    "a number as title": (replaced(STATEMENT, "Double a tensor", "7"), f"{STATEMENT}:2: `title` is 7. Give a text."),
    "an empty entry": (replaced(STATEMENT, "seconds: 5", "seconds: 5\nentry: ''"),
        f"{STATEMENT}:9: `entry` is ''. Give a text."),
    "a stretch that is no yes or no": (replaced(STATEMENT, "seconds: 5", "seconds: 5\nstretch: 1"),
        f"{STATEMENT}:9: `stretch` is 1. Write true, or leave the line out."),
    "a name, not a list": (replaced(STATEMENT, "[doubling]", "doubling"),
        f"{STATEMENT}:3: `teaches` is not a list of names. Write `teaches: [a, b]` or `[]`."),
    "a list of numbers": (replaced(STATEMENT, "[torch.add]", "[1]"),
        f"{STATEMENT}:7: `forbids` is not a list of names. Write `forbids: [a, b]` or `[]`."),
    "runs nowhere": (replaced(STATEMENT, "runs_on: [torch]", "runs_on: []"),
        f"{STATEMENT}:6: `runs_on` is []. Choose from torch, browser."),
    "runs elsewhere": (replaced(STATEMENT, "runs_on: [torch]", "runs_on: [torch, jax]"),
        f"{STATEMENT}:6: `runs_on` is ['torch', 'jax']. Choose from torch, browser."),
    "no time": (replaced(STATEMENT, "seconds: 5", "seconds: 0"),
        f"{STATEMENT}:8: `seconds` is 0. Give seconds above 0 and up to 3600."),
    "too much time": (replaced(STATEMENT, "seconds: 5", "seconds: 3601"),
        f"{STATEMENT}:8: `seconds` is 3601. Give seconds above 0 and up to 3600."),
    "endless time": (replaced(STATEMENT, "seconds: 5", "seconds: .nan"),
        f"{STATEMENT}:8: `seconds` is nan. Give seconds above 0 and up to 3600."),
    "a yes as time": (replaced(STATEMENT, "seconds: 5", "seconds: yes"),
        f"{STATEMENT}:8: `seconds` is True. Give seconds above 0 and up to 3600."),
    # statement
    "no task": (replaced(STATEMENT, TASK, ""),
        f"{STATEMENT}:1: the task is empty. Say after the front matter what is to be done."),
    "no hints": (replaced(STATEMENT, "## Hints", "## Help"),
        f"{STATEMENT}: 0 hints with text under `## Hints`. Give 3 or more, each under its own `### Hint`."),
    "two hints": (replaced(STATEMENT, "### Hint 3: nearly the code\n", ""),
        f"{STATEMENT}: 2 hints with text under `## Hints`. Give 3 or more, each under its own `### Hint`."),
    "an empty hint": (replaced(STATEMENT, "By two.\n", ""),
        f"{STATEMENT}: 2 hints with text under `## Hints`. Give 3 or more, each under its own `### Hint`."),
    # Python
    "a syntax error in the starter": (replaced(STARTER, "raise NotImplementedError", "raise = 1 #"),
        f"{STARTER}:6: syntax error: invalid syntax. Mend that line."),
    "a syntax error in the checks": (replaced(CHECKS, "CHECKS = (", "CHECKS = = ("),
        f"{CHECKS}:18: syntax error: invalid syntax. Mend that line."),
    "a syntax error in an answer": (replaced(SQUARES, "return x * x", "return x *"),
        f"{SQUARES}:3: syntax error: invalid syntax. Mend that line."),
    "a NUL": (written(SOLUTION, b"\0"),
        f"{SOLUTION}: syntax error: source code string cannot contain null bytes. Mend that line."),
    "another name in the starter": (replaced(STARTER, "def double(", "def duble("),
        f"{STARTER}: it does not define `double`. Define it, or set `entry:` in statement.md."),
    "another name in the solution": (replaced(SOLUTION, "def double(", "def duble("),
        f"{SOLUTION}: it does not define `double`. Define it, or set `entry:` in statement.md."),
    # checks
    "an exception": (replaced(CHECKS, "def drawn", "1 / 0\n\ndef drawn"),
        f"{CHECKS}:14: ZeroDivisionError on import: division by zero. Mend that line."),
    "an exception further in": (replaced(CHECKS, 'case("a negative one", x=f32(-3.0, 4.0))', "f32('a')"),
        f"{CHECKS}:22: ValueError on import: elements that are not numbers: ['a']. Mend that line."),
    "an exit": (replaced(CHECKS, "def drawn", "raise SystemExit(3)\n\ndef drawn"),
        f"{CHECKS}:14: SystemExit on import: 3. Mend that line."),
    "a list of checks": (replaced(CHECKS, "MISCONCEPTIONS = (", "CHECKS = [*CHECKS]\nMISCONCEPTIONS = ("),
        f"{CHECKS}: CHECKS is not a tuple of Check. Define CHECKS = (Check(...), ...)."),
    "no check": (replaced(CHECKS, "MISCONCEPTIONS = (", "CHECKS = ()\nMISCONCEPTIONS = ("),
        f"{CHECKS}: CHECKS is not a tuple of Check. Define CHECKS = (Check(...), ...)."),
    "something else among them": (replaced(CHECKS, "MISCONCEPTIONS = (", "CHECKS += (1,)\nMISCONCEPTIONS = ("),
        f"{CHECKS}: CHECKS is not a tuple of Check. Define CHECKS = (Check(...), ...)."),
    "no misconceptions": (replaced(CHECKS, "MISCONCEPTIONS = (", "BELIEFS = ("),
        f"{CHECKS}: MISCONCEPTIONS is not a tuple of Misconception. Define it, () if there is none."),
    "one of another kind": (replaced(CHECKS, "MISCONCEPTIONS = (", "MISCONCEPTIONS = ('squares',"),
        f"{CHECKS}: MISCONCEPTIONS is not a tuple of Misconception. Define it, () if there is none."),
    "two checks of one id": (replaced(CHECKS, 'id="leaves_x"', 'id="doubles"'),
        f"{CHECKS}: two checks are named 'doubles'. Rename one."),
    "two beliefs of one id": (replaced(CHECKS, 'Misconception("in_place"', 'Misconception("squares"'),
        f"{CHECKS}: two misconceptions are named 'squares'. Rename one."),
    "two cases of one name": (replaced(CHECKS, '"a negative one"', '"one element"'),
        f"{CHECKS}: two cases of check 'doubles' are named 'one element'. Rename one."),
    "an id with a dash": (replaced(CHECKS, 'id="leaves_x"', 'id="leaves-x"'),
        f"{CHECKS}: check id 'leaves-x'. Use lower-case letters, digits and _; not `forbids`."),
    "an id that is taken": (replaced(CHECKS, 'id="leaves_x"', 'id="forbids"'),
        f"{CHECKS}: check id 'forbids'. Use lower-case letters, digits and _; not `forbids`."),
    "an id that is no text": (replaced(CHECKS, 'id="leaves_x"', "id=3"),
        f"{CHECKS}: check id 3. Use lower-case letters, digits and _; not `forbids`."),
    "points as an int": (replaced(CHECKS, "points=1.0", "points=1"),
        f"{CHECKS}: check 'leaves_x' has points 1. Give a float above 0, like 1.0."),
    "no points": (replaced(CHECKS, "points=1.0", "points=0.0"),
        f"{CHECKS}: check 'leaves_x' has points 0.0. Give a float above 0, like 1.0."),
    "too many points": (replaced(CHECKS, "points=1.0", "points=101.0"),
        f"{CHECKS}: check 'leaves_x' has points 101.0. Give a float above 0, like 1.0."),
    "no cases": (replaced(CHECKS, CASE, "cases=(),"),
        f"{CHECKS}: check 'leaves_x' has no cases. Give at least one case(...)."),
    "a case without calls": (replaced(CHECKS, CASE, "cases=(__import__('autograder').models.Case('none', ()),),"),
        f"{CHECKS}: check 'leaves_x' has no cases. Give at least one case(...)."),
    "an unknown scenario": (replaced(CHECKS, CASE, f"{CASE} scenario='train',"),
        f"{CHECKS}: check 'leaves_x' names scenario 'train'. There are: call, kept, overwritten, each."),
    "no rule": (replaced(CHECKS, 'rule="x belongs to the caller."', 'rule=" "'),
        f"{CHECKS}: check 'leaves_x' has no text as its rule. A student reads it: write it."),
    "no title of a check": (replaced(CHECKS, 'title="Leaves x as it is"', 'title=""'),
        f"{CHECKS}: check 'leaves_x' has no text as its title. A student reads it: write it."),
    "a section that is no text": (replaced(CHECKS, '"book/01.html#b"', "7"),
        f"{CHECKS}: misconception 'in_place' has no text as its see. A student reads it: write it."),
    "no truth": (replaced(CHECKS, '"The caller does."', '""'),
        f"{CHECKS}: misconception 'in_place' has no text as its truth. A student reads it: write it."),
    # answers
    "no wrong answers": (removed("exercises/double/wrong"),
        "exercises/double/wrong: the folder is missing. Every exercise ships answers to prove its checks with."),
    "no right answers": (removed("exercises/double/right"),
        "exercises/double/right: the folder is missing. Every exercise ships answers to prove its checks with."),
    "not a Python file": (written("exercises/double/right/notes.md", ""),
        "exercises/double/right/notes.md: not a Python file. Remove it."),
    "a folder among the answers": (lambda root: (root / "exercises/double/wrong/old").mkdir(),
        "exercises/double/wrong/old: not a Python file. Remove it."),
    "no first line": (replaced(SQUARES, "# caught by doubles: squares\n", ""),
        f"{SQUARES}:1: the first line names no check. Write `# caught by <check>: <misconception>`."),
    "an empty answer": (written(SQUARES, ""),
        f"{SQUARES}:1: the first line names no check. Write `# caught by <check>: <misconception>`."),
    "an unknown check": (replaced(SQUARES, "by doubles", "by halves"),
        f"{SQUARES}:1: there is no check 'halves'. There are: doubles, forbids, leaves_x."),
    "an unknown belief": (replaced(SQUARES, "doubles: squares", "doubles: cubes"),
        f"{SQUARES}:1: there is no misconception 'cubes'. Add it to MISCONCEPTIONS."),
    "alike without a reason": (replaced(SQUARES, "squares\n", "squares\n# like in_place\n"),
        f"{SQUARES}:2: the second line gives no reason. Write `# like <other>: <why both are here>`."),
    "like nothing": (replaced(SQUARES, "squares\n", "squares\n# like cubes: a power\n"),
        f"{SQUARES}:2: there is no other wrong answer 'cubes'. Name the one that it is like."),
    "like itself": (replaced(SQUARES, "squares\n", "squares\n# like squares: it is\n"),
        f"{SQUARES}:2: there is no other wrong answer 'squares'. Name the one that it is like."),
    "an unused belief": (removed(SQUARES),
        "exercises/double/wrong: no wrong answer shows 'squares'. Add one, or remove the misconception."),
    "no way of building": (replaced(ADDS, "# right: adds x to itself\n", ""),
        f"{ADDS}:1: the first line does not say how it is built. Write `# right: <how>`."),
    "an empty right answer": (written(ADDS, ""),
        f"{ADDS}:1: the first line does not say how it is built. Write `# right: <how>`."),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_file_line_and_mend(course: Path, fault: str):
    make, sentence = FAULTS[fault]
    make(course)
    assert refusal(course) == sentence


@pytest.mark.parametrize("field", FIELDS.split(", "))
def test_a_missing_field_is_named(course: Path, field: str):
    path = course / STATEMENT
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(f"{field}:")))
    assert refusal(course) == f"{STATEMENT}:1: the field {field!r} is missing. Add a line `{field}: ...`."


def test_an_unknown_exercise_is_answered_with_those_there_are(course: Path):
    with pytest.raises(CatalogError, match=r"triple: there is no exercise 'triple'\. There are: double\.$"):
        load("triple", course)


def test_a_folder_with_an_illegal_name_is_refused(course: Path):
    (course / "exercises/double").rename(course / "exercises/Double-2")
    with pytest.raises(CatalogError, match=r"'Double-2' is not a legal slug\. Use lower-case letters, digits and _\.$"):
        load_all(course)


def test_a_course_without_exercises_is_said_to_be_none(tmp_path: Path):
    with pytest.raises(
        CatalogError, match=r"exercises: there is no such folder\. Run this inside the course, or set A"
    ):
        slugs(tmp_path)


# ----------------------------------------------------------------------------- version


def version(root: Path) -> str:
    return load("double", root).version


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (STATEMENT, "seconds: 5", "seconds: 6"), (STATEMENT, "forbids: [torch.add]", "forbids: []"),
        (STARTER, "Return twice x", "Return x twice"), (SOLUTION, "x * 2", "2 * x"),
        (CHECKS, "points=1.0", "points=1.5"),
        (CHECKS, "f32(-3.0, 4.0)", "f32(-3.0, 5.0)"),
    ],
)  # fmt: skip
def test_what_can_change_a_mark_changes_the_version(course: Path, name: str, old: str, new: str):
    before = version(course)
    edit(course, name, old, new)
    assert version(course) != before
    edit(course, name, new, old)
    assert version(course) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (STATEMENT, "By two.", "By 2."), (STATEMENT, "Write `double(x)`", "Define `double(x)`"),
        (SQUARES, "x * x", "x ** 2"), (ADDS, "x + x", "2.0 * x"),
    ],
)  # fmt: skip
def test_what_cannot_leaves_it(course: Path, name: str, old: str, new: str):
    before = version(course)
    edit(course, name, old, new)
    (course / "exercises/double/oracle.py").write_text("")
    (course / "exercises/double/recorded.json").write_text("{}")
    assert version(course) == before


def test_the_version_does_not_depend_on_where_or_on_line_endings(course: Path, tmp_path: Path):
    other = shutil.copytree(course, tmp_path / "other place")
    for path in other.rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert version(other) == version(course)


def test_parts_cannot_run_into_each_other():
    assert catalog.version_of("ab", "c") != catalog.version_of("a", "bc")


# -------------------------------------------------------------------------------- root


def test_the_course_is_found_in_this_order(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = Path(catalog.__file__).parent
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "exercises").mkdir(parents=True)  # no course: there are no solutions
    monkeypatch.delenv(catalog.ROOT_VARIABLE, raising=False)
    monkeypatch.chdir(elsewhere)
    assert course_root() == package.parent
    monkeypatch.chdir(course / "exercises/double/wrong")
    assert course_root() == course
    inner = course / "exercises/double"
    for name in ("exercises", "solutions"):
        (inner / name).mkdir()
    assert course_root() == inner  # the nearest
    monkeypatch.setenv(catalog.ROOT_VARIABLE, str(elsewhere))
    assert course_root() == elsewhere
    monkeypatch.setenv(catalog.ROOT_VARIABLE, "")
    assert course_root() == inner


def test_an_installed_package_brings_its_own_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "site-packages/autograder"
    for name in ("exercises", "solutions"):
        (package / "_course" / name).mkdir(parents=True)
    monkeypatch.setattr(catalog, "__file__", str(package / "catalog.py"))
    monkeypatch.delenv(catalog.ROOT_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert course_root() == package / "_course"
    shutil.rmtree(package)
    assert course_root() == tmp_path  # none anywhere: errors name the working folder


def test_the_course_in_the_environment_is_the_default(course: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(catalog.ROOT_VARIABLE, str(course))
    assert slugs() == ("double",)
    assert isinstance(load_all()["double"], Exercise)
