"""Run a chapter's cells as the build does, so that tests look at the very numbers that its prose shows."""

from __future__ import annotations

import contextlib
import functools
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

BOOK = Path(__file__).resolve().parents[2] / "book"
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"\{glue:text\}`([\w-]+)`")


@dataclass(frozen=True, slots=True)
class Page:
    """What a page's cells have left behind."""

    names: dict[str, Any]
    """Its global names."""
    shown: dict[str, str]
    """The values that its prose shows, by their glue names."""
    printed: str
    """What its cells have printed."""
    text: str
    """Its source."""

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def number(self, name: str) -> float:
        """Return a shown value as a number: ``1,380`` as 1380.0, ``3.1%`` as 0.031."""
        text = self.shown[name].replace(",", "")
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)


@functools.cache
def run(name: str) -> Page:
    """Execute all code cells of a page, in order, in one namespace: once, for all tests of this process."""
    text = (BOOK / f"{name}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": name}
    shown: dict[str, str] = {}

    def glue(key: str, value: Any, display: bool = True) -> None:
        shown[key] = str(value).replace("\N{NON-BREAKING HYPHEN}", "-")

    printed = io.StringIO()
    with mock.patch("myst_nb.glue", glue), contextlib.redirect_stdout(printed):
        for number, (_, code) in enumerate(_CELL.findall(text), 1):
            exec(compile(code, f"<cell {number} of {name}>", "exec"), names)
    return Page(names, shown, printed.getvalue(), text)


def wanted(page: Page) -> set[str]:
    """Return the glue names that a page's prose asks for."""
    return set(_SHOWN.findall(page.text))
