"""The same class on two local workers of Dask, and on two of the grader's own."""

from __future__ import annotations

from collections.abc import Iterator

from bench.runs import has_option
from bench.timing import Line, Skipped

_WHAT = "Dask on 2 local workers, against 2 of the grader's own"


def dask() -> Iterator[Line | Skipped]:
    """Seconds of a run either way."""
    if not has_option("--scheduler"):
        yield Skipped("dask", _WHAT, "`autograder grade` has no --scheduler")
        return
    yield Skipped("dask", _WHAT, "this measurement is not written yet, though --scheduler is there")
