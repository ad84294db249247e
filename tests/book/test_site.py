"""Is the built site whole? Every page in a browser: no error, no request to another site, no link into nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest
import yaml
from axe_core_python.sync_playwright import Axe
from course_book import weight
from reading import until

from autograder import catalog

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("chromium")
MAX_PAGE_KB, MAX_SITE_MB = 300, 30
SEARCH = "search.html?q=scale"
MAX_SEARCH_KB = 800  # the search reads every page that it has found, for a line of each
"""As a server sends them that compresses what is text."""
TEXT = (".html", ".css", ".js", ".mjs", ".json", ".svg")
SOME_RULES = ["color-contrast", "region", "scrollable-region-focusable", "target-size"]
"""Those that a theme or a width changes."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PHONE = {"width": 390, "height": 844}


@dataclass
class Visit:
    """What a browser saw of one page."""

    status: int
    links: list[str]
    ids: set[str]
    has_math: bool
    raw_math: list[str]
    errors: list[str] = field(default_factory=list)
    off_site: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    kilobytes: float = 0.0


LOOK = """() => ({
    links: [...document.querySelectorAll('a[href], link[href], img[src], script[src]')].map(e => e.href || e.src),
    ids: [...document.querySelectorAll('[id]')].map(e => e.id),
    has_math: document.querySelector('.math') !== null,
    raw_math: [...document.querySelectorAll('.math')].filter(e => {
        const [picture, spoken] = [e.querySelector('svg'), e.querySelector('math')];
        const { width, height } = picture?.getBoundingClientRect() ?? {};
        return !(picture?.querySelector('path') && spoken?.textContent) || e.textContent.includes('\\\\(')
            || e.checkVisibility() && !(width > 3 && height > 3);
    }).map(e => e.textContent),
})"""


def sent(request: Any) -> int:
    """Return how many bytes a server that compresses sends for what was asked for."""
    body = request.response().body()
    return len(gzip.compress(body, 6)) if urldefrag(request.url).url.split("?")[0].endswith(TEXT) else len(body)


FOUND = """document.querySelector('.search-summary')?.textContent.startsWith('Search finished')
    && [...document.querySelectorAll('ul.search > li')].every(e => e.childElementCount > 1)"""
"""The search is over, and each page that it has found was fetched for a line of it: the last requests of all."""


def opened(page: Any, url: str = "") -> Any:
    """Open an address, else the page again, wait until it is whole and asks for nothing more; return the answer."""
    # For Playwright a network is idle as well where a busy machine keeps a page from asking for what it needs: "load"
    # is when all scripts were run.
    answer = page.goto(url, wait_until="load") if url else page.reload(wait_until="load")
    if "/search.html?" in page.url:
        until(page, FOUND)
    page.wait_for_load_state("networkidle")
    return answer


