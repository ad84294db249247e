"""Listings, held to what pygments and markupsafe make of the same source, token by token."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape
from pygments.lexers.python import PythonLexer

from autograder.report.listing import _class_of, listing
from autograder.report.untrusted import ENTITIES, visible

PYGMENTS = PythonLexer(stripnl=False, ensurenl=False)
ASCII = [chr(code) for code in range(128)]
PIECES = st.sampled_from([
    *"()[]{}:,;.=@!#%&<>|^~+-*/\\'\"\n\t _0179abefrtuxB", "'''", '"""', 'rb"', "f'", "F'''", 'rt"""', 'u"', "{x!r:>3}",
    "{{", "}}", "%(a)s", "\\\n", "\\N{DASH}", "\\x41", "def ", "class ", "from ", "import ", " as ", "match ", "case ",
    "case _", "lazy import a", "None", "True", "self", ".self", "print", ".print", "ValueError", "__init__", "__doc__",
    "async for", "yield from", "not ", "in", "1_0.5e-3j", "0x_f", "0b1", ".5", "é", "π_1", "\u0660", "\ufffd", "ſ", "K",
    "#!/usr/bin/python", "# note\n", "x = 1\n", "    return x\n", "   \n", "\n\n",
])  # fmt: skip
SOURCES = st.lists(PIECES, max_size=40).map("".join)


def plainly(source: str) -> list[str]:
    """Return a listing's lines, token by token with pygments and markupsafe."""
    lines = [""]
    text = "\n".join(line.rstrip() for line in visible(source).rstrip().split("\n"))
    for _, kind, part in PYGMENTS.get_tokens_unprocessed(text):
        for index, piece in enumerate(part.split("\n")):
            lines += [""] if index else []
            name = _class_of(kind)
            lines[-1] += f'<span class="{name}">{escape(piece)}</span>' if name and piece else str(escape(piece))
    return lines


@settings(max_examples=200)
@given(SOURCES)
def test_a_listing_is_its_tokens_line_by_line(source: str) -> None:
    if "\n" * 9 not in "\n".join(line.strip() for line in source.split("\n")):  # more are not handed to the lexer
        assert [line.html for line in listing(source)] == plainly(source)


@given(st.text(st.characters(codec=None)))
def test_texts_are_escaped_as_markupsafe_does(text: str) -> None:
    assert text.translate(ENTITIES) == escape(text)


@pytest.mark.parametrize("text", ASCII)
def test_a_visible_character_is_the_same_alone_as_among_others(text: str) -> None:
    assert visible(text) + "é" == visible(text + "é")
