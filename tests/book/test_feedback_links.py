"""Does every link in feedback, of a check and of a belief, lead to a section that a chapter's source has?

test_site.py asks the built pages the same, in a browser; this needs neither.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder import catalog

ROOT = Path(__file__).resolve().parents[2]
LINKS = {
    f"{slug}: {part}": see
    for slug, exercise in catalog.load_all(ROOT).items()
    for part, see in (
        *((f"check {check.id}", check.see) for check in exercise.checks),
        *((f"belief {belief.id}", belief.see) for belief in exercise.misconceptions.values()),
    )
}


def fault(see: str) -> str:
    """Return what is wrong with a link to a section of the book, or nothing."""
    shape = re.fullmatch(r"book/([\w-]+)\.html#([\w-]+)", see)
    if not shape:
        return "it does not name a page and a section of it"
    page, section = shape.groups()
    source = ROOT / "book" / f"{page}.md"
    if not source.is_file():
        return f"there is no page {page}"
    mark = rf"^(\({section}\)=|(```|:::)\{{anchor\}} {section})\s*$"
    found = re.search(mark, source.read_text(encoding="utf-8"), re.MULTILINE)
    return "" if found else f"{page} has no section {section}"


def test_every_exercise_has_links() -> None:
    assert {source.partition(":")[0] for source in LINKS} == set(catalog.slugs(ROOT))


@pytest.mark.parametrize("source", LINKS)
def test_a_link_in_feedback_leads_to_a_section(source: str) -> None:
    assert fault(LINKS[source]) == "", LINKS[source]


@pytest.mark.parametrize(
    "see",
    [
        "",
        "book/01_sixteen_bits.html",
        "book/01_sixteen_bits.html#",
        "book/01_sixteen_bits.html#no-such-section",
        "book/01_no_such_page.html#ties",
        "01_sixteen_bits.html#ties",
    ],
)
def test_a_link_to_nowhere_is_seen(see: str) -> None:
    assert fault(see)