def visit(browser: Any, address: str, url: str) -> Visit:
    """Open a page and wait until it has loaded."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    failed: list[str] = []
    sizes: list[int] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    page.on("requestfinished", lambda request: sizes.append(sent(request)))
    answer = opened(page, address + url)
    seen = page.evaluate(LOOK)
    context.close()
    off_site = [request for request in requests if not request.startswith((address, "data:", "blob:"))]
    return Visit(
        answer.status,
        seen["links"],
        set(seen["ids"]),
        seen["has_math"],
        seen["raw_math"],
        errors,
        off_site,
        failed,
        sum(sizes) / 1024,
    )


@pytest.fixture(scope="module")
def visits(browser: Any, address: str) -> dict[str, Visit]:
    """Crawl from the front page along every link inside the site; return the visits by address within it."""
    seen: dict[str, Visit] = {}
    waiting = ["index.html", SEARCH, "genindex.html"]
    while waiting:
        url = waiting.pop()
        if url in seen:
            continue
        seen[url] = visit(browser, address, url)
        inside = {urldefrag(link).url.removeprefix(address) for link in seen[url].links if link.startswith(address)}
        waiting += sorted(link or "index.html" for link in inside if link.endswith(".html") or not link)
    return seen


def pages() -> list[str]:
    """Return the pages that _toc.yml lists."""
    toc = yaml.safe_load((ROOT / "book/_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(page["file"] for part in toc["parts"] for page in part["chapters"])]


def test_every_page_of_the_book_is_reached_and_there(visits: dict[str, Visit]) -> None:
    assert {f"{page}.html" for page in pages()} <= set(visits)
    assert {url: seen.status for url, seen in visits.items() if seen.status != 200} == {}


def test_no_page_reports_an_error(visits: dict[str, Visit]) -> None:
    assert {url: seen.errors for url, seen in visits.items() if seen.errors} == {}
    assert {url: seen.failed for url, seen in visits.items() if seen.failed} == {}


def test_no_page_asks_another_site_for_anything(visits: dict[str, Visit]) -> None:
    assert {url: seen.off_site for url, seen in visits.items() if seen.off_site} == {}


def test_no_page_could_ask_another_site_for_a_script_or_a_style(site: Path) -> None:
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not [host for host in ("unpkg.com", "jsdelivr", "cdnjs", "googleapis") if host in text], path.name


def test_a_page_may_load_nothing_from_elsewhere(visits: dict[str, Visit], browser: Any, address: str) -> None:
    page = browser.new_page()
    for name in pages():
        page.goto(f"{address}{name}.html")
        assert page.locator("meta[http-equiv=Content-Security-Policy]").count() == 1
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.evaluate("fetch('https://elsewhere.test/data').catch(() => {})")
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://elsewhere.test/x.png'}))")
    until(page, "document.querySelector('img[src*=elsewhere]').complete")
    page.close()
    for name in ("data", "x.png"):
        assert [text for text in refused if f"elsewhere.test/{name}" in text and "Content Security Policy" in text]


def test_every_link_inside_the_site_leads_somewhere(visits: dict[str, Visit], address: str) -> None:
    missing = []
    files: dict[str, int] = {}
    for url, seen in visits.items():
        for link in {link for link in seen.links if link.startswith(address)}:
            target, anchor = urldefrag(link)
            target = target.removeprefix(address) or "index.html"
            if target in visits:
                if anchor and anchor not in visits[target].ids:
                    missing.append(f"{url} -> {target}#{anchor}")
            elif files.setdefault(target, status(address + target)) != 200:
                missing.append(f"{url} -> {target}")
    assert missing == []


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def sections() -> Iterator[tuple[str, str]]:
    """Yield who links to a section of the book from a feedback page, and that section."""
    for slug, exercise in catalog.load_all(ROOT).items():
        for check in exercise.checks:
            yield f"{slug}: check {check.id}", check.see
        for belief in exercise.misconceptions.values():
            yield f"{slug}: misconception {belief.id}", belief.see


def test_every_section_that_feedback_points_to_exists(visits: dict[str, Visit]) -> None:
    links = list(sections())
    assert links
    missing = []
    for source, see in links:
        page, _, anchor = see.removeprefix("book/").partition("#")
        if page not in visits or anchor not in visits[page].ids:
            missing.append(f"{source} -> {see}")
    assert missing == []


def test_formulas_are_set_and_not_left_as_tex(visits: dict[str, Visit]) -> None:
    assert any(seen.has_math for seen in visits.values())
    assert {url: seen.raw_math for url, seen in visits.items() if seen.raw_math} == {}


TAGS = re.compile(r'<script\b[^>]*\ssrc="[^>]*>|<link\b[^>]*\srel="stylesheet"[^>]*>')


def test_every_script_and_style_is_there_and_is_what_its_hash_says(site: Path) -> None:
    for path in [path for path in site.rglob("*.html") if "_static" not in path.parts and path.name != "index.html"]:
        tags = TAGS.findall(path.read_text(encoding="utf-8"))
        assert len(tags) > 5, path.name
        for tag in tags:
            ((address, version),) = re.findall(r'(?:src|href)="([^"?]*)\?v=(\w{8})"', tag)
            data = (path.parent / address).read_bytes()
            assert re.findall(r'integrity="([^"]*)"', tag) == [weight.integrity(data)], (path.name, tag)
            assert hashlib.sha256(data).hexdigest().startswith(version)
            assert b"@import" not in data or not address.endswith(".css"), address


def test_no_page_is_heavy(visits: dict[str, Visit], site: Path) -> None:
    most = {SEARCH: MAX_SEARCH_KB}
    heavy = {url: seen.kilobytes for url, seen in visits.items() if seen.kilobytes > most.get(url, MAX_PAGE_KB)}
    assert heavy == {}
    megabytes = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 2**20
    assert megabytes < MAX_SITE_MB


def test_every_exercise_s_notebook_can_be_downloaded(site: Path) -> None:
    for slug in catalog.slugs(ROOT):
        notebook = json.loads((site / "notebooks" / f"{slug}.ipynb").read_text(encoding="utf-8"))
        assert any(slug in "".join(cell["source"]) for cell in notebook["cells"])


# --------------------------------------------------------------------- what a reader does


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Any]:
    """Return a function that opens a page of the site in a browser of its own kind."""
    contexts = []

    def of_its_own(url: str, **kind: Any) -> Any:
        contexts.append(browser.new_context(**kind))
        page = contexts[-1].new_page()
        opened(page, address + url)
        return page

    yield of_its_own
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", pages())
def test_a_phone_does_not_scroll_sideways(open_page: Any, name: str) -> None:
    page = open_page(f"{name}.html", viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    wide = """[...document.querySelectorAll('.bd-article :is(p, h1, h2, h3, li, figure, fieldset, summary)')]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.hp-scroll, pre, table'))
        .map(e => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []


@pytest.mark.parametrize("name", pages())
def test_every_picture_says_what_it_shows(open_page: Any, name: str) -> None:
    silent = """[...document.querySelectorAll('.bd-article :is(svg, img)')]
        .filter(e => !(e.getAttribute('aria-label') || e.alt) && !e.closest('[aria-hidden], button'))
        .map(e => e.outerHTML.slice(0, 80))"""
    assert open_page(f"{name}.html").evaluate(silent) == []


@pytest.mark.parametrize("name", pages())
def test_no_id_stands_twice_in_a_page(open_page: Any, name: str) -> None:
    twice = """(() => { const ids = [...document.querySelectorAll('.bd-article [id]')].map(e => e.id);
        return ids.filter((id, i) => ids.indexOf(id) !== i) })()"""
    assert open_page(f"{name}.html").evaluate(twice) == []


def chapter_with(site: Path, text: str) -> str:
    """Return the first chapter whose page holds that text."""
    for name in pages():
        if text in (site / f"{name}.html").read_text(encoding="utf-8"):
            return f"{name}.html"
    raise AssertionError(f"no page of the book has {text}")


def test_figures_follow_the_dark_page_and_the_printer(open_page: Any, site: Path) -> None:
    url = chapter_with(site, "var(--fig-ink")
    ink = "getComputedStyle(document.querySelector('.hp-figure text')).fill"
    light, dark = (open_page(url, color_scheme=mode) for mode in ("light", "dark"))
    assert light.evaluate(ink) == "rgb(31, 36, 43)"
    assert dark.evaluate(ink) == "rgb(229, 232, 235)"
    dark.emulate_media(media="print", color_scheme="dark")
    assert dark.evaluate(ink) == "rgb(0, 0, 0)"


@pytest.mark.parametrize(
    ("system", "chosen", "theme"),
    [("dark", "", "dark"), ("light", "", "light"), ("dark", "light", "light"), ("light", "dark", "dark")],
)
def test_no_reader_in_the_dark_is_first_shown_a_light_page(
    browser: Any, address: str, site: Path, system: str, chosen: str, theme: str
) -> None:
    context = browser.new_context(color_scheme=system)
    # What the page is before any of its files of scripts has come; and as if the theme was last seen in the other mode.
    context.route("**/*.js*", lambda route: route.abort())
    other = "light" if system == "dark" else "dark"
    context.add_init_script(f"localStorage.mode = '{chosen}' || 'auto'; localStorage.theme = '{chosen or other}'")
    page = context.new_page()
    page.goto(address + chapter_with(site, "var(--fig-ink"))
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(253, 252, 250)", "dark": "rgb(20, 23, 27)"}[theme]
    context.close()


def hidden_parts(page: Any) -> list[Any]:
    """Return what the first veil of a page covers, part by part."""
    veil = page.locator(".hp-predict + .hp-veil").first
    parts = veil.locator("> .cell .cell_output, > p, > .cell figure")
    assert parts.count() > 2
    return [parts.nth(i) for i in range(parts.count())]


def test_what_follows_is_veiled_until_the_reader_has_predicted_and_asks(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, 'class="hp-veil"'))
    question, covered = page.locator(".hp-predict").first, hidden_parts(page)
    see = question.get_by_role("button", name="See what happens")
    assert not any(part.is_visible() for part in covered)
    assert page.locator(".hp-veil > .cell .cell_input").first.is_visible()
    assert see.get_attribute("aria-disabled") == "true"
    hint = page.locator(f"#{see.get_attribute('aria-describedby')}")
    assert hint.inner_text() == "Choose an answer first."
    see.click(force=True)  # as a mouse does, that does not wait for it
    assert not any(part.is_visible() for part in covered)
    # By keyboard alone: to the choices, through all of them and back, to how sure, to the button.
    keys = page.keyboard
    question.locator(".hp-choices input").first.focus()
    keys.press("Space")
    for _ in range(question.locator(".hp-choices input").count() + 1):
        keys.press("ArrowRight")
        assert not any(part.is_visible() for part in covered)
    keys.press("Tab")
    keys.press("Space")
    assert question.get_by_role("radio", name="sure", exact=True).is_checked()
    assert not any(part.is_visible() for part in covered)
    assert see.get_attribute("aria-disabled") == "false"
    assert not hint.is_visible()
    keys.press("Tab")
    assert see.evaluate("e => e === document.activeElement")
    keys.press("Enter")
    assert all(part.is_visible() for part in covered)
    second = question.locator(".hp-choices label").nth(1).inner_text().strip()
    said = question.locator(".hp-predicted")
    assert said.inner_text().startswith(f"You said: {second} (sure).")
    assert said.evaluate("e => e === document.activeElement")
    assert not see.is_visible()
    assert not page.locator(".hp-predict").nth(1).evaluate("e => e.classList.contains('hp-seen')")


