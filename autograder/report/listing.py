"""Python source as HTML lines, colored where the page is made: no script, and classes whose colors the page decides."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from autograder.report.untrusted import ENTITIES, visible

LIMIT: Final = 50_000
"""Characters of one cell that are shown."""
_LINE: Final = 2_000
_SHORT: Final = 1_000
"""Characters of a source that is kept with its HTML."""
_BLANKS: Final = 8
_CLASSES: Final = (
    (Comment, "c"), (Keyword, "k"), (Operator.Word, "k"), (String, "s"), (Number, "m"),
    (Name.Function, "f"), (Name.Class, "f"), (Name.Decorator, "d"), (Name.Builtin, "b"),
)  # fmt: skip
_LEXER: Final = PythonLexer(stripnl=False, ensurenl=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a listing."""

    number: int
    html: Markup
    marked: bool


def listing(source: str, marked: frozenset[int] = frozenset(), limit: int = LIMIT) -> list[Line]:
    """Return a source's lines as HTML; what is too long is cut, with a last line that says so.

    Args:
        source: Python, or anything else; nothing in it is run.
        marked: numbers, from 1, of the lines to mark.
        limit: how many characters are shown.
    """
    limit = max(0, min(limit, LIMIT))
    lines = [Line(n, html, n in marked) for n, html in enumerate(_lines(visible(source[:limit])), 1)]
    if len(source) > limit:
        rest = Markup('<span class="c">… {:,} more characters</span>').format(len(source) - limit)
        lines.append(Line(len(lines) + 1, rest, False))
    return lines


def numbered(lines: Iterable[Line]) -> Markup:
    """Return lines as the elements of a page's listing."""
    return Markup("".join([_element("mark" if line.marked else "span", line) for line in lines]))


def _element(tag: str, line: Line) -> str:
    return f'<{tag} class="line" data-n="{line.number}">{line.html}\n</{tag}>'


def colored(source: str) -> Markup:
    """Return a short source as one piece of HTML."""
    return _colored_once(source) if len(source) <= _SHORT else _colored(source)


def _colored(source: str) -> Markup:
    return Markup("\n").join(line.html for line in listing(source))


# The same few calls and values stand in the pages of a whole class.
_colored_once = functools.lru_cache(maxsize=2_048)(_colored)


def _lines(source: str) -> Iterator[Markup]:
    text = "\n".join([_shortened(line.rstrip()) for line in source.rstrip().split("\n")])
    # The lexer needs quadratic time where there are many blank lines, so none is handed more than a few: a file of
    # nothing but blanks would keep it busy for minutes. A string that goes on after them loses its color, no more.
    if "\n" * _BLANKS not in text:
        yield from _colored_lines(text)
        return
    for blank, group in groupby(_blocks(text.split("\n")), key=lambda item: item[0]):
        texts = [text for _, text in group]
        yield from map(Markup, texts) if blank else _colored_lines("\n".join(texts))


def _blocks(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Pair each line with whether it is one of a long run of blank ones."""
    for empty, group in groupby(lines, key=lambda line: not line):
        run = list(group)
        yield from ((empty and len(run) > _BLANKS, line) for line in run)


def _colored_lines(text: str) -> Iterator[Markup]:
    done: list[str] = []
    for kind, part in _LEXER.get_tokens(text):
        html = part.translate(ENTITIES)
        if name := _class_of(kind):
            html = "\n".join([f'<span class="{name}">{piece}</span>' if piece else "" for piece in html.split("\n")])
        done.append(html)
    return map(Markup, "".join(done).split("\n"))


@functools.cache
def _class_of(kind: Any) -> str:
    """Return the class of a kind of token, of which there are a few dozen; "" where it has no color."""
    return next((name for token, name in _CLASSES if kind in token), "")


def _shortened(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} … ({len(line) - _LINE:,} more characters)"
