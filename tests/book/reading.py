"""A reader of the built book who solves an exercise in the page, driven by Playwright."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
SLUG: Final = "decode_float16"
PAGE: Final = "01_sixteen_bits.html"
START: Final = "00_start_here.html"
PHONE: Final = {"width": 390, "height": 844}
PATIENCE: Final = 240_000
"""Milliseconds that a busy machine gets for any one thing; nothing is measured by it."""
ANSWER: Final = """\
import math

def decode_float16(bits):
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError("an int, please")
    if not 0 <= bits <= 65535:
        raise ValueError("16 bits, please")
    sign = -1.0 if bits >> 15 else 1.0
    e = bits >> 10 & 31
    f = bits & 1023
    if e == 31:
        return math.nan if f else sign * math.inf
    if e == 0:
        return sign * math.ldexp(f, -24)
    return sign * math.ldexp(1024 + f, e - 25)
"""

CLOCK: Final = """(() => {
    const [now, later, cancel] = [performance.now.bind(performance), window.setTimeout, window.clearTimeout];
    const waiting = new Map();
    let passed = 0;
    window.pageClock = {
        pace: 30,
        strike(wanted) {
            for (const [id, [ms, done]] of waiting)
                if (ms === wanted) {
                    cancel(id);
                    passed += ms;
                    done();
                    return true;
                }
            return false;
        },
    };
    performance.now = () => passed + now() / 30;
    window.setTimeout = (call, ms = 0, ...given) => {
        if (ms < 700) return later(call, ms, ...given);
        const done = () => waiting.delete(id) && call(...given);
        const id = later(done, pageClock.pace * ms);
        waiting.set(id, [ms, done]);
        return id;
    };
    window.clearTimeout = (id) => {
        waiting.delete(id);
        cancel(id);
    };
})()"""
"""A page's limits are of wall clock, and a busy machine is no reason to be late: a second of the page is thirty here.

What waits for most of a second or longer may also be ended by a test, which knows what runs: `Reader.time_is_up`.
"""


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true in a page. Playwright's own way is refused by the pages' policy."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


@dataclass
class Reader:
    """A browser's page with the exercise's card, and what must not happen in it."""

    page: Any
    address: str
    slug: str = SLUG
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    forgiven: tuple[str, ...] = ()
    """Parts of the errors that a test brings about itself."""

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    @property
    def place(self) -> str:
        return f"#exercise-{self.slug}"

    @property
    def card(self) -> Any:
        return self.page.locator(self.place)

    @property
    def results(self) -> Any:
        return self.card.locator(".hp-results")

    def open(self, url: str = PAGE) -> Reader:
        self.page.goto(self.address + url)
        return self

    def button(self, name: str) -> Any:
        return self.card.get_by_role("button", name=name, exact=True)

    def write(self) -> None:
        """Go into the editor, by a click on the code, where it is still text."""
        if self.card.locator(".hp-still").count():
            self.card.locator(".hp-still pre").click()
        self.card.locator(".cm-content").focus()

    def put(self, source: str) -> None:
        """Put a source in place of what stands in the editor, as pasting does."""
        self.write()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)

    def run(self) -> str:
        """Run the checks; return the headline."""
        self.button("Run the checks").click()
        return self.finished()

    def finished(self) -> str:
        self.button("Stop").wait_for(state="hidden")
        return str(self.results.locator(".hp-headline").inner_text())

    def time_is_up(self, seconds: float) -> None:
        """Let the time be over that the page gives to what runs, once that is so many seconds."""
        until(self.page, f"pageClock.strike({seconds * 1000})")

    def until_tried(self, number: int, of: int) -> None:
        """Wait until a check is tried."""
        self.card.locator(f".hp-status[data-trying='Check {number} of {of}']").wait_for()

    def code(self) -> str:
        """Return what is kept of the code in this browser."""
        kept = self.kept()
        return str(kept["code"]) if kept else ""

    def kept(self) -> Any:
        return json.loads(self.page.evaluate(f"localStorage.getItem('half-precision/1/{self.slug}')") or "null")

    def until_kept(self, source: str) -> None:
        """Wait until the code in this browser is that one."""
        kept = f"localStorage.getItem('half-precision/1/{self.slug}')"
        code = json.dumps(f'"code":{json.dumps(source, ensure_ascii=False)},')
        until(self.page, f"({kept} ?? '').includes({code})")

    def written(self) -> str:
        """Return what stands in the editor."""
        lines = self.card.locator(".cm-line").all_inner_texts()
        return "\n".join(line.strip("\n") for line in lines)

    def statuses(self) -> dict[str, str]:
        checks = self.results.locator(".hp-check")
        return checks.evaluate_all("all => Object.fromEntries(all.map(e => [e.dataset.check, e.dataset.status]))")

    def past(self) -> tuple[list[str], list[str]]:
        """Return what must not have happened: requests to other sites, and errors in the console."""
        elsewhere = [url for url in self.requests if not url.startswith((self.address, "data:", "blob:"))]
        return elsewhere, [error for error in self.errors if not any(part in error for part in self.forgiven)]


def by_command(source: str, tmp_path: Path, suffix: str = ".py") -> Any:
    """Return the record that the command line gives."""
    path = tmp_path / f"{SLUG}{suffix}"
    path.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "autograder", "check", str(path), "--exercise", SLUG, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)