def test_a_prediction_stays_when_the_page_is_opened_again_until_it_is_taken_back(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, 'class="hp-veil"'))
    question = page.locator(".hp-predict").first
    question.locator(".hp-choices input").nth(2).check()
    question.get_by_role("button", name="See what happens").click()
    third = question.locator(".hp-choices label").nth(2).inner_text().strip()
    before = [page.evaluate("Object.entries(localStorage).filter(([key]) => key.startsWith('half-precision/1/'))")]
    opened(page)
    assert question.locator(".hp-predicted").inner_text().startswith(f"You said: {third}.")
    assert all(part.is_visible() for part in hidden_parts(page))
    assert question.locator(".hp-choices input").nth(2).is_checked()
    question.get_by_role("button", name="Predict again").click()
    assert not any(part.is_visible() for part in hidden_parts(page))
    assert question.locator(".hp-predicted").count() == 0
    assert question.locator(":checked").count() == 0
    assert question.locator(".hp-choices input").first.evaluate("e => e === document.activeElement")
    opened(page)
    assert not any(part.is_visible() for part in hidden_parts(page))
    assert before == [[]]


@pytest.mark.parametrize(
    "kept",
    ["no JSON", "null", "[]", '{"choice": 3, "sure": ""}', '{"choice": "of another edition", "sure": ""}'],
)
def test_a_kept_prediction_that_is_damaged_is_none(browser: Any, address: str, site: Path, kept: str) -> None:
    url = address + chapter_with(site, 'class="hp-veil"')
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    opened(page, url)
    question = page.locator(".hp-predict").first
    question.locator(".hp-choices input").first.check()
    question.get_by_role("button", name="See what happens").click()
    (key,) = page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('half-precision/predict/1/'))")
    page.evaluate("([key, kept]) => localStorage.setItem(key, kept)", [key, kept])
    opened(page)
    assert not any(part.is_visible() for part in hidden_parts(page))
    assert errors == []
    context.close()


FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') };"
FORBIDDEN = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') }, "
    "configurable: false });"
)


@pytest.mark.parametrize("storage", [FULL, FORBIDDEN], ids=["full", "forbidden"])
def test_a_prediction_needs_no_storage(browser: Any, address: str, site: Path, storage: str) -> None:
    context = browser.new_context()
    context.add_init_script(storage)
    page = context.new_page()
    opened(page, address + chapter_with(site, 'class="hp-veil"'))
    question = page.locator(".hp-predict").first
    question.locator(".hp-choices input").first.check()
    question.get_by_role("button", name="See what happens").click()
    assert all(part.is_visible() for part in hidden_parts(page))
    question.get_by_role("button", name="Predict again").click()
    assert not any(part.is_visible() for part in hidden_parts(page))
    context.close()


def test_who_wants_no_prediction_sees_what_follows_at_once(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, 'class="hp-veil"'))
    page.locator(".hp-skip input").first.check()
    assert all(part.is_visible() for part in hidden_parts(page))
    page.locator(".hp-skip input").first.uncheck()
    assert not any(part.is_visible() for part in hidden_parts(page))


def test_without_a_script_nothing_is_veiled(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, 'class="hp-veil"'), java_script_enabled=False)
    assert page.locator(".hp-veil .cell_output > *").first.is_visible()
    assert page.locator(".hp-veil > p").first.is_visible()
    assert page.get_by_role("button", name="See what happens").count() == 0


