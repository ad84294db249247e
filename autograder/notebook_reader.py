"""Read what a student handed in: a notebook's bytes -> the student's code cells. Nothing is run, nothing is trusted.

Plain JSON and own checks, on purpose: a notebook that fails nbformat's validation mostly still holds a student's work.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from autograder.models import Cell

Json: TypeAlias = dict[str, Any]

_DIGITS: Final = 18
"""Longer integers cost quadratic time to read, and nothing here needs one."""
_CONTAINERS: Final = 1_000_000
"""Lists and objects in a file; each costs its reader far more than its two bytes, and other workers wait meanwhile."""
_CELLS: Final = 2_000
"""Cells of a notebook, of whatever kind."""
_CODE: Final = 2**20
"""Characters of all code cells together."""
_CLEAR: Final = "clear what does not belong to the answer and hand it in again"
_NAMED: Final = 5
"""How many cells a note names before it only counts."""


class Unreadable(ValueError):
    """The file holds no student code that could be graded; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class ReadNotebook:
    """The student's code cells, in order, and what the reader had to put up with."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawCell:
    """Any cell, made safe to handle: the source is a clean text, the metadata is an object."""

    number: int
    kind: str
    """code, markdown or raw."""
    source: str
    grade_id: str
    solution: bool
    graded: bool
    """One of the check cells; a cell for an answer is none, even where it is marked to be graded."""


_NOTES: Final = 20
"""Kinds of oddities that are told: a notebook may have one a cell."""


@dataclass(slots=True)
class _Notes:
    """One note a kind of oddity, however many cells show it."""

    found: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, oddity: str, number: int) -> None:
        self.found[oddity].append(number)

    def texts(self) -> tuple[str, ...]:
        some = list(self.found.items())[:_NOTES]
        more = len(self.found) - len(some)
        texts = [f"{_cells(numbers)}: {oddity}" for oddity, numbers in some]
        return (*texts, f"and {more} more oddities") if more > 0 else tuple(texts)


def _cells(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"cell {numbers[0]}"
    named = ", ".join(map(str, numbers[:_NAMED]))
    more = len(numbers) - _NAMED
    return f"cells {named}" + (f" and {more} more" if more > 0 else "")


def read_notebook(data: bytes) -> ReadNotebook:
    """Return the student's code cells of a notebook: all code cells but the check cells.

    Args:
        data: the file's bytes; anything at all.

    Raises:
        Unreadable: it is no notebook, or one without code of the student's.
    """
    raw, notes = read_cells(data)
    cells = tuple(Cell(cell.number, cell.source) for cell in raw if cell.kind == "code" and not cell.graded)
    if not any(cell.source.strip() for cell in cells):
        raise Unreadable("the notebook has no code cell with an answer in it: all were removed or are empty")
    if (size := sum(len(cell.source) for cell in cells)) > _CODE:
        raise Unreadable(f"its code cells have {size} characters, and at most {_CODE} are graded; {_CLEAR}")
    return ReadNotebook(cells, notes)


def read_cells(data: bytes) -> tuple[tuple[RawCell, ...], tuple[str, ...]]:
    """Return all cells of a notebook, in order, and notes about the odd ones; Unreadable where there are none."""
    notes = _Notes()
    cells = tuple(_raw_cells(_cell_list(_parse(data)), notes))
    if not cells:
        raise Unreadable("none of the notebook's cells can be read")
    seen: dict[str, list[int]] = defaultdict(list)
    for cell in cells:
        if cell.grade_id:
            seen[cell.grade_id].append(cell.number)
    for grade_id, numbers in seen.items():
        for number in numbers if len(numbers) > 1 else ():
            notes.add(f"share the grade id {grade_id[:60]!r}; a cell was probably copied", number)
    return cells, notes.texts()


# --------------------------------------------------------------------------- the file


def _parse(data: bytes) -> Any:
    if not data.strip():
        raise Unreadable("the file is empty")
    if (count := data.count(b"[") + data.count(b"{")) > _CONTAINERS:
        raise Unreadable(f"the file has {count} brackets, and at most {_CONTAINERS} are read; {_CLEAR}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"the file is not UTF-8 text: byte {error.start} cannot be read") from None
    try:
        return json.loads(text, strict=False, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Unreadable(f"the file is not JSON, as a notebook is: {error.msg} at {place}") from None
    except RecursionError:
        raise Unreadable("the file is nested too deeply to be a notebook") from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float("inf")


def _cell_list(notebook: Any) -> list[Any]:
    if not isinstance(notebook, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(notebook), "a single value")
        raise Unreadable(f"the file is not a notebook: its JSON is {kind}, not an object")
    major = notebook.get("nbformat")
    old = major if isinstance(major, int) and not isinstance(major, bool) and major < 4 else None
    if "worksheets" in notebook or old is not None:
        mend = "convert it with `jupyter nbconvert --to notebook --inplace FILE` and submit again"
        raise Unreadable(f"the notebook is in the old format {old if old in (1, 2) else 3}; {mend}")
    if "cells" not in notebook:
        raise Unreadable("the file is not a notebook: it has no list of cells")
    cells = notebook["cells"]
    if not isinstance(cells, list):
        raise Unreadable("the notebook is damaged: its cells are not a list")
    if not cells:
        raise Unreadable("the notebook has no cells")
    if len(cells) > _CELLS:
        raise Unreadable(f"the notebook has {len(cells)} cells, and at most {_CELLS} are read; {_CLEAR}")
    return cells


# -------------------------------------------------------------------------- the cells


def _raw_cells(cells: list[Any], notes: _Notes) -> Iterator[RawCell]:
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            notes.add("not a cell, left out", number)
            continue
        mark = _mark(cell, notes, number)
        kind = _kind(cell, mark, notes, number)
        if kind:
            grade_id = mark.get("grade_id")
            solution = mark.get("solution") is True
            yield RawCell(
                number,
                kind,
                _source(cell, notes, number),
                _clean(grade_id) if isinstance(grade_id, str) else "",
                solution,
                mark.get("grade") is True and not solution,
            )


def _mark(cell: Json, notes: _Notes, number: int) -> Json:
    metadata = cell.get("metadata", {})
    if not isinstance(metadata, dict):
        notes.add("damaged metadata, ignored", number)
        return {}
    mark = metadata.get("nbgrader", {})
    if not isinstance(mark, dict):
        notes.add("damaged nbgrader metadata, ignored", number)
        return {}
    return mark


def _kind(cell: Json, mark: Json, notes: _Notes, number: int) -> str:
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        notes.add("neither code nor text, left out", number)
        return ""
    if kind != "code" and mark.get("solution") is True and mark.get("cell_type", "code") == "code":
        notes.add(f"the answer was turned into a {kind} cell; read as code", number)
        return "code"
    return str(kind)


def _source(cell: Json, notes: _Notes, number: int) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        parts = [part for part in source if isinstance(part, str)]
        if len(parts) < len(source):
            notes.add("parts of its source are no text, left out", number)
        source = "".join(parts)
    if not isinstance(source, str):
        notes.add("its source is no text, read as empty", number)
        return ""
    clean = _clean(source)
    if clean != source:
        notes.add("held characters that no text may hold (NUL or half a surrogate pair), mended", number)
    return clean


def _clean(text: str) -> str:
    """Return the text without NUL, lone surrogates replaced: it can be compiled and written as UTF-8."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "")
