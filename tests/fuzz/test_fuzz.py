"""Decoders of what strangers send: small cases at every run, a hunt for new ones in ``make test-long``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hunt import hunt
from inputs import CLAIMS, FRAMES, NOTEBOOKS, REPORTS
from promises import (
    bytes_are_a_frame_or_refused,
    claim_is_judged,
    message_is_an_observation_or_refused,
    notebook_is_read_or_refused,
    report_is_loaded_or_refused,
)

CASES = Path(__file__).parent / "cases"
TARGETS = {
    "notebook": (NOTEBOOKS, notebook_is_read_or_refused),
    "frame": (FRAMES, bytes_are_a_frame_or_refused),
    "claim": (CLAIMS, claim_is_judged),
    "report": (REPORTS, report_is_loaded_or_refused),
}


@pytest.mark.parametrize("path", sorted((CASES / "notebook").iterdir()), ids=lambda path: path.name)
def test_a_notebook_that_was_found(path: Path) -> None:
    notebook_is_read_or_refused(path.read_bytes())


@pytest.mark.parametrize("path", sorted((CASES / "frame").iterdir()), ids=lambda path: path.name)
def test_a_frame_that_was_found(path: Path) -> None:
    message = bytes_are_a_frame_or_refused(path.read_bytes())
    message_is_an_observation_or_refused(message)
    report_is_loaded_or_refused(message)
    for number in range(20):
        claim_is_judged((message, number))


def test_the_promises_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    import promises

    good = json.dumps({"cells": [{"cell_type": "code", "source": "x"}]}).encode()
    assert notebook_is_read_or_refused(good) is not None
    monkeypatch.setattr(promises, "own_cells", lambda *_: (1 / 0,))
    with pytest.raises(ZeroDivisionError):
        notebook_is_read_or_refused(good)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_hunt(target: str) -> None:
    strategy, holds = TARGETS[target]
    assert hunt(strategy, holds) > 100