FIGURES = """() => {
    const wrong = [];
    document.querySelectorAll('.hp-skip input').forEach(e => e.checked = true);
    const figures = [...document.querySelectorAll('.hp-figure svg')].filter(e => e.getBoundingClientRect().width > 0);
    for (const figure of figures) {
        const box = figure.getBoundingClientRect(), ratio = box.width / figure.viewBox.baseVal.width;
        const texts = [...figure.querySelectorAll('text')].filter(e => e.textContent.trim());
        const boxes = texts.map(e => e.getBoundingClientRect());
        texts.forEach((text, i) => {
            const size = parseFloat(getComputedStyle(text).fontSize) * ratio, own = boxes[i];
            if (size < 9) wrong.push(`${size.toFixed(1)} px: ${text.textContent}`);
            const across = own.left < box.left - 1 || own.right > box.right + 1;
            if (across || own.top < box.top - 1 || own.bottom > box.bottom + 1)
                wrong.push(`cut: ${text.textContent}`);
            boxes.slice(0, i).forEach((other, j) => {
                const wide = Math.min(own.right, other.right) - Math.max(own.left, other.left);
                const high = Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top);
                if (wide > 2 && high > 4) wrong.push(`${text.textContent} on ${texts[j].textContent}`);
            });
        });
    }
    return [figures.length, wrong];
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", [name for name in pages() if name[0].isdigit()])
def test_the_words_in_figures_are_whole_and_legible(open_page: Any, name: str, width: int) -> None:
    count, wrong = open_page(f"{name}.html", viewport={"width": width, "height": 844}).evaluate(FIGURES)
    assert count > 0
    assert wrong == []


def test_a_table_of_prose_stands_row_by_row_on_a_phone(open_page: Any, site: Path) -> None:
    url = chapter_with(site, 'class="hp-stack table"')
    label = "getComputedStyle(document.querySelector('table.hp-stack .hp-column'), '::before').content"
    cell = "document.querySelector('table.hp-stack td:nth-child(2)').getBoundingClientRect()"
    phone, desk = open_page(url, viewport=PHONE), open_page(url)
    for page in (phone, desk):
        page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.checked = true)")
    assert phone.evaluate(label).strip('"') == desk.locator("table.hp-stack th").first.inner_text()
    assert phone.evaluate(f"{cell}.left") < 40
    assert phone.evaluate(f"{cell}.width") > 300
    assert desk.evaluate(label) == "none"
    first = cell.replace("(2)", "(1)")
    assert desk.evaluate(f"{cell}.left - {first}.right") >= 0, "beside the first column, not below it"


def test_the_table_of_exercises_is_whole_on_a_phone(open_page: Any) -> None:
    page = open_page(f"{pages()[0]}.html", viewport=PHONE)
    cells = page.locator("table.hp-exercises td")
    assert cells.count() >= 4 * len(catalog.slugs(ROOT))  # and what the reader has reached
    for each in cells.all():
        box = each.bounding_box()
        assert each.is_visible()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    label = "getComputedStyle(document.querySelectorAll('table.hp-exercises .hp-column')[3], '::before').content"
    assert page.evaluate(label).startswith('"Points: "')
    page.evaluate("document.querySelector('table.hp-exercises').parentElement.scrollLeft = 500")
    assert page.evaluate("document.querySelector('table.hp-exercises').parentElement.scrollLeft") == 0


def test_computed_words_are_as_heavy_as_those_around_them(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, "pasted-text"))
    heavy = """[...document.querySelectorAll('.pasted-text')].filter(
        e => getComputedStyle(e).fontWeight !== getComputedStyle(e.parentElement).fontWeight).length"""
    assert page.evaluate(heavy) == 0


def test_folded_code_leaves_no_gap(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, "tag_hide-input"))
    page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.checked = true)")
    gap = """(() => { const fold = document.querySelector('.tag_hide-input details.hide');
        const output = fold.parentElement.querySelector('.cell_output .output').getBoundingClientRect();
        return [fold.getBoundingClientRect().top - fold.parentElement.getBoundingClientRect().top,
                output.top - fold.getBoundingClientRect().bottom] })()"""
    above, below = page.evaluate(gap)
    assert above < 4
    assert below < 16


def test_print_shows_every_output_and_no_sidebar_and_keeps_answers_folded(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, 'class="hp-veil"'))
    page.emulate_media(media="print")
    assert page.locator(".hp-veil .cell_output > *").first.is_visible()
    assert page.locator(".hp-veil > p").first.is_visible()
    assert page.locator(".bd-article h1").first.is_visible()
    for part in ("#pst-header", "#pst-primary-sidebar", "#pst-secondary-sidebar", ".prev-next-footer"):
        assert not page.locator(part).first.is_visible(), part
    assert page.locator("details.hp-fold[open]").count() == 0


def test_hints_open_one_by_one_without_a_script(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, "hp-graded"), java_script_enabled=False)
    summaries = page.locator("details.hp-hint > summary")
    assert summaries.nth(0).is_visible()
    assert not summaries.nth(1).is_visible()
    summaries.nth(0).focus()
    page.keyboard.press("Enter")
    assert summaries.nth(1).is_visible()
    assert not summaries.nth(2).is_visible()


def test_search_finds_a_chapter(open_page: Any) -> None:
    page = open_page("search.html?q=scale")
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results li a").count() > 0


def test_a_found_line_shows_a_formula_once(open_page: Any, site: Path) -> None:
    page = open_page("search.html")
    source = (site / chapter_with(site, 'class="math')).read_text(encoding="utf-8")
    text = page.evaluate("source => Search.htmlToText(source)", source)
    assert "$2^{-25}$" in text
    assert "2−25" not in text


UNREACHED = """[...document.querySelectorAll('pre')]
    .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth && e.tabIndex < 0).length === 0"""


@pytest.mark.parametrize(
    ("width", "mode", "rules"),
    [(1280, "light", RULES), (390, "dark", RULES), (1280, "dark", SOME_RULES), (390, "light", SOME_RULES)],
)
def test_axe_finds_nothing(browser: Any, address: str, width: int, mode: str, rules: list[str]) -> None:
    axe = Axe.from_file(ROOT / "build/assets/node_modules/axe-core/axe.min.js")
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
    page = context.new_page()
    found = {}
    for name in (*pages(), "genindex", SEARCH):
        opened(page, f"{address}{name}" if "?" in name else f"{address}{name}.html")
        page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.click())")
        page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        until(page, UNREACHED)
        result = axe.run(page, options=options)
        assert result["passes"]
        found[name] = [
            (each["id"], node["html"], node["failureSummary"])
            for each in result["violations"]
            for node in each["nodes"]
        ]
    context.close()
    assert {name: each for name, each in found.items() if each} == {}


@pytest.fixture
def from_folder(browser: Any, site: Path) -> Iterator[Any]:
    """Return a chapter as it is when its file is opened."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((site / chapter_with(site, "hp-graded")).as_uri())
    yield page
    context.close()


