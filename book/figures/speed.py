"""What grading costs: read from the measurements that are kept in the repository, drawn and put into tables.

``make bench`` measures and ``python -m bench --keep`` writes the file; nothing here is measured while a page is built.
"""

from __future__ import annotations

import html
import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from figures import style
from figures.style import Picture

READS = ("bench/results.json",)
"""The files that pages which use this module depend on."""
RESULTS: Final = Path(__file__).resolve().parents[2] / READS[0]
_MINUTE, _HOUR = 60.0, 3600.0
_GLUE: Final = "\N{NO-BREAK SPACE}"
"""Between a figure and its unit."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that one submission of a class takes."""

    label: str
    seconds: float
    ours: bool


@dataclass(frozen=True, slots=True)
class Rates:
    """What the time of a whole run is made of, in seconds."""

    start: float
    """Of a run over one submission."""
    each: float
    """For each further one."""
    nbgrader: float
    """For each in nbgrader's hands, with its feedback."""
    start_again: float
    """Of a run over a class that has not changed since the last one."""
    again: float
    """For each submission of such a class."""


def read(path: Path = RESULTS) -> dict[str, Any]:
    """Return the measurements by name.

    Raises:
        ValueError: one that the page is about has not been kept.
    """
    found = {line["name"]: line for line in json.loads(path.read_text(encoding="utf-8"))["lines"]}
    if missing := [name for name in _NEEDED if name not in found]:
        raise ValueError(f"{path.name} has no {', '.join(missing)}: python -m bench --keep")
    return found


_NEEDED: Final = (
    "grading", "grading_with_feedback", "isolation", "scale_time", "scale_memory_main", "scale_memory_own",
    "second_run", "stall", "notebook", "check_file",
)  # fmt: skip


def costs(results: Mapping[str, Any]) -> list[Cost]:
    """Return the seconds of one submission, nbgrader's first, from the slowest to the fastest of each."""
    plain, full = results["grading"], results["grading_with_feedback"]
    found = [
        Cost("nbgrader, with feedback", full["top"]["amount"], False),
        Cost("nbgrader", plain["top"]["amount"], False),
        Cost("this grader, with feedback", full["bottom"]["amount"], True),
    ]
    if plain["details"]["ours_without_pages_s"]:
        found.append(Cost("this grader", plain["bottom"]["amount"], True))
    second = results["second_run"]["top"]["amount"] / results["scale_time"]["details"]["submissions"]
    return [*found, Cost("the same class again", second, True)]


def rates(results: Mapping[str, Any]) -> Rates:
    """Return what the time of a run is made of."""
    large, details = results["scale_time"], results["scale_time"]["details"]
    nbgrader = results["grading_with_feedback"]["top"]["amount"]
    # A straight line through both classes, which two of a size that is nearly nothing may turn downward.
    few, many = (statistics.median(details[name]) for name in ("small_again_s", "again_s"))
    sizes = results["grading"]["details"]["submissions"], details["submissions"]
    again = max(0.0, (many - few) / (sizes[1] - sizes[0]))
    return Rates(details["start_s"], large["top"]["amount"], nbgrader, few - sizes[0] * again, again)


def duration(seconds: float) -> str:
    """Return a time as one says it: ``0.4 ms``, ``12 s``, ``3.4 min``, ``2.1 h``, with a space that does not break."""
    for size, unit in ((_HOUR, "h"), (_MINUTE, "min"), (1.0, "s")):
        if seconds >= size:
            return f"{_short(seconds / size)}{_GLUE}{unit}"
    return f"{_short(1000 * seconds)}{_GLUE}ms"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


# ---------------------------------------------------------------------------- figure


