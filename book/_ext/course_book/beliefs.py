"""The appendix "Beliefs, tested": ``beliefs`` lists widespread sentences with their verdicts, ``claims`` all claims.

Both are made from book/beliefs.yml and book/claims/*.yml, and from nothing else: what a chapter claims, where it says
so, and which test puts it to PyTorch.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from docutils import nodes
from sphinx.application import Sphinx

from course_book.blocks import Block
from course_book.element import Element, text

VERDICTS: Final = {"false": "Refuted", "true": "Confirmed", "depends": "It depends"}
"""What experiments make of a belief, and the word that the page shows for it."""
_POWER = re.compile(r"(?<=\d)(?:\^|\*\*)(-?\d+)")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that a chapter stakes its word on."""

    id: str
    claim: str
    section: str
    """Where the book says it: a page and an anchor."""
    test: str
    """What puts it to an experiment: a file and a function."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A widespread sentence, and what experiments make of it."""

    belief: str
    verdict: str
    """A key of ``VERDICTS``."""
    holds: str
    """What holds instead, in a sentence or two."""
    claims: tuple[str, ...]
    """The ids of the claims that decide it, the decisive one first."""


def read_claims(book: Path) -> dict[str, Claim]:
    """Return all claims by their ids, in the order of the chapters."""
    listed = [entry for path in _lists(book) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    return {entry["id"]: Claim(**entry) for entry in listed}


def read_beliefs(book: Path) -> tuple[Belief, ...]:
    """Return the beliefs in the order in which the appendix shows them.

    Raises:
        ValueError: An entry is no belief, has no known verdict, or names a claim that no chapter makes.
    """
    known, found = read_claims(book), []
    for entry in yaml.safe_load((book / "beliefs.yml").read_text(encoding="utf-8")):
        if not isinstance(entry, dict) or set(entry) != {"belief", "verdict", "holds", "claims"}:
            raise ValueError(f"book/beliefs.yml: {entry!r} needs belief, verdict, holds and claims, and nothing else")
        said = entry["belief"]
        if entry["verdict"] not in VERDICTS:
            raise ValueError(f"book/beliefs.yml: {said!r} has no verdict of {', '.join(VERDICTS)} (in quotes)")
        if unknown := [name for name in entry["claims"] if name not in known] or not entry["claims"]:
            raise ValueError(f"book/beliefs.yml: {said!r} needs ids of book/claims, not {unknown}")
        found.append(Belief(said, entry["verdict"], entry["holds"], tuple(entry["claims"])))
    return tuple(found)


def _page(claim: Claim) -> str:
    return claim.section.partition(".html")[0]


@functools.cache  # hundreds of claims, a few pages; a build is one process
def _title(page: Path) -> str:
    title = _TITLE.search(page.read_text(encoding="utf-8"))
    return title[1] if title else page.stem


def _with_powers(words: str) -> list[nodes.Node]:
    """Return a text in which 2^-25 and 2**-25 are powers."""
    parts = _POWER.split(words)
    return [
        Element.of("sup", text(part.replace("-", "\N{MINUS SIGN}"))) if number % 2 else text(part)
        for number, part in enumerate(parts)
    ]


def _lists(book: Path) -> list[Path]:
    return sorted((book / "claims").glob("*.yml"))


class _Listing(Block):
    """A directive without arguments whose page is read again when a list changes."""

    has_content = False
    required_arguments = 0

    @functools.cached_property
    def book(self) -> Path:
        """The book's folder."""
        folder = Path(self.env.srcdir)
        for path in (*_lists(folder), folder / "beliefs.yml"):
            self.env.note_dependency(str(path))
        return folder

    def shown(self, claim: Claim) -> Element:
        """Return a claim with the way to its section, and the test that tries it."""
        path, _, name = claim.test.partition("::")
        link = Element.of("a", text(self.place(claim)), href=claim.section)
        test = Element.of("code", text(name), title=path)
        return Element.of(
            "li", *_with_powers(claim.claim), text(" "), Element.of("span", link, test, class_="hp-source")
        )

    def place(self, claim: Claim) -> str:
        """Return the title of the page that makes a claim."""
        return _title(self.book / f"{_page(claim)}.md")


class Beliefs(_Listing):
    """Every belief as a card, by the chapter whose claim decides it: the verdict, what holds, the experiments."""

    def run(self) -> list[nodes.Node]:
        """Return the cards, under the titles of their chapters."""
        try:
            beliefs, claims = read_beliefs(self.book), read_claims(self.book)
        except ValueError as error:
            raise self.error(str(error)) from None
        shown: list[nodes.Node] = []
        chapter = ""
        for belief in sorted(beliefs, key=lambda belief: _page(claims[belief.claims[0]])):  # the order within is kept
            if (page := _page(decisive := claims[belief.claims[0]])) != chapter:
                chapter = page
                shown.append(Element.of("h3", text(self.place(decisive))))
            shown.append(self.card(belief, claims))
        return shown

    def card(self, belief: Belief, claims: Mapping[str, Claim]) -> Element:
        """Return one belief with what decides it."""
        word = VERDICTS[belief.verdict]
        tag = Element.of("span", text(word), class_=f"hp-label hp-verdict-{belief.verdict}")
        said = Element.of("p", tag, text(" "), Element.of("q", *self.inline(belief.belief)), class_="hp-said")
        holds = Element.of("p", *self.inline(belief.holds))
        tried = Element.of("ul", *(self.shown(claims[name]) for name in belief.claims))
        body = Element.of("div", holds, Element.of("p", text("Tried:"), class_="hp-tried"), tried, class_="hp-body")
        return Element.of("div", said, body, class_="hp-belief", role="group", aria_label=f"Belief: {word}")


class Claims(_Listing):
    """All claims, folded by chapter."""

    def run(self) -> list[nodes.Node]:
        """Return a fold for each chapter."""
        chapters: dict[str, list[Claim]] = {}
        for claim in read_claims(self.book).values():
            chapters.setdefault(self.place(claim), []).append(claim)
        return [self.fold(title, made) for title, made in chapters.items()]

    def fold(self, title: str, made: list[Claim]) -> Element:
        """Return a chapter's claims under its title."""
        summary = Element.of("summary", Element.of("span", text(f"{title}: {len(made)} claims"), class_="hp-title"))
        body = Element.of("div", Element.of("ul", *map(self.shown, made)), class_="hp-body")
        return Element.of("details", summary, body, class_="hp-fold hp-claims")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("beliefs", Beliefs)
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True}
