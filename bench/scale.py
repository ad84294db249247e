"""What grows with the class: time a submission, memory, and what a second run over an unchanged class costs."""

from __future__ import annotations

import json
import random
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench import classes
from bench.runs import Run, folder, grade
from bench.timing import Amount, Line, Target

SMALL: Final = classes.UNIT
ROUNDS: Final = 3
"""Runs over the small class and over a class of one; a large class is graded once."""
CHUNKS: Final = 10
CHUNK: Final = 100


def scale(size: int) -> Iterator[Line]:
    """A class of ``size`` against one of 200: the same answers, handed in by more students."""
    size = max(1, round(size / SMALL)) * SMALL
    small: list[Run] = []
    small_again: list[Run] = []
    alone: list[Run] = []
    with folder() as work:
        answers = classes.known_answers()
        classes.make(work / "small", SMALL, answers)
        classes.make(work / "large", size, answers)
        classes.make(work / "one", 1, answers)
        for turn in range(ROUNDS):
            alone.append(grade(work / "one", work / f"one{turn}"))
            small.append(grade(work / "small", work / f"small{turn}"))
            small_again.append(grade(work / "small", work / f"small{turn}"))
        large = grade(work / "large", work / "out")
        again = [grade(work / "large", work / "out") for _ in range(ROUNDS)]
    start = statistics.median(run.wall for run in alone)
    each_small = (statistics.median(run.wall for run in small) - start) / (SMALL - 1)
    each_large = (large.wall - start) / (size - 1)
    details = {
        "submissions": size,
        "start_s": start,
        "small_s": [run.wall for run in small],
        "large_s": large.wall,
        "again_s": [run.wall for run in again],
        "small_again_s": [run.wall for run in small_again],
        "memory_mib": {
            str(count): {"main": run.main_memory, "own": run.own_memory}
            for count, run in ((1, alone[0]), (SMALL, _most(small)), (size, large))
        },
        "samples": large.samples,
    }
    yield Line(
        "scale_time",
        f"time a submission at {size:,}, against at {SMALL}",
        Amount(f"at {size:,}", each_large, "s"),
        Amount(f"at {SMALL}", each_small, "s"),
        Target("≤", 1.1),
        1,
        f"Without the start, which takes {start:.2f} s: the median of {ROUNDS} runs over one submission.",
        details,
    )
    for name, what, memory in (
        ("scale_memory_main", "the main process", [run.main_memory for run in (large, _most(small))]),
        ("scale_memory_own", "all of the grader's processes", [run.own_memory for run in (large, _most(small))]),
    ):
        yield Line(
            name,
            f"memory of {what} at {size:,}, against at {SMALL}",
            Amount(f"at {size:,}", memory[0], "MiB"),
            Amount(f"at {SMALL}", memory[1], "MiB"),
            Target("≤", 1.1),
            1,
        )
    yield Line(
        "second_run",
        f"a second run over the unchanged {size:,}, against the first",
        Amount("second", statistics.median(run.wall for run in again), "s"),
        Amount("first", large.wall, "s"),
        Target("≤", 1 / 50),
        ROUNDS,
        "Start included in both.",
    )


def _most(runs: list[Run]) -> Run:
    return max(runs, key=lambda run: run.own_memory)


# ------------------------------------------------------------------- a very large class


def twenty_thousand(size: int) -> Iterator[Line]:
    """A class of 20,000: wall time, memory over time, and whether each mark is what it is in a class of 100."""
    with folder() as work:
        made = classes.make(work / "class", size, classes.known_answers())
        run = grade(work / "class", work / "out")
        whole = marks(work / "out")
        assert len(whole) == size, f"{len(whole)} records of {size} submissions"
        alike = total = 0
        for number, chunk in enumerate(_chunks(made)):
            tree, out = work / f"chunk{number}", work / f"chunk{number}.out"
            for one in chunk:
                path = tree / one.path.relative_to(work / "class")
                path.parent.mkdir(parents=True)
                shutil.copy(one.path, path)
            grade(tree, out)
            found = marks(out)
            assert len(found) == len(chunk)
            total += len(found)
            alike += sum(whole[key] == mark for key, mark in found.items())
        other = {key: mark for key, mark in whole.items() if mark[0] != "graded"}
    yield Line(
        "twenty_thousand_alike",
        f"marks in a class of {size:,} that are the same in a class of {CHUNK}",
        Amount("the same", alike, "submissions"),
        Amount("compared", total, ""),
        Target("≥", 1),
        1,
        f"Whole class: {run.wall:.0f} s, {1000 * run.wall / size:.1f} ms a submission; {len(other)} without a mark.",
        {
            "submissions": size,
            "wall_s": run.wall,
            "main_memory_mib": run.main_memory,
            "own_memory_mib": run.own_memory,
            "samples": run.samples,
        },
    )
    second, last = _tenths(run)
    yield Line(
        "twenty_thousand_memory",
        "memory of the grader in the last tenth of that run, against the second tenth",
        Amount("last", last, "MiB"),
        Amount("second", second, "MiB"),
        Target("≤", 1.1),
        1,
    )


def _tenths(run: Run) -> tuple[float, float]:
    """Return the mean memory of all of the grader's processes in the second and in the last tenth of a run, in MiB."""
    held = [own for _, _, own in run.samples]
    tenth = max(1, len(held) // 10)
    return statistics.fmean(held[tenth : 2 * tenth] or held), statistics.fmean(held[-tenth:])


def _chunks(made: list[classes.Submitted]) -> list[list[classes.Submitted]]:
    """Return chunks of a class, drawn from all of it, the same at every run."""
    drawn = random.Random(20_000).sample(made, min(len(made), CHUNKS * CHUNK))
    return [drawn[start : start + CHUNK] for start in range(0, len(drawn), CHUNK)]


def marks(out: Path) -> dict[tuple[str, str], Any]:
    """Return of each submission what a run decided: status, points, and every check with its message."""
    found = {}
    with open(out / "records.jsonl", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            key = record["student"], record["exercise"]
            found[key] = (record["status"], record["score"], json.dumps(record["checks"], sort_keys=True))
    return found
