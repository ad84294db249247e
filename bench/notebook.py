"""How long a student waits for ``check`` in a notebook."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from autograder import catalog
from bench.timing import Amount, Line, Target

LATER: Final = 7
MAY_TAKE: Final = 0.2
"""Seconds."""

# A process of its own, as a notebook's kernel is; torch is there, because the student's own code needs it.
_NOTEBOOK: Final = """
import json, sys, time
import torch

start = time.perf_counter()
from autograder import check
imported = time.perf_counter() - start

def tried(slug, answer):
    start = time.perf_counter()
    feedback = check(slug, answer)
    feedback._repr_html_()
    return time.perf_counter() - start, feedback.score

names = {}
slug, entry, source, later = json.loads(sys.stdin.read())
exec(compile(source, "<ipython-input-1>", "exec"), names)
first, score = tried(slug, names[entry])
assert score.score == score.max_score
print(json.dumps([imported, first, [tried(slug, names[entry])[0] for _ in range(later)]]))
"""


def notebook() -> Iterator[Line]:
    """The slowest exercise's ``check`` of its solution with the page that Jupyter shows, after the first call."""
    taken = {exercise.slug: _one(exercise) for exercise in catalog.load_all().values()}
    later = {slug: statistics.median(times) for slug, (_, _, times) in taken.items()}
    slowest = max(later, key=lambda slug: later[slug])
    yield Line(
        "notebook",
        f"`check` in a notebook after the first call, the slowest of {len(later)} exercises, against what it may take",
        Amount(slowest, later[slowest], "s"),
        Amount("allowed", MAY_TAKE, "s"),
        Target("≤", 1),
        LATER,
        f"The median exercise takes {statistics.median(later.values()):.3f} s; the first call of the slowest "
        f"{max(first for _, first, _ in taken.values()):.2f} s, and the import before it "
        f"{statistics.median(imported for imported, _, _ in taken.values()):.2f} s.",
        {
            slug: {"import_s": imported, "first_s": first, "later_s": later[slug]}
            for slug, (imported, first, _) in taken.items()
        },
    )


def _one(exercise: Any) -> tuple[float, float, list[float]]:
    given = json.dumps([exercise.slug, exercise.entry, exercise.solution, LATER])
    done = subprocess.run([sys.executable, "-c", _NOTEBOOK], input=given, capture_output=True, text=True, check=True)
    imported, first, later = json.loads(done.stdout.splitlines()[-1])
    return imported, first, later
