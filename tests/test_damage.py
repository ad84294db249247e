"""Broken notebooks by the hundred: each is graded or gets one line that names its file; nothing stops the class."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import patient
import pytest
from damage import KINDS, Damage, damage

from autograder import catalog
from autograder.notebooks import submission_notebook

ROOT = Path(__file__).parent.parent
STEP = catalog.load("grad_scaler_step")
NAME = f"{STEP.slug}.ipynb"
GOOD = submission_notebook(STEP, STEP.solution)
# A hang would never end: far above what a class takes, and not compared with anything.
NEVER = 1800

pytestmark = pytest.mark.needs("bubblewrap")


def grade(
    folder: Path, damages: dict[str, Damage]
) -> tuple[subprocess.CompletedProcess[str], dict[str, dict[str, Any]]]:
    tree = folder / "class"
    for student, one in damages.items():
        path = tree / student / STEP.slug / NAME
        path.parent.mkdir(parents=True)
        one.put(path)
    command = [
        *patient.COMMAND,
        "grade",
        str(tree),
        "--out",
        str(folder / "out"),
        "--json",
        "--seed",
        "1",
    ]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=NEVER
    )
    return done, {record["student"]: record for record in map(json.loads, done.stdout.splitlines())}


def check_class(folder: Path, seeds: range) -> None:
    damages = {f"s{seed:05}": damage(seed, GOOD) for seed in seeds}
    done, records = grade(folder, damages)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert records.keys() == damages.keys()
    wrong = {student: trouble for student, one in damages.items() if (trouble := _trouble(one, records[student]))}
    assert not wrong
    assert (folder / "out" / "grades.csv").read_text(encoding="utf-8").count("\n") == len(damages) + 1


def _trouble(one: Damage, record: dict[str, Any]) -> str:
    """Return what is wrong with a record, "" where nothing is."""
    reason, status = record["reason"] or "", record["status"]
    said = f"{one.kind}: {status}, {record['score']}: {reason[:300]!r}"
    if "failed on it" in reason or len(reason.splitlines()) > 1:
        return f"not a reason: {said}"
    if status == "unreadable":
        named = STEP.slug in reason or ".ipynb" in reason
        return "" if named and record["score"] is None and not one.harmless else f"unreadable: {said}"
    if one.harmless and record["score"] != STEP.max_score:
        return f"the answer is whole: {said}"
    return "" if 0 <= record["score"] <= STEP.max_score else f"no mark: {said}"


def test_the_same_seed_does_the_same_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6 * len(KINDS)):
        texts = []
        for turn, now in (("a", 1.7e9), ("b", 1.8e9)):
            monkeypatch.setattr(time, "time", lambda now=now: now)
            path = tmp_path / turn / str(seed) / NAME
            path.parent.mkdir(parents=True)
            damage(seed, GOOD).put(path)
            ordinary = path.is_file() and path.stat().st_size < 2**30 and not path.is_symlink()
            texts.append(path.read_bytes() if ordinary else b"")
        assert texts[0] == texts[1], damage(seed, GOOD).kind


def test_every_kind_of_damage_several_times(tmp_path: Path) -> None:
    check_class(tmp_path, range(4 * len(KINDS)))


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_two_thousand_broken_notebooks(tmp_path: Path, part: int) -> None:
    check_class(tmp_path, range(1000 + 510 * part, 1000 + 510 * (part + 1)))
