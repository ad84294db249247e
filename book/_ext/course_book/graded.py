"""The ``graded`` directive: statement, starter and hints out of an exercise's folder, and the way to its notebook."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx

from autograder import catalog, notebooks
from autograder.errors import CourseError
from autograder.models import Exercise
from autograder.notebook_cells import points
from course_book.blocks import Block
from course_book.element import Element, text

FOLDER = "notebooks"
"""Where the students' notebooks are in the site."""


class Graded(Block):
    """An exercise in the page: what is asked, what to start from, hints one by one, its notebook."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """Return the exercise's card."""
        slug = self.arguments[0].strip()
        try:
            exercise = catalog.load(slug, course_root(self.env.app))
        except CourseError as error:
            raise self.error(str(error)) from None
        for path in exercise.folder.rglob("*"):
            if path.suffix in (".md", ".py"):
                self.env.note_dependency(str(path))
        used = self.env.metadata[self.env.docname].setdefault("graded", [])
        used.append(slug)
        facts = {"data-exercise": slug}
        if solution := file_url(self.config.course_repository, self.config.course_branch, f"solutions/{slug}.py"):
            facts["data-solution"] = solution
        card = Element.of("section", class_="hp-graded", id=f"exercise-{slug}", aria_label=exercise.title, **facts)
        card += [self.head(exercise), self.statement(exercise), self.starter(exercise), *self.hints(exercise, 0)]
        return [card]

    def head(self, exercise: Exercise) -> Element:
        """Return the title, the points and the links."""
        kind = "Graded exercise · stretch" if exercise.stretch else "Graded exercise"
        label = f"{kind} · {len(exercise.checks)} checks · {points(exercise.max_score)}"
        folder = _up(self.env.docname)
        links: list[nodes.Node] = [
            Element.of(
                "a",
                text("Download the notebook"),
                class_="hp-button",
                href=f"{folder}{FOLDER}/{exercise.slug}.ipynb",
                download=f"{exercise.slug}.ipynb",
            )
        ]
        config = self.config
        if colab := colab_url(config.course_repository, config.course_branch, exercise.slug):
            links += [Element.of("a", text("Open in Colab"), class_="hp-button hp-second", href=colab, rel="noopener")]
        return Element.of(
            "div",
            Element.of("p", text(label), class_="hp-label"),
            Element.of("h3", text(exercise.title)),
            Element.of("div", *links, class_="hp-links"),
            Element.of("p", *self.inline(how(exercise, bool(colab))), class_="hp-how"),
            class_="hp-graded-head",
        )

    def statement(self, exercise: Exercise) -> Element:
        """Return the task, without its own first heading; its headings stay out of the page's outline."""
        body = self.parsed(re.sub(r"\A# .*\n", "", exercise.statement).splitlines())
        for rubric in list(body.findall(nodes.rubric)):
            rubric.replace_self(Element.of("h4", *rubric.children))
        return body

    def starter(self, exercise: Exercise) -> Element:
        """Return the starter's code, folded."""
        code = nodes.literal_block(exercise.starter, exercise.starter, language="python")
        summary = Element.of("summary", text("The starter, as it stands in the notebook"))
        return Element.of("details", summary, Element.of("div", code, class_="hp-body"), class_="hp-fold hp-starter")

    def hints(self, exercise: Exercise, number: int) -> list[Element]:
        """Return the hint of that number, folded, with those after it inside: each is offered by the one before."""
        if number == len(exercise.hints):
            return []
        summary = Element.of("summary", text(f"Hint {number + 1} of {len(exercise.hints)}"))
        body = self.parsed(exercise.hints[number].splitlines())
        return [Element.of("details", summary, body, *self.hints(exercise, number + 1), class_="hp-fold hp-hint")]


def how(exercise: Exercise, colab: bool) -> str:
    """Return where an exercise is answered when no script runs, as MyST; `colab`: whether the card links to Colab."""
    colab_words = "" if colab else " In Colab, choose *File → Upload notebook*."
    where = "" if "browser" in exercise.runs_on else "This one needs torch, and no browser has it. "
    return (
        f"{where}Write your answer in the notebook, and run its check cells whenever you like."
        f"{colab_words} From a terminal: `autograder check {exercise.slug}.ipynb`."
    )


def _up(docname: str) -> str:
    return "../" * docname.count("/")


def course_root(app: Sphinx) -> Path:
    """Return the folder with the exercises: what AUTOGRADER_COURSE names, else the one above the book."""
    return Path(os.environ.get(catalog.ROOT_VARIABLE) or Path(app.srcdir).parent)


def colab_url(repository: str, branch: str, slug: str) -> str:
    """Return the address that opens an exercise's notebook in Colab; "" where Colab cannot: it reads from GitHub."""
    parts = urlsplit(repository)
    if parts.hostname != "github.com" or parts.path.strip("/").count("/") != 1:
        return ""
    path = parts.path.strip("/").removesuffix(".git")
    return f"https://colab.research.google.com/github/{path}/blob/{branch}/exercises/{slug}/{slug}.ipynb"


def file_url(repository: str, branch: str, path: str) -> str:
    """Return the address at which a file of the repository is shown; "" where there is no such page."""
    between = {"github.com": "blob", "gitlab.com": "-/blob", "bitbucket.org": "src"}.get(
        urlsplit(repository).hostname or ""
    )
    return f"{repository.rstrip('/').removesuffix('.git')}/{between}/{branch}/{path}" if between else ""


def _write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    used = {slug for page in app.env.metadata.values() for slug in page.get("graded", [])}
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for slug in sorted(used):
        exercise = catalog.load(slug, course_root(app))
        notebook = notebooks.student_notebook(exercise, app.config.course_repository)
        (folder / f"{slug}.ipynb").write_text(notebook, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the directive and what it writes."""
    app.add_config_value("course_repository", "", "env", [str])
    app.add_config_value("course_branch", "main", "env", [str])
    app.add_directive("graded", Graded)
    app.connect("build-finished", _write_notebooks)
