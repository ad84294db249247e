"""What the grader withstands, read from its own code and from the tables of its tests (the page for instructors).

The tests' files are read and not run: what a test attacks stands there as a literal.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from autograder import catalog, observations, untrusted_files
from autograder.limits import MOST_WAITING
from autograder.sandbox import frames, inner, leftovers, walls
from autograder.sandbox.layers import Layers
from autograder.sandbox.zygote import STUDENT
from figures.style import Picture

ROOT = Path(__file__).resolve().parents[2]
READS = ("tests/hostile/test_hostile_*.py", "tests/sandbox/test_layers.py", "tests/sandbox/test_forbid.py")
"""The files that pages which use this module depend on."""
_LAYERS, _FORBID = (ROOT / name for name in READS[1:])


@dataclass(frozen=True, slots=True)
class Breach:
    """An attack that succeeds where a layer is missing."""

    layer: str
    also_off: tuple[str, ...]
    """The other layers that must be missing for it to succeed."""
    attack: str


def breaches() -> list[Breach]:
    """Return the attacks of ``test_layers``, those that need a grader run by root last."""
    tables = _tables(_LAYERS)
    return [
        Breach(ast.literal_eval(value.args[0]), ast.literal_eval(value.args[1]), ast.literal_eval(key))
        for name in ("ATTACKS", "AS_ROOT")
        for key, value in _items(tables[name])
        if isinstance(value, ast.Call)
    ]


def hostile() -> dict[str, int]:
    """Return how many hostile submissions there are, by what the file that holds them says it is about."""
    found = {}
    for path in sorted(ROOT.glob(READS[0])):
        table = _tables(path).get("ATTACKS")
        if table is not None:
            says = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
            found[says.split("\n")[0].partition(". ")[0].rstrip(".")] = len(_elements(table))
    return found


def routes() -> tuple[list[str], list[str]]:
    """Return the routes to a forbidden name that ``test_forbid`` takes: in the source, and at run time."""
    tables = _tables(_FORBID)
    source, run = ([ast.literal_eval(key) for key, _ in _items(tables[name])] for name in ("IN_SOURCE", "AT_RUN_TIME"))
    return source, run


def limits() -> dict[str, str]:
    """Return what one submission may use, as it is enforced."""
    seconds = sorted({exercise.seconds for exercise in catalog.load_all(ROOT).values()})
    return {
        "Time of one check": f"{_span(seconds, 0.5)}: half of the exercise's budget",
        "Time of all checks": f"{_span(seconds, 2.0)}: twice that budget",
        "Waiting for a processor": f"{MOST_WAITING} times that budget, which does not count",
        "Processor time": f"{STUDENT.cpu} s for its process",
        "Memory": f"{_mib(STUDENT.memory)} above what Python with torch has",
        "Processes and threads": f"{inner.PROCESSES or 'none'} beside its own",
        "Open files": f"{inner.DESCRIPTORS}",
        "A file": f"{_mib(STUDENT.file)}",
        "All its files": f"{_mib(walls.TMPFS_BYTES)} and {leftovers.MOST_ENTRIES:,} files, gone when it ends",
        "Printed text that is kept": f"{observations.OUTPUT_LIMIT:,} characters",
        "An answer to the grader": f"{_mib(frames.LIMIT)} to be read at all; far less, by what was asked, to be judged",
        "The file that is handed in": f"{_mib(untrusted_files.LIMIT)}",
    }


# --------------------------------------------------------------------------- tables


def layer_table() -> Picture:
    """Return a table: each layer, what gets through without it, and what gets through where others are missing too."""
    found = breaches()
    rows = []
    for layer in (field.name for field in fields(Layers)):
        alone = [breach.attack for breach in found if breach.layer == layer and not breach.also_off]
        beside = [breach for breach in found if breach.layer == layer and breach.also_off]
        together = [
            f"without {' and '.join(others)} too: {_listed(b.attack for b in beside if b.also_off == others)}"
            for others in dict.fromkeys(breach.also_off for breach in beside)
        ]
        rows.append((layer, _listed(alone) or "nothing that was tried", "; ".join(together) or "–"))
    return _table(("Layer", "Off alone, this gets through", "This gets through only where more is off"), rows)


def hostile_table() -> Picture:
    """Return a table of the hostile submissions: what they are about, and how many there are."""
    found = hostile()
    rows = [(kind, str(count)) for kind, count in found.items()]
    return _table(("What they try", "Programs"), [*rows, ("All of them", str(sum(found.values())))])


def limit_table() -> Picture:
    """Return a table of the limits of one submission."""
    return _table(("Of one submission", "At most"), list(limits().items()))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Picture:
    wide = len(head) > 2
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(_cells(head, row, wide))}</tr>" for row in rows)
    kind = "table hp-stack" if wide else "table"
    markup = f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return Picture(markup, "\n".join(" | ".join(row) for row in (head, *rows)))


def _cells(head: Sequence[str], row: Sequence[str], wide: bool) -> Iterator[str]:
    for name, text in zip(head, row, strict=True):
        label = f'<span class="hp-column" data-column="{html.escape(name)}"></span>' if wide else ""
        yield f"<td>{label}{html.escape(text)}</td>"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _span(seconds: Sequence[float], factor: float) -> str:
    ends = dict.fromkeys(f"{factor * end:g}" for end in (seconds[0], seconds[-1]))
    return f"{' to '.join(ends)} s"


def _mib(size: int) -> str:
    return f"{size / 2**20:g} MiB"


# --------------------------------------------------------------------------- reading


def _tables(path: Path) -> dict[str, ast.expr]:
    """Return what a file assigns at its top level, by name."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _items(table: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if not isinstance(table, ast.Dict) or None in table.keys:
        raise ValueError(f"line {table.lineno}: not a dictionary that is written out")
    return [(key, value) for key, value in zip(table.keys, table.values, strict=True) if key is not None]


def _elements(table: ast.expr) -> list[ast.expr]:
    if not isinstance(table, ast.Tuple) or not all(isinstance(item, ast.Call) for item in table.elts):
        raise ValueError(f"line {table.lineno}: not a tuple of calls that is written out")
    return table.elts
