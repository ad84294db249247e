"""Where a run leaves what it makes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from autograder import files
from autograder.models import Score
from autograder.report.rows import Row

_PLAIN: Final = re.compile(r"[A-Za-z0-9_ /.,=@~-]+")


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run leaves what it makes."""

    folder: Path
    gradebook: str
    """SQLAlchemy URL."""
    book: str = ""
    """Where the book is, for the links of the pages: an address, or a path from ``folder``; "" where it is nowhere."""
    with_feedback: bool = True
    """Whether feedback pages are made. Where not, those of earlier runs over unchanged work stay."""

    @property
    def gradebook_file(self) -> Path | None:
        """The gradebook's file; None where it is no SQLite database, or one in memory.

        GradebookError where ``gradebook`` is no URL.
        """
        plain = self.gradebook.removeprefix("sqlite:///")
        if plain.startswith("/") and _PLAIN.fullmatch(plain):
            return Path(plain)
        from autograder.gradebook_db import sqlite_file  # here, because SQLAlchemy takes its time

        return sqlite_file(self.gradebook)

    def book_from(self, page: Path) -> str:
        """Return the URL of the book's folder as a page of this output links to it."""
        if not self.book or urlsplit(self.book).scheme:
            return self.book
        return quote(os.fsencode(os.path.relpath(self.folder / self.book, page.parent))) + "/"

    def feedback(self, score: Score | Row) -> Path:
        """Return the path of a submission's feedback page."""
        return self.folder / "feedback" / score.student / score.exercise / f"{score.exercise}.html"

    def autograded(self, score: Score | Row) -> Path:
        """Return the path of a submission's graded notebook, which nbgrader's formgrader reads."""
        return self.folder / "autograded" / score.student / score.exercise / f"{score.exercise}.ipynb"

    def has_pages(self, student: str, exercise: str) -> bool:
        """Return whether the files of a submission are there."""
        # Two looks by full name cost less than a listing of the folders between.
        below = f"{student}/{exercise}/{exercise}"
        if self.with_feedback and not os.path.exists(f"{self.folder}/feedback/{below}.html"):
            return False
        return os.path.exists(f"{self.folder}/autograded/{below}.ipynb")

    def write(self, score: Score | Row, pages: tuple[str, str]) -> None:
        """Write a submission's feedback page, where such are made, and its graded notebook.

        Raises:
            OSError: one cannot be written; the error names it.
        """
        if self.with_feedback:
            files.write(self.feedback(score), pages[0])
        files.write(self.autograded(score), pages[1])

    def remove_outdated(self, score: Score | Row) -> None:
        """Remove the feedback page of a submission that was graded anew, where none is made: it tells of another mark.

        Raises:
            OSError: it cannot be removed; the error names it.
        """
        if not self.with_feedback:
            self.feedback(score).unlink(missing_ok=True)

    @property
    def report(self) -> Path:
        """The path of the class report."""
        return self.folder / "report" / "index.html"

    def feedback_address(self, score: Score | Row) -> str:
        """Return the URL of a submission's feedback page, relative to the class report; "" where there is none."""
        page = self.feedback(score)
        if not self.with_feedback and not page.exists():
            return ""
        below = page.relative_to(self.folder)
        return "../" + quote(os.fsencode(below.as_posix()))


def sqlite_url(path: Path) -> str:
    """Return the SQLAlchemy URL of an SQLite file, absolute, whatever characters its path has."""
    text = str(path.absolute())
    if _PLAIN.fullmatch(text):
        return f"sqlite:///{text}"
    from autograder.gradebook_db import url_of  # here, because SQLAlchemy takes its time

    return url_of(path)
