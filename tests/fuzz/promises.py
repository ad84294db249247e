"""What each decoder promises for any input at all."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from dataclasses import replace
from functools import cache
from typing import Any

from autograder import catalog
from autograder.checks import judge_check
from autograder.models import Case, Check, Observation, Reference, Score
from autograder.notebook_reader import ReadNotebook, Unreadable
from autograder.notebooks import graded_notebook, is_untouched, own_cells, read_notebook
from autograder.observations import decode_observation, digest, encode_observation
from autograder.plan import Plan, recorded_plan
from autograder.report.html import feedback_page
from autograder.report.records import from_record, json_line
from autograder.sandbox import frames, zygote
from autograder.values import BadValue, show

SLUGS = ("grad_scaler_step", "dynamic_loss_scale")


@cache
def plan(slug: str) -> Plan:
    """Return an exercise with what its reference did."""
    known = recorded_plan(catalog.load(slug))
    assert known is not None
    return known


# -------------------------------------------------------------------------- notebooks


def notebook_is_read_or_refused(data: bytes) -> ReadNotebook | None:
    """A notebook gives clean cells, in order, or one line; and the pages made of it are well formed."""
    try:
        read = read_notebook(data)
    except Unreadable as error:
        _is_one_line(str(error))
        read = None
    exercise = plan(SLUGS[0]).exercise
    score = Score("s", exercise.slug, "graded", 0.0, exercise.max_score, "x", (), Reference("r", "cpu", ""), (), 0.0)
    shown = json.loads(graded_notebook(data, exercise, score))
    marks = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in shown["cells"]]
    assert [mark for mark in marks if mark in {check.id for check in exercise.checks}] == [
        c.id for c in exercise.checks
    ]
    if read is None:
        return None
    numbers = [cell.number for cell in read.cells]
    assert numbers == sorted(set(numbers))
    assert any(cell.source.strip() for cell in read.cells)
    for cell in read.cells:
        cell.source.encode("utf-8")
        assert "\0" not in cell.source
    for note in read.notes:
        _is_one_line(note)
    assert is_untouched(read.cells, exercise) == (not own_cells(read.cells, exercise))
    feedback_page(score, exercise, own_cells(read.cells, exercise)).encode("utf-8")
    assert read_notebook(data) == read
    return read


def _is_one_line(text: str) -> None:
    assert text
    assert len(text.splitlines()) == 1, text
    assert text.isprintable(), text
    assert len(text) < 2000, text


# ----------------------------------------------------------------------------- frames


def bytes_are_a_frame_or_refused(data: bytes) -> Any:
    """Bytes on the socket give a message that plain JSON can hold, or one of three refusals, and never wait on."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=_send, args=(theirs, data))
        sender.start()
        try:
            message = frames.receive(ours, time.monotonic() + 60, 2**20)
        except (frames.Closed, frames.BadFrame):
            return None
        finally:
            ours.close()
            sender.join()
    json.dumps(message, allow_nan=True)
    return message


def _send(sock: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        sock.sendall(data)
    sock.close()


def message_is_an_observation_or_refused(message: Any) -> Observation | None:
    """A claim is plain data within its limits, or refused; and it survives its own encoding."""
    try:
        seen = decode_observation(message, elements=20_000)
    except BadValue:
        return None
    assert (seen.ended, seen.detail, seen.whole) == ("", "", False)
    again = decode_observation(json.loads(json.dumps(encode_observation(seen), allow_nan=False)))
    assert repr(again) == repr(seen)  # by repr, because nan differs from itself
    for part in ("returned", "after", "later", "kept"):
        assert len(digest(seen, part)) == 6  # type: ignore[arg-type]
    for outcome in seen.outcomes:
        assert len(show(outcome.returned)) <= 4000
    return seen


def report_is_loaded_or_refused(message: Any) -> None:
    """A report on the cells is what it must be, or refused."""
    try:
        loaded = zygote._loaded(zygote._expect(message, "loaded", dict))
    except frames.BadFrame:
        return
    assert type(loaded.callable) is bool
    assert len(loaded.notes) <= 20


def claim_is_judged(claim: tuple[Any, int]) -> None:
    """Any claim gets a verdict, a record and a page; it passes only where it says what a right answer does."""
    message, number = claim
    if (seen := message_is_an_observation_or_refused(message)) is None:
        return
    for slug in SLUGS:
        chosen = plan(slug)
        checks = chosen.exercise.checks
        check = checks[number % len(checks)]
        expected = chosen.expectations.checks[check.id]
        index = random.Random(number).randrange(len(expected.cases))
        _judged(chosen, check, expected.cases[index], seen, expected.observations[index])


def _judged(chosen: Plan, check: Check, case: Case, seen: Observation, want: Observation) -> None:
    result, _ = judge_check(check, chosen.exercise.entry, [(case, seen, want)])
    if result.status == "passed":
        assert [outcome.raised for outcome in seen.outcomes] == [None] * len(want.outcomes)
    score = Score(
        "s", chosen.exercise.slug, "graded", result.earned, chosen.exercise.max_score, "x", (result,),
        Reference("r", "cpu", ""), (), 0.0, output=seen.output,
    )  # fmt: skip
    line = json_line(score)
    assert len(line.splitlines()) == 1
    assert from_record(json.loads(line)) == score
    page = feedback_page(replace(score), chosen.exercise, ())
    page.encode("utf-8")
    assert "\x1b" not in page
    assert "\0" not in page
