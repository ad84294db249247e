"""The same class on two local workers of Dask, and on two of the grader's own."""

from __future__ import annotations

import contextlib
import importlib.util
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from bench import classes
from bench.runs import folder, grade, has_option
from bench.timing import Amount, Line, Skipped, Target

COUNT: Final = classes.UNIT
WORKERS: Final = 2
ROUNDS: Final = 3
_WHAT: Final = f"Dask on {WORKERS} local workers, against {WORKERS} of the grader's own"
# Ends with its standard input, so that nothing is left behind when the measurement is interrupted.
_CLUSTER: Final = f"""
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers={WORKERS}, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def dask() -> Iterator[Line | Skipped]:
    """Seconds of a run over an honest class either way, start included; the cluster itself is there before."""
    if not has_option("--scheduler"):
        yield Skipped("dask", _WHAT, "`autograder grade` has no --scheduler")
        return
    if importlib.util.find_spec("distributed") is None:
        yield Skipped("dask", _WHAT, "distributed is not installed")
        return
    ours: list[float] = []
    other: list[float] = []
    with folder() as work, cluster() as address:
        classes.make(work / "class", COUNT, classes.known_answers())
        for turn in range(ROUNDS):
            ours.append(grade(work / "class", work / f"own{turn}", workers=WORKERS).wall)
            other.append(grade(work / "class", work / f"dask{turn}", "--scheduler", address).wall)
    yield Line(
        "dask",
        _WHAT,
        Amount("Dask", statistics.median(other), "s"),
        Amount("own", statistics.median(ours), "s"),
        Target("≤", 1.15),
        ROUNDS,
        f"{COUNT} honest submissions; the cluster was started before.",
        {"submissions": COUNT, "dask_s": other, "own_s": ours},
    )


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """Yield the address of a scheduler on this machine, which has its workers."""
    command = [sys.executable, "-c", _CLUSTER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.communicate()
