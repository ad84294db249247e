"""What the built site holds for pages that run Python: named by content, told to the page, run by real Chromium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from course_book import solve

from autograder import catalog
from autograder.browser import archive

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = {"pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "NOTICE.txt"}
RUN = """
([address, slug, sources]) => new Promise((resolve, reject) => {
  const worker = new Worker(new URL(address, document.baseURI), { type: "module" });
  const heard = [];
  worker.addEventListener("error", (event) => reject(new Error(event.message)));
  worker.addEventListener("message", ({ data }) => {
    heard.push(data);
    if (data.type === "died") resolve(heard);
    if (data.type === "ready") sources.forEach((source, id) => worker.postMessage({ id, slug, source }));
    if (data.type === "graded" && data.id === sources.length - 1) { worker.terminate(); resolve(heard); }
  });
})
"""


def told(page: Path) -> dict[str, Any] | None:
    """Return what a built page is told about Python; None where it is told nothing."""
    found = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select("script#hp-solve")
    assert len(found) < 2
    if not found:
        return None
    assert found[0]["type"] == "application/json"
    return dict(json.loads(found[0].get_text()))


def test_both_folders_are_in_the_site_once_and_whole(site: Path) -> None:
    pyodide, course = (list((site / "_static").glob(f"{name}-*")) for name in ("pyodide", "solve"))
    assert [len(pyodide), len(course)] == [1, 1]
    assert {path.name for path in pyodide[0].iterdir()} == PYODIDE
    assert {path.name for path in course[0].iterdir()} == {"worker.mjs", "python.mjs", "course.zip"}
    version = json.loads((ROOT / "book/assets/package.json").read_text())["dependencies"]["pyodide"]
    assert pyodide[0].name.startswith(f"pyodide-{version}-")
    assert json.loads((pyodide[0] / "pyodide-lock.json").read_text())["packages"] == {}
    assert f"Pyodide {version}" in (pyodide[0] / "NOTICE.txt").read_text()


def test_a_page_is_told_where_python_is_if_it_has_an_exercise_for_it(site: Path) -> None:
    able, seen = archive.slugs(ROOT), set()
    for page in site.glob("*.html"):
        cards = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select("section.hp-graded")
        here = [str(card["id"]).removeprefix("exercise-") for card in cards]
        expected = [slug for slug in here if slug in able]
        said = told(page)
        assert (said or {"exercises": []})["exercises"] == expected, page.name
        if said is not None:
            address, _, query = said["worker"].partition("?pyodide=")
            assert (page.parent / address).is_file()
            assert ((page.parent / address).parent / query / "pyodide.mjs").is_file()
        seen |= set(expected)
    assert "grad_scaler_step" in seen


def test_writing_again_changes_nothing_and_removes_what_is_older(site: Path, tmp_path: Path) -> None:
    (tmp_path / "solve-00000000").mkdir()
    (tmp_path / "pyodide-0.1-00000000").mkdir()
    places = solve.write(ROOT, tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert {path.name for path in tmp_path.iterdir()} == {places.pyodide, places.solve}
    assert solve.write(ROOT, tmp_path) == places
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times
    assert places.worker("../").startswith(f"../_static/{places.solve}/worker.mjs?pyodide=../{places.pyodide}/")


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("slug", ["grad_scaler_step", "dynamic_loss_scale"])
def test_a_browsers_worker_grades(site: Path, address: str, browser: Any, slug: str) -> None:
    page_file = next(
        page for page in sorted(site.glob("*.html")) if slug in (told(page) or {"exercises": []})["exercises"]
    )
    said = told(page_file)
    assert said is not None
    exercise = catalog.load(slug, ROOT)
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address + page_file.name)
    assert not [url for url in asked if "pyodide" in url or "course.zip" in url]  # nothing before it is wanted
    renamed = exercise.solution.replace(f"def {exercise.entry}(", "def other(")
    heard = page.evaluate(RUN, [said["worker"], slug, [exercise.starter, exercise.solution, renamed]])
    page.close()
    assert [message["stage"] for message in heard if message["type"] == "loading"] == ["python", "course", "judge"]
    started = [message for message in heard if message["type"] == "started"]
    assert [(message["id"], message["seconds"]) for message in started] == [(n, exercise.seconds) for n in range(3)]
    tried = [message for message in heard if message["type"] == "trying" and message["id"] == 1]
    assert list(dict.fromkeys(message["check"] for message in tried)) == ["", *(check.id for check in exercise.checks)]
    assert {(message["of"], message["allowed"]) for message in tried} == {(len(exercise.checks), exercise.seconds / 2)}
    records = [message["record"] for message in heard if message["type"] == "graded"]
    assert [record["status"] for record in records] == ["not_started", "graded", "graded"]
    assert records[1]["score"] == exercise.max_score
    assert records[2]["score"] == 0
    assert f"here is no `{exercise.entry}`" in records[2]["reason"]
    assert all(url.startswith(address) for url in asked)
