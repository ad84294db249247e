"""What the tests of "solve in the page" share: the files of a site, Python in Node, the stand-in beside real torch."""

from __future__ import annotations

import fcntl
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "book/_ext")]

from course_book import solve  # noqa: E402
from page_python import PagePython, Static  # noqa: E402


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory) -> Static:
    """Write what the build writes for pages that run Python."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/book.lock", "a") as lock:  # two test processes must not install at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["sh", "scripts/assets.sh"], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("static")
    return Static(folder, solve.write(ROOT, folder))


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
