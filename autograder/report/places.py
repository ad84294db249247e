"""Where a section of the book is to be found: what the line "Read:" says in a terminal, where nothing is clicked."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from autograder.addresses import read_addresses
from autograder.catalog import CatalogError

Place: TypeAlias = Callable[[str], str]
"""From a section as checks name it, ``book/04_one_scaler_step.html#judge``, to a place that its reader can go to."""

_BUILT: Final = Path("build/book/_build/html")
_HEADING: Final = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def section_name(see: str) -> str:
    """Return a section of the book in words: "One scaler step, “judge”" for ``book/04_one_scaler_step.html#judge``."""
    page, _, anchor = see.removeprefix("book/").partition("#")
    name = re.sub(r"^\d+_", "", page.removesuffix(".html")).replace("_", " ").capitalize()
    return f"{name}, “{anchor.replace('-', ' ')}”" if anchor else name


def place_in(root: Path) -> Place:
    """Return how a section is named to somebody who has the course folder ``root``.

    The published page where the course has an address, else the built page where there is one, else the chapter's title
    and the section's heading, as they stand in the chapter's source, or as its name and label say them.
    """
    try:
        published = read_addresses(root).linkable_book
    except (CatalogError, OSError, UnicodeDecodeError):  # feedback is given whatever the book's configuration is
        published = ""

    def place(see: str) -> str:
        inside = see.removeprefix("book/")
        if published:
            return published + inside
        page, _, anchor = inside.partition("#")
        if (root / _BUILT / page).is_file():
            return f"{_BUILT.as_posix()}/{inside}"
        return _titles(root / "book" / f"{page.removesuffix('.html')}.md", anchor) or section_name(see)

    return place


def _titles(source: Path, anchor: str) -> str:
    """Return "One scaler step, “Judge the gradients”" from a chapter's source; "" where it does not say."""
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    title = _HEADING.search(text)
    _, label, section = text.partition(f"\n({anchor})=\n")
    heading = _HEADING.match(section.lstrip("\n"))
    if title is None or (anchor and not (label and heading)):
        return ""
    return f"{title[1]}, “{heading[1]}”" if heading else title[1]
