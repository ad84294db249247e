"""What a run of the measurements leaves: JSON, with machine, versions and commit beside each line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from bench.machine import Machine
from bench.timing import Line, Skipped

LATEST: Final = Path("build/bench.json")
KEPT: Final = Path("bench/results.json")
"""Committed: the book's page reads it."""


def write(path: Path, machine: Machine, lines: Iterable[Line | Skipped]) -> None:
    """Write the lines of one run."""
    _write(path, {line.name: _row(machine, line) for line in lines})


def keep(path: Path, machine: Machine, lines: Iterable[Line | Skipped]) -> None:
    """Put measured lines in place of those of the same name; what was not measured now stays as it is."""
    kept = read(path) if path.exists() else {}
    measured = {line.name: _row(machine, line) for line in lines if isinstance(line, Line)}
    # In the order in which they were measured last.
    _write(path, {name: row for name, row in kept.items() if name not in measured} | measured)


def read(path: Path) -> dict[str, Any]:
    """Return the lines of a file by name."""
    return {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["lines"]}


def _row(machine: Machine, line: Line | Skipped) -> dict[str, Any]:
    return {**line.record(), "measured": machine.record()}


def _write(path: Path, rows: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows.values())
    path.write_text(f'{{"lines": [\n{lines}\n]}}\n', encoding="utf-8")
