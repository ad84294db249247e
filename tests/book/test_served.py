"""What `make run` serves beside the book: the class report and the feedback pages, with their way into the book."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup
from test_site import Visit, visit

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("bubblewrap")]


@pytest.fixture(scope="module")
def course(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grade the sample class as `make run` does, with the built book beside it."""
    out = tmp_path_factory.mktemp("course")
    command = [
        sys.executable,
        "-m",
        "autograder",
        "grade",
        "examples/submissions",
        "--out",
        str(out),
        "--book",
        "book/",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr  # two submissions are damaged on purpose
    (out / "book").symlink_to(site)
    return out


@pytest.fixture(scope="module")
def served(course: Path) -> Iterator[str]:
    """Serve it with the script that `make run` uses, and return the address."""
    command = [sys.executable, str(ROOT / "scripts/serve.py"), str(course), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[1]
        yield address
        process.terminate()


@pytest.fixture(scope="module")
def visits(browser: Any, served: str) -> dict[str, Visit]:
    """Open the report and every page that it links to, but for the book's, which are crawled elsewhere."""
    seen: dict[str, Visit] = {}
    waiting = ["report/"]
    while waiting:
        url = waiting.pop()
        if url in seen:
            continue
        seen[url] = visit(browser, served, url)
        inside = {urldefrag(link).url.removeprefix(served) for link in seen[url].links if link.startswith(served)}
        waiting += sorted(link for link in inside if link.startswith(("report/", "feedback/")))
    return seen


def test_every_student_is_reached_from_the_report(visits: dict[str, Visit]) -> None:
    students = {unquote(url).split("/")[1] for url in visits if url.startswith("feedback/")}
    assert students == set(os.listdir(ROOT / "examples/submissions"))
    assert {url: seen.status for url, seen in visits.items() if seen.status != 200} == {}


def test_no_page_reports_an_error_or_asks_another_site(visits: dict[str, Visit]) -> None:
    for url, seen in visits.items():
        assert (url, seen.errors, seen.failed, seen.off_site) == (url, [], [], [])


def test_every_link_leads_somewhere(visits: dict[str, Visit], served: str, course: Path) -> None:
    missing, ids = [], {url: seen.ids for url, seen in visits.items()}
    into_the_book = 0
    for url, seen in visits.items():
        for link in {link for link in seen.links if link.startswith(served)}:
            target, anchor = urldefrag(link.removeprefix(served))
            if target.startswith("book/") and target not in ids and (page := course / unquote(target)).is_file():
                soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
                ids[target] = {element["id"] for element in soup.find_all(id=True)}
            into_the_book += target.startswith("book/")
            if anchor not in {"", *ids.get(target, ())} or target not in ids:
                missing.append(f"{url} -> {target}#{anchor}")
    assert missing == []
    assert into_the_book > 20