def draw(found: Sequence[Cost], narrow: bool = False) -> Figure:
    """Return one dot a cost on a logarithmic axis, with its time beside it.

    Dots, because the length of a bar means nothing where an axis has no zero.
    """
    figure, ax = style.new(*((3.6, 3.4) if narrow else (7.2, 2.6)))
    shortest, longest = min(cost.seconds for cost in found), max(cost.seconds for cost in found)
    for row, cost in enumerate(reversed(found)):
        ax.plot(cost.seconds, row, "o" if cost.ours else "s", ms=9, color=style.C1 if cost.ours else style.C2)
        beside = {"textcoords": "offset points", "xytext": (8, 1), "va": "bottom"}
        ax.annotate(duration(cost.seconds), (cost.seconds, row), **beside)
    ax.set_xscale("log")
    # Room on the right for the longest time, which is written beside its dot.
    decades = math.log10(longest / shortest)
    left, right = shortest / 2, longest * 10 ** (decades * (0.6 if narrow else 0.2) + 0.1)
    ax.set_xlim(left, right)
    ticks = [10.0**power for power in range(-6, 6) if left <= 10.0**power <= right]
    shown = ticks[:: 2 if narrow else 1]
    ax.set_xticks(shown, [duration(tick) for tick in shown])
    ax.minorticks_off()
    ax.set_ylim(-0.6, len(found) - 0.4)
    names = [cost.label.replace(", ", ",\n") if narrow else cost.label for cost in reversed(found)]
    ax.set_yticks(range(len(found)), names)
    ax.set_xlabel("time a submission")
    return figure


def alternative(found: Sequence[Cost]) -> str:
    """Return what the dots show, in words."""
    rows = "; ".join(f"{cost.label}: {duration(cost.seconds)}" for cost in found)
    return f"Dots on a logarithmic axis, one for the time that a submission takes in each way. {rows}."


# ---------------------------------------------------------------------------- tables


def class_table(found: Rates, sizes: Sequence[int]) -> Picture:
    """Return a table: classes of those sizes, and what they take."""
    rows = [
        (
            f"{size:,}",
            duration(found.start + (size - 1) * found.each),
            duration(found.start_again + size * found.again),
            duration(size * found.nbgrader),
        )
        for size in sizes
    ]
    return _table(("Submissions", "First run", "Again, unchanged", "nbgrader"), rows)


def results_table(results: Mapping[str, Any]) -> Picture:
    """Return a table of all that was measured: both figures, their ratio, the target, whether it is met."""
    rows = [
        (
            line["what"],
            f"{_amount(line['top'])}, {_amount(line['bottom'])}",
            f"{ratio(line['ratio'])}{_GLUE}×",
            f"{line['target']['sign']}{_GLUE}{ratio(line['target']['bound'])}",
            "yes" if line["holds"] else "no",
        )
        for line in results.values()
    ]
    return _table(("One against another", "Measured", "Ratio", "Target", "Met"), rows)


def machines(results: Mapping[str, Any]) -> Picture:
    """Return a table of what was measured where: machine, versions, commit, date, load."""
    rows: dict[tuple[str, ...], None] = {}
    for line in results.values():
        where = line["measured"]
        versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
        machine = f"{where['model']}, {where['cores']} cores, {where['memory_gib']:.0f} GiB, {where['system']}"
        load = f"{where['load']:.2f}{'' if where['quiet'] else ': not quiet, so times are too long'}"
        rows[machine, versions, where["commit"], where["when"], load] = None
    return _table(("Machine", "Versions", "Commit", "When", "Load before"), list(rows))


def ratio(value: float) -> str:
    """Return a ratio with three significant digits; one far below 1 as a fraction: a fiftieth is 1/50."""
    if 0 < value < 0.1:
        return f"1/{ratio(1 / value)}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _amount(amount: Mapping[str, Any]) -> str:
    value = amount["amount"]
    shown = duration(value) if amount["unit"].startswith("s") else f"{ratio(value)}{_GLUE}{amount['unit']}"
    return f"{amount['of']} {shown}".rstrip()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Picture:
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, head, row))}</tr>" for row in rows)
    markup = f'<table class="table hp-stack"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return Picture(markup, "\n".join(" | ".join(row) for row in (head, *rows)))


def _cell(name: str, text: str) -> str:
    return f'<td><span class="hp-column" data-column="{html.escape(name)}"></span>{_code(html.escape(text))}</td>'


def _code(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
