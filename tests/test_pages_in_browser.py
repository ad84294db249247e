"""Feedback pages and the class report in a browser, with a payload in every field that a student can fill."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from autograder import catalog
from autograder.models import Cell, CheckResult, Reference, Score
from autograder.report.classroom import class_page
from autograder.report.html import feedback_page
from autograder.report.rows import row_of

pytestmark = pytest.mark.needs("chromium")
EXERCISE: Final = catalog.load("grad_scaler_step")
PAYLOADS: Final = (
    "<script>window.hit = 1</script>",
    "<img src=x onerror=\"window.hit = 1\"><svg onload='window.hit = 1'>",
    "\"'><style>* { display: none }</style><base href='https://evil.test/'>",
    "</code></pre></style></title></script><iframe src=https://evil.test></iframe>",
    "<meta http-equiv=refresh content='0;url=https://evil.test/'>",
    "[a](javascript:window.hit=1) <a href='javascript:window.hit=1'>a</a> ![](https://evil.test/x.png)",
    "{{ 7 * 191 }}{% raw %}${7 * 191} `<b>` &lt;b&gt; \u202e\u0000\x1b]8;;https://evil.test\x07",
    "<details open ontoggle='window.hit=1'><form action=https://evil.test><button formaction=https://evil.test>",
    "<link rel=stylesheet href=https://evil.test/x.css><div style='background:url(https://evil.test/x)'>",
    "' onmouseover='window.hit=1' x='",
)
SEEN: Final = """() => ({
    hit: window.hit === undefined,
    foreign: [...document.querySelectorAll(
        'script, iframe, img, form, button, base, link, object, embed, [style], [onerror], [onload], [onmouseover]'
    )].map(e => e.outerHTML.slice(0, 80)),
    styles: document.querySelectorAll('style').length,
    refresh: document.querySelectorAll('meta[http-equiv=refresh]').length,
    links: [...document.querySelectorAll('a')].map(a => a.getAttribute('href')),
    shown: getComputedStyle(document.querySelector('h1')).display,
    text: document.body.innerText + document.title,
})"""


def submission(payload: str) -> tuple[Score, tuple[Cell, ...]]:
    """Return a score and code with the payload in every place that is not the course's own."""
    check = EXERCISE.checks[0]
    failed = CheckResult(
        id=check.id, title=check.title, status="failed", points=1.0, earned=0.0, message=payload, difference=payload,
        returned=payload, expected="(None, 512.0)", call=payload, case=payload, see=check.see, rule=check.rule,
    )  # fmt: skip
    score = Score(
        student=payload, exercise=EXERCISE.slug, status="graded", score=0.0, max_score=10.0, seed_id=payload,
        checks=(failed, replace(failed, id=EXERCISE.checks[1].id, status="error")), output=payload, notes=(payload,),
        reason=payload,
        path=payload, content_hash=payload, version=payload, grader=payload, duration_s=3.0,
        reference=Reference("torch.amp.GradScaler", "cpu", payload), sandbox=(payload,),
    )  # fmt: skip
    return score, (Cell(1, payload), Cell(2, f"def f():\n    return '''{payload}'''\n"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a feedback page a payload, and one class report with all of them."""
    written = tmp_path_factory.mktemp("pages")
    submissions = [submission(payload) for payload in PAYLOADS]
    for number, (score, cells) in enumerate(submissions):
        page = feedback_page(score, EXERCISE, cells, book_url="../book/")
        (written / f"{number}.html").write_text(page, encoding="utf-8", errors="surrogateescape")
    scores = [score for score, _ in submissions]
    scores += [
        replace(score, status="unreadable", score=None, checks=(), student=f"2{score.student}") for score in scores
    ]
    numbers = {score.student: number for number, score in enumerate(scores)}
    report = class_page(
        map(row_of, scores), {EXERCISE.slug: EXERCISE}, address=lambda row: f"{numbers[row.student]}.html"
    )
    (written / "report.html").write_text("".join(report), encoding="utf-8")
    return written


@pytest.fixture
def asked(browser: Any) -> Iterator[tuple[Any, list[str]]]:
    """Return a page, and a list that collects what must not be: dialogs, errors, requests to anywhere."""
    context = browser.new_context()
    page, events = context.new_page(), []
    page.on("dialog", lambda dialog: (events.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("console", lambda message: events.append(f"console {message.text}"))
    page.on("pageerror", lambda error: events.append(f"error {error}"))
    page.on("request", lambda request: events.append(request.url) if not request.url.startswith("file:") else None)
    yield page, events
    context.close()


@pytest.mark.parametrize("name", [*map(str, range(len(PAYLOADS))), "report"])
def test_nothing_of_a_payload_comes_to_life(asked: tuple[Any, list[str]], folder: Path, name: str) -> None:
    page, events = asked
    page.goto((folder / f"{name}.html").as_uri())
    for fold in page.query_selector_all("summary"):
        fold.click()
    page.hover("h1")
    seen = page.evaluate(SEEN)
    assert seen["foreign"] == []
    assert (seen["hit"], seen["styles"], seen["refresh"]) == (True, 1, 0)
    assert seen["shown"] != "none"
    assert not [link for link in seen["links"] if not link.startswith(("#", "../book/", *"0123456789"))]
    assert "1337" not in seen["text"]
    assert not set(seen["text"]) & set("\x00\x1b\x07\u202e")
    assert events == []


def test_the_policy_would_hold_where_escaping_failed(asked: tuple[Any, list[str]], folder: Path) -> None:
    page, events = asked
    html = (folder / "0.html").read_text()
    live = "<script>window.hit = 1</script><img src='https://evil.test/x'><style>h1 { display: none }</style>"
    (folder / "unescaped.html").write_text(html.replace("<h1>", f"{live}<h1>"))
    page.goto((folder / "unescaped.html").as_uri())
    seen = page.evaluate(SEEN)
    assert len(seen["foreign"]) == 2
    assert seen["hit"]
    assert seen["shown"] != "none"
    assert sum("Content Security Policy" in event for event in events) == 3
