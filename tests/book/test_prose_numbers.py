"""Is every number that is typed in a chapter what PyTorch, or the chapter's own cells, give for it?

book/claims/numbers/<chapter>.yml lists them; book/claims/README.md says how.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import page_code
import prose_numbers
import pytest
import yaml

BOOK = Path(__file__).resolve().parents[2] / "book"
FILES = sorted((BOOK / "claims" / "numbers").glob("*.yml"))
LISTS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES}
# A chapter's list has its number, another page's the page's name.
PAGES = {name: next(BOOK.glob(f"{name}_*.md"), BOOK / f"{name}.md").stem for name in LISTS}
ENTRIES = [(number, entry) for number, entries in LISTS.items() for entry in entries]


@functools.cache
def prose(number: str) -> str:
    return prose_numbers.prose((BOOK / f"{PAGES[number]}.md").read_text(encoding="utf-8"))


def page(number: str) -> dict[str, Any]:
    return page_code.run(PAGES[number]).names


def spans(text: str, part: str) -> list[tuple[int, int]]:
    """Return where a part of a text starts and ends, each time that it occurs."""
    starts = [at for at in range(len(text)) if text.startswith(part, at)]
    return [(at, at + len(part)) for at in starts]


@pytest.mark.parametrize("number", LISTS)
def test_every_typed_number_is_on_the_list(number: str) -> None:
    text = prose(number)
    known = [span for entry in LISTS[number] for span in spans(text, entry["says"])]
    missing = [
        text[max(start - 40, 0) : end + 40]
        for start, end in prose_numbers.find(text)
        if not any(first <= start and end <= last for first, last in known)
    ]
    assert not missing


@pytest.mark.parametrize(("number", "entry"), ENTRIES, ids=[f"{number}-{entry['says']}" for number, entry in ENTRIES])
def test_a_typed_number_is_what_its_expression_gives(number: str, entry: dict[str, Any]) -> None:
    says = entry["says"]
    assert set(entry) in ({"says", "is"}, {"says", "free"})
    assert len(says.split()) >= 3, "too short to say of what the number is"
    assert says in prose(number), "the chapter does not say this (any longer)"
    typed = [says[start:end] for start, end in prose_numbers.find(says)]
    assert typed, "there is no number in it"
    if "free" in entry:
        assert len(entry["free"].split()) >= 3
        return
    expressions = [str(given) for given in (entry["is"] if isinstance(entry["is"], list) else [entry["is"]])]
    assert len(expressions) == len(typed)
    for text, expression in zip(typed, expressions, strict=True):
        asked = prose_numbers.asks(expression)
        own = {name: page(number)[name] for name in asked}
        value = float(eval(expression, prose_numbers.NAMES | own))
        assert prose_numbers.agrees(text, value), f"{text} is typed, and {expression} is {value!r}"


@pytest.mark.parametrize(
    ("typed", "value", "right"),
    [
        ("65,504", 65504.0, True),
        ("65,604", 65504.0, False),
        ("2^{-25}", 2.0**-25, True),
        ("2^-24", 2.0**-25, False),
        ("6e-8", 2.0**-24, True),
        ("9e-8", 2.0**-24, False),
        ("0.4 %", 2.0**-8, True),
        ("0.9 %", 2.0**-8, False),
        ("three", 3.0, True),
        ("Four", 3.0, False),
        ("\u22120.3", -0.3, True),
        ("20th", 20.0, True),
        ("16", 16.4, False),
    ],
)
def test_a_number_is_read_as_it_is_typed(typed: str, value: float, right: bool) -> None:
    assert [typed[start:end] for start, end in prose_numbers.find(typed)] in ([typed], [typed.removesuffix("th")])
    assert prose_numbers.agrees(typed, value) is right


def test_what_a_reader_does_not_read_is_left_out() -> None:
    text = "---\na: 1\n---\n(x-3)=\n# fp16 has 5 bits\n```{code-cell} python3\nx = 4  # a scale of 8\n```\n"
    text += "{glue:text}`r0-7` [six](#a-6) {term}`cut <c-9>` and layer\n5 of 1,024 pixels.\n"
    found = prose_numbers.prose(text)
    assert [found[start:end] for start, end in prose_numbers.find(found)] == ["5", "8", "six", "5", "1,024"]
