"""Kill a run at seeded moments, start it again until it ends, and compare what it left with a run that nobody killed.

``python tests/killing.py KILLS SEED FOLDER`` prints one JSON object. Each round begins with a class that was graded and
partly marked by hand, and of which every third student handed in again. What is killed, with SIGKILL:

- ``grader``: the whole process, after a random time;
- ``writer``: the process, by itself, before a random statement to the database, file that is put in place or removed,
  or line of the journal (after half of it was written, in one of two cases);
- ``zygote``: a confined process, after a random time; the grader goes on;
- ``worker``: a grading process, after a random time; the grader goes on.

The graders are forked from one process that has imported everything and knows what is expected.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import timeless
from sqlalchemy import Engine, event

from autograder import catalog, pipeline
from autograder.collect import handed_in
from autograder.gradebook import url_of
from autograder.notebooks import submission_notebook
from autograder.pipeline import Class, Output, grade_class
from autograder.plan import Plan, live_plan
from autograder.pool import Process, Worker
from autograder.reference.device import live_reference
from autograder.reference.expectations import Seed

SLUG = "grad_scaler_step"
STUDENTS = 9
MANUAL = ("s00", "s01", "s03")
RUN_SECONDS = 300
"""A run that takes longer hangs."""
_CHILD_SUBREAPER = 36


# ------------------------------------------------------------------------------ class


def hand_in(tree: Path, round_: int) -> None:
    """Write the class: right and wrong answers, a damaged file; in the second round every third one is another."""
    exercise = catalog.load(SLUG)
    sources = [exercise.solution, *(answer.source for answer in exercise.wrong[:6])]
    for number in range(STUDENTS):
        path = tree / f"s{number:02}" / SLUG / f"{SLUG}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        pick = number + (3 if round_ == 2 and number % 3 == 0 else 0)
        path.write_text(submission_notebook(exercise, sources[pick % len(sources)]))
    damaged = tree / "s99" / SLUG / f"{SLUG}.ipynb"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_text("{")


class Timeless(Class):
    """Workers that leave out durations, since they differ between any two runs."""

    def _started(self) -> Worker:
        return Process(walled=True, start=timeless.START)


def run(tree: Path, out: Path, plan: Plan, workers: int) -> None:
    """Grade the class."""
    with Timeless(workers=workers) as started:
        output = Output(out, url_of(out / "gradebook.db"))
        pipeline.BATCH = 3
        grade_class(started, handed_in(tree, [SLUG]), {SLUG: plan}, output)


def mark_by_hand(out: Path) -> None:
    """Do what an instructor does in formgrader."""
    from nbgrader.api import Gradebook

    with Gradebook(url_of(out / "gradebook.db")) as gradebook:
        for student in MANUAL:
            grade = gradebook.find_submission_notebook(SLUG, SLUG, student).grades[0]
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 0.5, 0.25, False
            comment = gradebook.find_submission_notebook(SLUG, SLUG, student).comments[0]
            comment.manual_comment = "Seen."
        gradebook.db.commit()


# ------------------------------------------------------------------------------ state


def state(out: Path) -> dict[str, Any]:
    """Return everything that a run leaves, with what differs between any two runs taken out: ids of rows, of files."""
    files = {
        path.relative_to(out).as_posix(): path.read_bytes().hex()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.endswith((".lock", ".db", ".graded.json", ".graded.index"))
    }
    copies = sorted(path.name for path in (out / "backups").glob("*"))
    return {"files": files, "gradebook": rows(out / "gradebook.db"), "copies": copies}


def rows(path: Path) -> list[str]:
    """Return the gradebook's rows, all tables and columns, with the ids of rows replaced by what they name."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = {name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')] for name in names}
        problems = connection.execute("PRAGMA integrity_check").fetchall()
    assert [tuple(row) for row in problems] == [("ok",)]
    return named_rows(tables)


