"""Does the appendix "Beliefs, tested" hold all beliefs that chapters treat, and name claims that exist?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from course_book.beliefs import VERDICTS, read_beliefs, read_claims

BOOK = Path(__file__).resolve().parents[2] / "book"
CARDS = [
    (path.name, said)
    for path in sorted(BOOK.glob("[0-9][0-9]_*.md"))
    for said in re.findall(r"^:::+\{belief\} (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
]
BELIEFS = read_beliefs(BOOK)


@pytest.mark.parametrize(("chapter", "said"), CARDS)
def test_a_chapter_s_belief_is_in_the_appendix(chapter: str, said: str) -> None:
    (belief,) = [belief for belief in BELIEFS if belief.belief == said]
    pages = {read_claims(BOOK)[name].section.partition(".html")[0] for name in belief.claims}
    assert chapter.removesuffix(".md") in pages, "no claim of the chapter that treats it decides it"


def test_no_belief_is_listed_twice() -> None:
    said = [belief.belief for belief in BELIEFS]
    assert len(said) == len(set(said))


@pytest.mark.parametrize(
    ("entry", "trouble"),
    [
        ("- belief: B\n  verdict: 'false'\n  holds: H\n", "needs belief, verdict, holds and claims"),
        ("- belief: B\n  verdict: false\n  holds: H\n  claims: [ties]\n", "has no verdict"),
        ("- belief: B\n  verdict: 'false'\n  holds: H\n  claims: [no-such]\n", r"not \['no-such'\]"),
        ("- belief: B\n  verdict: 'false'\n  holds: H\n  claims: []\n", "needs ids"),
    ],
)
def test_a_bad_entry_is_named(tmp_path: Path, entry: str, trouble: str) -> None:
    (tmp_path / "claims").mkdir()
    ties = "- {id: ties, claim: Ties go to even., section: 02_x.html#a, test: tests/t.py::test_t}\n"
    (tmp_path / "claims" / "02.yml").write_text(ties)
    (tmp_path / "beliefs.yml").write_text(entry)
    with pytest.raises(ValueError, match=trouble):
        read_beliefs(tmp_path)


def test_the_page_shows_every_belief_and_every_claim(site: Path) -> None:
    page = BeautifulSoup((site / "beliefs_tested.html").read_text(encoding="utf-8"), "html.parser")
    cards = page.select(".hp-belief")
    claims = read_claims(BOOK)
    listed = sorted(BELIEFS, key=lambda belief: claims[belief.claims[0]].section[:2])
    assert [card.select_one(".hp-label").text for card in cards] == [VERDICTS[b.verdict] for b in listed]
    assert [len(card.select("li")) for card in cards] == [len(b.claims) for b in listed]
    chapters = {claims[belief.claims[0]].section[:2] for belief in BELIEFS}
    assert len(page.select("#what-is-said h3")) == len(chapters)
    shown = [item.text for item in page.select(".hp-claims li")]
    assert len(shown) == len(read_claims(BOOK))
    for claim, text in zip(read_claims(BOOK).values(), shown, strict=True):
        said = re.sub(r"(?<=\d)(\^|\*\*)(?=-?\d)", "", claim.claim).replace("-", "\N{MINUS SIGN}")
        assert said in text.replace("-", "\N{MINUS SIGN}").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        assert claim.test.partition("::")[2] in text
