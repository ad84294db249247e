"""What holds for every attack. A test file imports these functions beside its table."""

from __future__ import annotations

import re

from arena import Fight
from attack import FULL, OTHER, Attack

BROKEN = re.compile("NameError|SyntaxError|IndentationError")
LOOPS, ENDS_LATE = frozenset(("timeout", "not_run")), frozenset(("crashed", "not_run"))
LATE = frozenset(("timeout",))
"""Statuses of submissions that use up their time in their calls, and of one whose cells did not finish."""


def test_it_earns_what_its_honest_part_does_and_the_reason_is_said(fought: Fight, attack: Attack) -> None:
    score = fought.scores[attack.name]
    said = [score.reason, *(check.message for check in score.checks if check.status != "passed")]
    assert score.status == attack.status, score.reason
    assert "GOT" not in repr(score), score.output
    if "SIGSYS" in score.reason:  # the walls may end an attack outright, and then nothing of it is graded
        assert score.score == fought.gradebook[attack.name] == 0
        return
    statuses, says = attack.statuses, attack.says
    if statuses in (LOOPS, ENDS_LATE) and {check.status for check in score.checks} == LATE:
        # The machine stood still while the cells ran, which takes their time: then no call is made.
        statuses, says = LATE, "cells did not finish"
    assert {check.status for check in score.checks} == statuses, said
    assert (score.score or 0.0) == attack.earns
    assert score.max_score == FULL
    assert fought.gradebook[attack.name] == attack.earns
    assert any(says in text for text in said), said
    assert len(score.reason.splitlines()) <= 1
    if "def attempt(" in attack.file:
        assert not [note for note in score.notes if BROKEN.search(note)], "the attack itself is broken"


def test_an_honest_submission_right_after_it_earns_full_marks(fought: Fight, attack: Attack) -> None:
    assert fought.honest[attack.name].score == OTHER.max_score
    assert fought.gradebook[f"after {attack.name}"] == OTHER.max_score


def test_the_host_is_as_it_was(fought: Fight) -> None:
    for what, before in fought.before.items():
        assert fought.after[what] == before, what


def test_nothing_secret_and_no_control_character_is_in_what_was_written(fought: Fight) -> None:
    files = [path for path in fought.out.rglob("*") if path.is_file() and path.name != "canary.txt"]
    assert len(files) > 2 * len(fought.scores)
    for path in files:
        data = path.read_bytes()
        assert fought.secret.encode() not in data, path
        if path.suffix in (".html", ".csv", ".jsonl"):
            assert b"\x1b" not in data, path
            assert b"\0" not in data, path