def named_rows(tables: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return the rows of tables, with the ids of rows replaced by what they name."""
    known = {row["id"]: row for table in tables.values() for row in table if "id" in row}

    def named(value: Any, own: bool = False) -> Any:
        if isinstance(value, str) and len(value) == 32 and value in known:
            row = known[value]
            return [named(item) for key, item in sorted(row.items()) if key in _NAMES or key.endswith("_id")]
        return value

    return sorted(
        json.dumps([name, {key: named(value) for key, value in row.items()}], default=str)
        for name, table in tables.items()
        for row in table
    )


_NAMES = ("name", "type")


# ------------------------------------------------------------------------------ kills


def die_at(moment: int, torn: bool) -> None:
    """Let this process end itself before its n-th change of a file or the database."""
    left = [moment]
    lock = threading.Lock()

    def step(*_: object) -> None:
        with lock:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    write = os.write

    def half(descriptor: int, data: Any) -> int:
        if torn and left[0] == 0 and bytes(data[:12]) == b'{"student": ':
            write(descriptor, data[: len(data) // 2])
        step()
        return write(descriptor, data)

    os.write = half
    for name in ("replace", "unlink", "fsync"):
        real = getattr(os, name)
        setattr(os, name, lambda *args, real=real, **more: (step(), real(*args, **more))[1])
    event.listen(Engine, "before_cursor_execute", step)
    event.listen(Engine, "commit", step)


def children(pid: int) -> dict[str, list[int]]:
    """Return a grader's processes by kind: its workers, and as ``zygote`` bubblewrap and what it runs below them.

    What is forked for a submission is none of them.
    """
    workers = _below(pid)
    walls = [child for worker in workers for child in _below(worker)]
    return {"worker": workers, "zygote": [*walls, *(child for wall in walls for child in _below(wall))]}


def _below(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def start(
    tree: Path, out: Path, plan: Plan, log: Path, *, workers: int = 1, moment: int = -1, torn: bool = False
) -> int:
    """Fork a grader; return its process id."""
    if (pid := os.fork()) == 0:
        status = 1
        try:
            if moment >= 0:
                die_at(moment, torn)
            run(tree, out, plan, workers)
            status = 0
        except BaseException as error:
            log.write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(status)
    return pid


def ended(pid: int, seconds: float) -> int | None:
    """Wait for a grader; return its status, None where it still runs."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if time.monotonic() >= until:
            return None
        time.sleep(0.005)


def finish(pid: int, log: Path) -> int:
    """Wait for a grader to end; return its status, and raise where it failed or hangs."""
    status = ended(pid, RUN_SECONDS)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise SystemExit("a run hangs")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a run failed: {log.read_text()}")
    return status


def wait_for_orphans() -> None:
    """Wait until nothing is left of the graders that were killed: a worker may be putting a last page in place."""
    until = time.monotonic() + RUN_SECONDS
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] or time.monotonic() < until:
            time.sleep(0.005)
        raise SystemExit("what a grader that was killed had started does not end")


def campaign(kills: int, seed: int, folder: Path) -> dict[str, Any]:
    """Kill until there were as many kills; return counts, and the first difference if there is one."""
    chance = random.Random(seed)
    # A machine that stands still for seconds costs no mark.
    plan = live_plan(replace(catalog.load(SLUG), seconds=60.0), Seed("seed:7"), live_reference("cpu"))
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)  # so that workers of a killed grader are ours to wait for
    tree, log = folder / "in", folder / "log"
    hand_in(tree, 1)
    finish(start(tree, folder / "before", plan, log), log)
    mark_by_hand(folder / "before")
    hand_in(tree, 2)
    shutil.copytree(folder / "before", folder / "whole")
    begun = time.monotonic()
    finish(start(tree, folder / "whole", plan, log), log)
    seconds = time.monotonic() - begun
    whole = state(folder / "whole")
    assert sum('"needs_manual_grade": 1' in row and '"manual_score": 0.5' in row for row in whole["gradebook"]) == 2
    assert whole["copies"] == ["gradebook.1.db"]
    counts = dict.fromkeys(("grader", "writer", "zygote", "worker"), 0)
    rounds = equal = 0
    first = ""
    while sum(counts.values()) < kills:
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder / "before", out)
        rounds += 1
        for _ in range(chance.randint(1, 4)):
            kind = chance.choice(("grader", "writer", "writer", "zygote", "worker"))
            moment, torn = chance.randint(0, 160), chance.random() < 0.5
            workers = chance.choice((1, 1, 2))
            pid = start(tree, out, plan, log, workers=workers, moment=moment if kind == "writer" else -1, torn=torn)
            if kind != "writer" and ended(pid, chance.uniform(0.0, 1.0) * seconds) is None:
                below = children(pid).get(kind, [])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(below) if below else pid, signal.SIGKILL)
                    counts[kind if below else "grader"] += 1
                if below:
                    finish(pid, log)
                    continue
            status = finish(pid, log) if kind == "writer" else _reap(pid)
            if kind == "writer":
                counts[kind] += os.WIFSIGNALED(status)
        finish(start(tree, out, plan, log), log)
        wait_for_orphans()
        now = state(out)
        equal += now == whole
        print(f"{sum(counts.values())} kills in {rounds} rounds, {equal} ended equal", file=sys.stderr, flush=True)
        if now != whole and not first:
            first = _difference(whole, now)
            shutil.copytree(out, folder / "differs")
    return {"kills": counts, "rounds": rounds, "equal": equal, "difference": first}


def _reap(pid: int) -> int:
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, 0)[1]
    return 0


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    for kind in one:
        if one[kind] != other[kind]:
            left, right = one[kind], other[kind]
            if isinstance(left, dict):
                return f"{kind}: {[name for name in {*left, *right} if left.get(name) != right.get(name)]}"
            return f"{kind}: {sorted(set(left) ^ set(right))[:4]}"
    return ""


if __name__ == "__main__":
    print(json.dumps(campaign(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
