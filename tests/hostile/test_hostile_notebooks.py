"""Tricks of the notebook itself: graded cells, points, ids, kernels, outputs, attachments."""

from __future__ import annotations

import pytest
from attack import FULL, HONEST, STEP, cell_with, code, in_notebook
from verdicts import (  # noqa: F401
    test_an_honest_submission_right_after_it_earns_full_marks,
    test_it_earns_what_its_honest_part_does_and_the_reason_is_said,
    test_nothing_secret_and_no_control_character_is_in_what_was_written,
    test_the_host_is_as_it_was,
)

pytestmark = pytest.mark.needs("bubblewrap")

from typing import Any

from arena import Fight

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CHECK_IDS = [check.id for check in STEP.checks]
ANSWER = f"{STEP.slug}_solution"
Notebook = dict[str, Any]


def checks_pass(notebook: Notebook) -> None:
    for name in CHECK_IDS:
        cell_with(notebook, name)["source"] = "pass"


def checks_hold_the_answer(notebook: Notebook) -> None:
    for name in CHECK_IDS:
        cell_with(notebook, name)["source"] = HONEST


def many_points(notebook: Notebook) -> None:
    for name in CHECK_IDS:
        cell_with(notebook, name)["metadata"]["nbgrader"].update(points=10**6, schema_version=99, checksum="0" * 32)
    cell_with(notebook, ANSWER)["metadata"]["nbgrader"].update(points=10**6, grade=True)


def negative_and_odd_points(notebook: Notebook) -> None:
    for name, points in zip(
        CHECK_IDS, (-1, float("inf"), "ten", None, [], {}, True, 1e308, -0.0, 10**30), strict=False
    ):
        cell_with(notebook, name)["metadata"]["nbgrader"]["points"] = points


def no_checks(notebook: Notebook) -> None:
    notebook["cells"] = [c for c in notebook["cells"] if not c["metadata"].get("nbgrader", {}).get("grade")]


def checks_twice(notebook: Notebook) -> None:
    notebook["cells"] += [cell_with(notebook, name) for name in CHECK_IDS] * 3