def test_a_page_that_is_opened_from_a_folder_is_whole(from_folder: Any) -> None:
    ground = "getComputedStyle(document.body).getPropertyValue('--pst-color-background').trim()"
    until(from_folder, f"{ground} === '#fdfcfa'")
    until(from_folder, "typeof bootstrap === 'object' && document.querySelector('button.copybtn') !== null")
    until(from_folder, "document.body.textContent.includes('where the book is served')")


def test_a_sentence_is_copied_with_its_formulas_as_tex(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, 'class="math'))
    page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.click())")
    copied, tex = page.evaluate("""() => {
        const one = [...document.querySelectorAll('p span.math')].find(e => e.checkVisibility());
        getSelection().selectAllChildren(one.closest('p'));
        return [getSelection().toString(), one.querySelector('.hp-tex').textContent];
    }""")
    assert tex.startswith("$")
    assert tex in copied


def test_the_keyboard_scrolls_wide_code_that_was_folded(open_page: Any, site: Path) -> None:
    page = open_page(chapter_with(site, "tag_hide-input"), viewport=PHONE)
    page.evaluate("document.querySelectorAll('.hp-skip input').forEach(e => e.click())")
    page.evaluate("document.querySelectorAll('details.hide').forEach(e => e.open = true)")
    wide = "[...document.querySelectorAll('details.hide pre')].some(e => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(wide)
    until(page, UNREACHED)


def test_there_is_one_search_field_and_a_favicon(open_page: Any) -> None:
    page = open_page(f"{pages()[0]}.html")
    assert page.locator(".search-button-field:visible, .search-button:visible").count() == 1
    assert page.locator("link[rel=icon], link[rel='shortcut icon']").get_attribute("href") == "_static/favicon.svg"
    assert page.evaluate("document.documentElement.dataset.mode") == "auto"


@pytest.mark.parametrize(
    ("toggle", "inside"),
    [
        ("primary-toggle", "#pst-primary-sidebar-modal nav a"),
        ("secondary-toggle", "#pst-secondary-sidebar-modal nav a"),
    ],
)
def test_the_sidebars_open_on_a_phone(open_page: Any, site: Path, toggle: str, inside: str) -> None:
    page = open_page(chapter_with(site, "hp-graded"), viewport=PHONE)
    assert not page.locator(inside).first.is_visible()
    page.locator(f".{toggle}:visible").click()
    page.locator(inside).first.wait_for(state="visible")
