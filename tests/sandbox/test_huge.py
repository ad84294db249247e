"""A warm process's memory in huge pages: what is asked for, and that nothing changes but the pages."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import catalog
from autograder.attempt import Cage, grade_one
from autograder.models import Cell, Submission
from autograder.plan import recorded_plan
from autograder.sandbox.huge import PAGE, own

STEP = catalog.load("grad_scaler_step")
PLAN = recorded_plan(STEP)
SUBMISSION = Submission("ada", STEP.slug, Path("x.py"), (Cell(1, STEP.solution),), "hash")

MAPS = """\
555500000000-555500200000 r-xp 00000000 fe:00 1234 /usr/bin/python3
555500300000-555500a00000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
7f0000200000-7f0000600000 rw-p 00000000 00:00 0
7f0000600000-7f0000a00000 rw-s 00000000 00:01 5 /memfd:shared (deleted)
7f0000a00000-7f0000e00000 rw-p 00001000 fe:00 99 /usr/lib/libtorch.so
7f0000e00000-7f0001200000 r--p 00000000 00:00 0
7ffc00000000-7ffc00400000 rw-p 00000000 00:00 0 [stack]
"""


def test_whole_pages_of_memory_that_is_its_own_alone() -> None:
    starts = [hex(start) for start in own(MAPS.splitlines())]
    assert starts == ["0x555500400000", "0x555500600000", "0x555500800000", "0x7f0000200000", "0x7f0000400000"]
    assert PAGE == 0x200000


PROBE = """
from autograder.sandbox import huge
kept = [float(n) for n in range(2_000_000)]
before = sum(kept)
done = huge.collapse()
assert done % huge.PAGE == 0
assert sum(kept) == before
print(done)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are asked for on Linux alone")
def test_what_is_in_memory_stays_as_it_is() -> None:
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    version = tuple(int(part) for part in os.uname().release.split(".")[:2])
    offered = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if version >= (6, 1) and offered.exists() and "[never]" not in offered.read_text():
        assert int(run.stdout) > 0


@pytest.mark.parametrize("many", [False, True])
def test_a_warm_process_for_many_submissions_answers_as_any_other(many: bool) -> None:
    assert PLAN is not None
    plan = replace(PLAN, exercise=replace(STEP, seconds=60.0))  # a machine that stands still costs no mark
    cage = Cage(walled=False, many=many)
    try:
        assert grade_one(plan, SUBMISSION, cage).score == STEP.max_score
        assert grade_one(plan, SUBMISSION, cage).score == STEP.max_score
    finally:
        cage.drop()
