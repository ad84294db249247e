"""What the book's tests share: the way to its modules, the built site on a loopback port."""

from __future__ import annotations

import fcntl
import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reading import CLOCK, PAGE, SLUG, Reader

from autograder import catalog
from autograder.models import Exercise

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
sys.path[:0] = [str(BOOK), str(BOOK / "_ext")]


@pytest.fixture(scope="session")
def site() -> Path:
    """Build the book with what is cached of it, once a test run, and return the folder of its pages.

    Of several test processes the first one builds. Would each, then one would write the files that another's browser
    is about to load.
    """
    (ROOT / "build").mkdir(exist_ok=True)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
    with open(ROOT / "build" / "book.lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not run or lock.read() != run:
            done = subprocess.run(["sh", "scripts/book.sh"], cwd=ROOT, capture_output=True, text=True, timeout=1800)
            assert done.returncode == 0, done.stderr
            lock.truncate(0)
            lock.write(run)
    return ROOT / "build/book/_build/html"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a browser that goes on to the next page hangs up
            super().handle_error(request, client_address)


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site on a free loopback port, and return its address."""
    handler = functools.partial(_Quiet, directory=str(site))
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def reader(browser: Any, address: str) -> Iterator[Callable[..., Reader]]:
    """Return a function that makes a reader with a browser of their own; what must not happen is looked at last."""
    readers: list[Reader] = []

    def made(*, like: Reader | None = None, forgiven: tuple[str, ...] = (), before: str = "", **kind: Any) -> Reader:
        context = like.page.context if like else browser.new_context(accept_downloads=True, **kind)
        if not like:
            context.add_init_script(CLOCK)
        if before:
            context.add_init_script(before)
        readers.append(Reader(context.new_page(), address, forgiven=forgiven))
        return readers[-1]

    yield made
    pasts = [one.past() for one in readers]
    for one in readers:
        one.page.context.close()
    assert pasts == [([], [])] * len(readers)


@pytest.fixture(scope="module")
def warm(browser: Any, address: str) -> Iterator[Reader]:
    """Return a reader who stays on the page, so that Python is loaded once for many tests."""
    context = browser.new_context(accept_downloads=True)
    context.add_init_script(CLOCK)
    one = Reader(context.new_page(), address).open(PAGE)
    yield one
    past = one.past()
    context.close()
    assert past == ([], [])


@pytest.fixture(scope="session")
def exercise() -> Exercise:
    """Return the exercise that the tests of the page solve."""
    return catalog.load(SLUG, ROOT)
