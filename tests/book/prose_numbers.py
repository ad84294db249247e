"""Find the numbers that are typed in a chapter's prose, comments, captions and alternative texts, and read them."""

from __future__ import annotations

import ast
import builtins
import io
import math
import re
import tokenize
from typing import Any

import torch

_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```", re.MULTILINE | re.DOTALL)
_SMALL = ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_WORDS = dict(zip(_SMALL, range(3, 13), strict=True)) | {"hundred": 1e2, "thousand": 1e3, "million": 1e6}
_NUMBER = re.compile(
    r"(?<![\w.,^#])(?:(?<![\w)\]}])[-\u2212](?=\d))?(?:"
    r"(?P<power>\d+)(?:\^|\*\*)\{?(?P<exponent>[-\u2212]?\d+)\}?"
    r"|(?P<plain>\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)(?P<percent>\s?\\?%)?(?:st|nd|rd|th)?(?![\w^])"
    rf"|\b(?P<word>{'|'.join(_WORDS)})\b)",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """Return what a page says to its reader, in one line: without code, roles, addresses and glued values."""
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = _CELL.sub(lambda cell: "\n" + "\n".join(_said_in_code(cell[2])) + "\n", text)
    text = re.sub(r"^```python\n(.*?)^```", lambda block: "\n".join(_comments(block[1])), text, flags=re.M | re.S)
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\([\w-]+\)=$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{glue:text\}`[^`]*`", "…", text)
    text = re.sub(r"\{cite:?\w*\}`[^`]*`", "", text)
    text = re.sub(r"\{term\}`([^`<]*?)(?:\s*<[^`]*>)?`", r"\1", text)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    return " ".join(text.split())


def find(text: str) -> list[tuple[int, int]]:
    """Return where the numbers of a line of prose start and end."""
    return [found.span() for found in _NUMBER.finditer(text)]


def read(number: str) -> tuple[float, float]:
    """Return a typed number's value, and how far its true value may lie from it: half a unit of its last digit.

    A whole number says exactly itself, and so does a power.
    """
    found = _NUMBER.fullmatch(number)
    assert found, number
    sign = -1.0 if number[0] in "-\u2212" else 1.0
    if found["word"]:
        return float(_WORDS[found["word"].lower()]), 0.0
    if found["power"]:
        return sign * float(found["power"]) ** int(found["exponent"].replace("\u2212", "-")), 0.0
    plain = found["plain"].replace(",", "").lower()
    digits, _, exponent = plain.partition("e")
    places = len(digits.partition(".")[2])
    part = 0.01 if found["percent"] else 1.0
    whole = not places and not exponent and part == 1
    return sign * float(plain) * part, 0.0 if whole else 0.5 * 10.0 ** (int(exponent or 0) - places) * part


def agrees(number: str, value: float) -> bool:
    """Return whether a typed number is what a value comes to in as many digits."""
    typed, slack = read(number)
    return math.isclose(typed, value, rel_tol=1e-9) or abs(typed - value) <= slack * (1 + 1e-9)


NAMES: dict[str, Any] = {
    "math": math,
    "torch": torch,
    "fp16": torch.finfo(torch.float16),
    "bf16": torch.finfo(torch.bfloat16),
    "fp32": torch.finfo(torch.float32),
    "half": lambda value: torch.tensor(value).half().item(),
    "next_half": lambda value: torch.nextafter(torch.tensor(value).half(), torch.tensor(math.inf).half()).item(),
}
"""What an expression may name beside the names that the page's cells have left."""


def asks(expression: str) -> set[str]:
    """Return the names in an expression that are neither Python's nor in NAMES: those of the page."""
    nodes = list(ast.walk(ast.parse(expression, mode="eval")))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - bound
    return {name for name in names if name not in NAMES and not hasattr(builtins, name)}


def _comments(code: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]


def _said_in_code(code: str) -> list[str]:
    said = _comments(code)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.keyword) and node.arg in ("alt", "caption"):
            value = node.value
            parts = value.values if isinstance(value, ast.JoinedStr) else [value]
            said.append("".join(part.value if isinstance(part, ast.Constant) else "…" for part in parts))
        elif isinstance(node, ast.FunctionDef):
            said.append(ast.get_docstring(node) or "")
    return said
