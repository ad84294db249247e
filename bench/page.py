"""The book's pages in a browser that has not seen them, served compressed: weight, speed, Run and Stop."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.timing import Amount, Line, Skipped, Target

SITE: Final = Path("build/book/_build/html")
SOLVED: Final = ("01_sixteen_bits.html", "decode_float16")
"""A page and an exercise on it that is run."""
ENDLESS: Final = "def decode_float16(bits):\n    while True:\n        pass\n"
LATER: Final = 5
"""Later runs, and times that a run is stopped."""
_FIRST_KEY: Final = (
    """addEventListener("keydown", () => { window.firstKey = performance.now() }, { once: true, capture: true })"""
)
_LOADED: Final = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


@dataclass
class Opened:
    """What it took to open a page."""

    name: str
    kilobytes: float = 0.0
    requests: int = 0
    loaded: float = 0.0
    """Seconds from the start to DOMContentLoaded's end."""
    interactive: float = 0.0
    """Seconds from the start until a key, pressed at once, was handled."""
    again: float = 0.0
    """Kilobytes of a second visit."""
    off_site: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Yield the address of a site that scripts/serve.py serves."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "book").symlink_to(site.resolve())
        command = [sys.executable, "scripts/serve.py", folder, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            said = server.stdout.readline()
            yield re.findall(r"http://localhost:\d+/", said)[0] + "book/"
            server.terminate()


def _visit(context: Any, address: str, name: str) -> tuple[Opened, Any]:
    page = context.new_page()
    seen = Opened(name)
    page.add_init_script(_FIRST_KEY)

    def finished(request: Any) -> None:
        sizes = request.sizes()
        seen.requests += 1
        seen.kilobytes += (sizes["responseBodySize"] + sizes["responseHeadersSize"]) / 1024
        if not request.url.startswith((address, "data:", "blob:")):
            seen.off_site.append(request.url)

    page.on("requestfinished", finished)
    page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.goto(address + name, wait_until="domcontentloaded")
    page.keyboard.press("Tab")
    seen.interactive = page.evaluate("window.firstKey") / 1000
    page.wait_for_load_state("load")
    page.wait_for_load_state("networkidle")
    seen.loaded = page.evaluate(_LOADED) / 1000
    return seen, page


def _open(browser: Any, address: str, name: str) -> Opened:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    cold, _ = _visit(context, address, name)
    warm, _ = _visit(context, address, name)
    context.close()
    cold.again = warm.kilobytes
    return cold


def _runs(browser: Any, address: str) -> tuple[float, float, float]:
    """Return the seconds of the first Run, of a later one, and from Stop to the next result."""
    name, slug = SOLVED
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address + name, wait_until="load")
    page.wait_for_load_state("networkidle")
    card = page.locator(f"#exercise-{slug}")
    run, stop = (card.get_by_role("button", name=text, exact=True) for text in ("Run the checks", "Stop"))

    def results() -> float:
        start = time.perf_counter()
        run.click()
        stop.wait_for(state="hidden")
        card.locator(".hp-headline").wait_for()
        return time.perf_counter() - start

    def put(source: str) -> None:
        card.locator(".cm-content").focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(source)

    answer = Path(f"solutions/{slug}.py").read_text(encoding="utf-8")
    card.locator(".hp-still pre").click()
    put(answer)
    first = results()
    later = sorted(results() for _ in range(LATER))[LATER // 2]
    stopped = []
    for _ in range(LATER):
        put(ENDLESS)
        run.click()
        stop.wait_for(state="visible")
        page.wait_for_timeout(500)
        start = time.perf_counter()
        stop.click()
        put(answer)
        results()
        stopped.append(time.perf_counter() - start)
    context.close()
    return first, later, sorted(stopped)[LATER // 2]


def pages() -> Iterator[Line | Skipped]:
    """What opening and using the book's pages takes, each against what it may take."""
    browser_at = shutil.which("chromium")
    if browser_at is None:
        yield Skipped("pages", "the book's pages in a browser", "chromium is not installed")
        return
    from playwright.sync_api import sync_playwright

    subprocess.run(["sh", "scripts/book.sh"], check=True, stdout=subprocess.DEVNULL)
    names = sorted(path.name for path in SITE.glob("[0-9]*.html"))
    with served(SITE) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_at, args=["--no-sandbox"])
        _open(browser, address, names[0])  # the browser itself has been started
        opened = [_open(browser, address, name) for name in names]
        first, later, stopped = _runs(browser, address)
        browser.close()
    for seen in opened:
        again = f"{seen.again:.0f} KB again, {seen.loaded:.2f} s loaded, {seen.interactive:.2f} s interactive"
        print(f"          {seen.name}: {seen.kilobytes:.0f} KB in {seen.requests} requests, {again}")
    Path("build/bench_pages.json").write_text(json.dumps([vars(seen) for seen in opened], indent=1) + "\n")
    off_site = sum(len(seen.off_site) for seen in opened)
    errors = sum(len(seen.errors) for seen in opened)
    print(f"          {off_site} requests to other sites, {errors} errors in the console")
    heaviest, slowest = max(seen.kilobytes for seen in opened), max(seen.interactive for seen in opened)
    count = len(opened)
    yield _allowed("page_weight", "the heaviest chapter as it is sent", heaviest, 400.0, "KB", count)
    yield _allowed("page_key", "until the slowest chapter handles a key", slowest, 1.0, "s", count)
    yield _allowed("first_run", "first Run in the page, with loading Python", first, 5.0, "s", 1)
    yield _allowed("later_run", "later Run in the page", later, 0.3, "s", LATER)
    yield _allowed("stop", "Stop to the next run's result", stopped, 3.0, "s", LATER)


def _allowed(name: str, what: str, took: float, may: float, unit: str, rounds: int) -> Line:
    against = f"{what}, against what it may take"
    return Line(name, against, Amount("takes", took, unit), Amount("allowed", may, unit), Target("≤", 1), rounds)
