"""What all tests share: repeatable hypotheses, the mark ``needs(package)``, a browser, and a small course."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

# Before torch is imported: as many test processes as cores, each with as many threads, spend their time waiting for
# each other (a chapter's cells took 10 s of one thread and 285 s of two). The book is built with one thread as well.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples at every run, so that CI fails where a change does; `--hypothesis-profile default` looks further.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

COMMANDS: Final = {
    "bubblewrap": ("bwrap",),
    "chromium": ("chromium",),
    "linux-libc-dev": ("/usr/include/asm-generic/unistd.h",),
    "openssl": ("openssl",),
    "postgresql": ("postgres", "pg_ctl"),
}
"""Debian packages that a test may need, with the commands, or files, that show that one is there."""


class ByChapter(LoadFileScheduling):
    """A file's tests in one process, and in one also those of two files that share a run of a chapter's cells."""

    def _split_scope(self, nodeid: str) -> str:
        chapter = re.search(r"test_claims_(\d\d)\.py|test_prose_numbers\.py::\w+\[(\d\d)\b", nodeid)
        return f"chapter {chapter[1] or chapter[2]}" if chapter else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByChapter:
    """Return what ``pytest -n`` distributes tests with."""
    return ByChapter(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose system package is missing, in one line; where CI=true that is an error."""
    for mark in item.iter_markers("needs"):
        (package,) = mark.args
        if package not in COMMANDS:
            pytest.fail(f"needs({package!r}): tests/conftest.py knows {', '.join(COMMANDS)}", pytrace=False)
        if not all(is_there(command) for command in COMMANDS[package]):
            text = f"needs {package}: apt-get install {package}"
            if os.environ.get("CI") == "true":
                pytest.fail(text, pytrace=False)
            pytest.skip(text)


def is_there(command: str, servers: Path = Path("/usr/lib/postgresql")) -> bool:
    """Return whether a command, or a file, can be found; Debian keeps those of PostgreSQL's server off the PATH."""
    if command.startswith("/"):
        return os.path.exists(command)
    return bool(shutil.which(command) or any(servers.glob(f"*/bin/{command}")))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a headless Chromium that Playwright drives; its test carries ``needs("chromium")``."""
    from playwright.sync_api import sync_playwright

    quiet = ("gpu", "quic", "background-networking", "component-update", "sync")
    flags = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        chromium.on("context", lambda context: context.set_default_timeout(240_000))  # a busy machine's time
        yield chromium
        chromium.close()


# --------------------------------------------------------------------------- course

FILES: Final = {
    "exercises/double/statement.md": """\
---
title: Double a tensor
teaches: [doubling]
practises: []
needs: []
runs_on: [torch]
forbids: [torch.add]
seconds: 5
---
Write `double(x)`: it returns a new tensor, twice `x`, and leaves `x` as it is.

## Hints
### Hint 1: what to multiply by
By two.
### Hint 2: a new tensor
An operator without an equals sign makes one.
### Hint 3: nearly the code
`x * ...`
""",
    "exercises/double/starter.py": '''\
from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Return twice x, as a new tensor of the same shape and dtype."""
    raise NotImplementedError("double")
''',
    "exercises/double/checks.py": '''\
"""What is graded about ``double``."""

from autograder.checks import Check, Misconception, case, differ, each_call, f32


def same_value(arguments, got, want):
    return differ(got.returned, want.returned)


def same_input(arguments, got, want):
    return differ(got.after, want.after, where="the arguments")


def drawn(random):
    return [case(f"random {n}", x=f32(random.uniform(-8.0, 8.0))) for n in range(3)]


CHECKS = (
    Check(
        id="doubles", title="Doubles every element", points=2.0, rule="Every element is multiplied by two.",
        see="book/01_sixteen_bits.html#doubling", judge=each_call(same_value), random=drawn,
        cases=(case("one element", x=f32(1.0)), case("a negative one", x=f32(-3.0, 4.0))),
    ),
    Check(
        id="leaves_x", title="Leaves x as it is", points=1.0, rule="x belongs to the caller.",
        see="book/01_sixteen_bits.html#doubling", judge=each_call(same_input, show="after"),
        cases=(case("one element", x=f32(1.0)),),
    ),
)

MISCONCEPTIONS = (
    Misconception("squares", "Twice x is x times x.", "That is its square: 3 doubled is 6.", "book/01.html#a"),
    Misconception("in_place", "Nobody else uses x.", "The caller does.", "book/01.html#b"),
)
''',
    "exercises/double/wrong/squares.py": "# caught by doubles: squares\ndef double(x):\n    return x * x\n",
    "exercises/double/wrong/in_place.py": "# caught by leaves_x: in_place\ndef double(x):\n    return x.mul_(2)\n",
    "exercises/double/right/adds.py": "# right: adds x to itself\ndef double(x):\n    return x + x\n",
    "solutions/double.py": '''\
"""Twice a tensor."""

from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Return twice x."""
    return x * 2
''',
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return the root of a course of one exercise, ``double``: two checks, two beliefs, one right answer."""
    root = tmp_path / "course"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