def every_cell_is_an_answer(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"] = {"grade_id": ANSWER, "solution": True, "grade": True, "locked": False}


def the_answer_is_a_check(notebook: Notebook) -> None:
    cell_with(notebook, ANSWER)["metadata"]["nbgrader"].update(grade=True, solution=False, points=10)


def ids_that_are_paths(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"../../../../escaped-{number}"
        if "nbgrader" in cell["metadata"] and number % 2:
            cell["metadata"]["nbgrader"]["grade_id"] = f"/etc/passwd\0../{number}"


def ids_that_are_odd(notebook: Notebook) -> None:
    for cell, name in zip(
        notebook["cells"], (None, 7, [], {}, "x" * 10**5, "\ud800", "'; DROP TABLE grade; --"), strict=False
    ):
        cell["id"] = name
        cell["metadata"]["nbgrader"] = {"grade_id": name, "grade": False, "solution": False}


def another_kernel(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {
        "name": "../../evil",
        "argv": ["/bin/sh", "-c", "touch @HOME@/x"],
        "language": "sh",
    }
    notebook["metadata"]["language_info"] = {"name": "ruby", "nbconvert_exporter": "os.system", "file_extension": ".sh"}


def widgets(notebook: Notebook) -> None:
    state = {"a": {"model_name": "HTMLModel", "state": {"value": SCRIPT}}}
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": state}}


def outputs_of_html(notebook: Notebook) -> None:
    data = {
        "text/html": SCRIPT,
        "application/javascript": "alert(1)",
        "image/svg+xml": f"<svg onload='alert(1)'>{SCRIPT}</svg>",
    }
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]


def outputs_that_say_passed(notebook: Notebook) -> None:
    for name in CHECK_IDS:
        text = "✓ passed (1 point)\n10 of 10 points\n"
        cell_with(notebook, name).update(
            outputs=[{"output_type": "stream", "name": "stdout", "text": text}], execution_count=1
        )


def attachments(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["attachments"] = {"../../../../escaped.png": {"image/png": "aGk="}, "x.svg": {"image/svg+xml": SCRIPT}}


def text_of_html(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = SCRIPT + "\n![x](http://192.0.2.1/pixel)\n```\n" + SCRIPT + "\n````text\n"


def another_exercise(notebook: Notebook) -> None:
    notebook["metadata"]["half_precision"] = {"exercise": "../dynamic_loss_scale", "version": "0", "max_score": 10**6}


def magics(notebook: Notebook) -> None:
    lines = (
        "!touch @HOME@/x",
        "%%bash\ntouch @HOME@/x",
        "%run @CWD@/canary.txt",
        "%load_ext x",
        "%%writefile /scratch/x\nx",
        "%env LEFT=1",
        "%cd /",
        "!!id",
        "x = !id",
        "%%html\n" + SCRIPT,
        "%%javascript\nalert(1)",
        "%pip install x",
        "%%sh\nid",
    )
    notebook["cells"][:0] = [code(line) for line in lines]


def tags(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"].update(
            tags=["skip-execution", "remove_cell", "raises-exception"], editable=True, deletable=True
        )


def hundreds_of_cells(notebook: Notebook) -> None:
    notebook["cells"][:0] = [code(f"raise ValueError({number})") for number in range(300)]


def a_version_of_its_own(notebook: Notebook) -> None:
    notebook.update(nbformat=10**30, nbformat_minor="five", __proto__={}, cells_=[], score=10)


def a_name_that_is_taken(notebook: Notebook) -> None:
    notebook["cells"].append(code("grad_scaler_step = lambda *a, **k: None"))


ATTACKS = (
    in_notebook("checks that pass", checks_pass),
    in_notebook("checks that hold the answer", checks_hold_the_answer),
    in_notebook("a million points a check", many_points),
    in_notebook("points that are no numbers", negative_and_odd_points),
    in_notebook("no checks", no_checks),
    in_notebook("no checks, honestly answered", no_checks, answer=HONEST, earns=FULL, statuses="passed"),
    in_notebook("each check four times", checks_twice),
    in_notebook("every cell is an answer", every_cell_is_an_answer),
    in_notebook(
        "the answer is marked as a check",
        the_answer_is_a_check,
        answer=HONEST,
        statuses="not_run",
        says="untouched",
        status="not_started",
    ),
    in_notebook("ids that are paths", ids_that_are_paths),
    in_notebook("ids that are odd", ids_that_are_odd, answer=HONEST, earns=FULL, statuses="passed"),
    in_notebook("another kernel", another_kernel),
    in_notebook("widgets", widgets),
    in_notebook("outputs of HTML and JavaScript", outputs_of_html),
    in_notebook("outputs that say passed", outputs_that_say_passed),
    in_notebook("attachments", attachments),
    in_notebook("text of HTML", text_of_html, answer=HONEST, earns=FULL, statuses="passed"),
    in_notebook("another exercise's name", another_exercise),
    in_notebook("magics and commands", magics, answer=HONEST, earns=FULL, statuses="passed"),
    in_notebook("tags", tags),
    in_notebook("hundreds of cells that raise", hundreds_of_cells, answer=HONEST, earns=FULL, statuses="passed"),
    in_notebook("a version of its own", a_version_of_its_own),
    in_notebook("a right answer, overwritten", a_name_that_is_taken, answer=HONEST),
)


def test_no_markup_of_theirs_is_in_what_an_instructors_browser_renders(fought: Fight) -> None:
    pages = [*fought.out.rglob("*.html"), *fought.out.rglob("*.ipynb")]
    assert len(pages) > 2 * len(ATTACKS)
    for page in fought.out.rglob("*.html"):
        assert "<script>alert" not in page.read_text(encoding="utf-8"), page
        assert "<img src=x" not in page.read_text(encoding="utf-8"), page
    for notebook in fought.out.rglob("*.ipynb"):
        text = notebook.read_text(encoding="utf-8")
        for name in ("attachments", "widget-state", "text/html", "application/javascript", "image/svg", "argv", "ruby"):
            assert f'"{name}' not in text, (notebook, name)


def test_no_file_is_written_elsewhere(fought: Fight) -> None:
    assert not list(fought.out.parent.parent.rglob("*escaped*"))
