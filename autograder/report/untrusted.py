"""Text from a submission, made safe to show: no control sequence, no text that runs backwards, no endless line.

Names, messages, printed output and code are the student's. A terminal obeys an escape character, a page or a terminal
obeys a bidirectional override, and XML accepts neither a NUL nor half a surrogate pair: each becomes its escape in
Python's notation, which a reader sees.
"""

from __future__ import annotations

import re
from typing import Final

# Control characters but for newline and tab; soft hyphen; what turns the direction of text; invisible separators and
# operators; surrogates; noncharacters; tags. The joiners U+200C and U+200D belong to names and stay.
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
MESSAGE: Final = 4_000
"""Characters of one message on a terminal; a path may have as many."""
ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;"})
"""What HTML shows a character as, for ``str.translate``."""
_LINE_BREAKS: Final = {"\n": "\\n", "\t": "\\t"}


def visible(text: str) -> str:
    """Return the text with every character that is unseen or obeyed as its escape; newlines and tabs stay."""
    if text.isascii() and text.isprintable():  # nearly all texts, at a tenth of the cost
        return text
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def escaped(text: str) -> str:
    """Return the text as HTML shows it: what ``markupsafe.escape`` gives, as a plain text."""
    return text.translate(ENTITIES)


def one_line(text: str, limit: int = 300) -> str:
    """Return the text as one visible line of at most ``limit`` characters."""
    line = visible(text[: limit + 1])
    for character, escape in _LINE_BREAKS.items():
        line = line.replace(character, escape)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def cut(text: str, limit: int = 10_000, lines: int = 200) -> str:
    """Return the beginning of the text, visible, and a last line that says how much was left out."""
    kept = "\n".join(text[:limit].split("\n")[:lines])
    left = len(text[len(kept) :].strip("\n"))
    return visible(kept).rstrip("\n") + (f"\n… ({left:,} more characters)" if left else "")


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    if character == "\r":
        return "\\r"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
