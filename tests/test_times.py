"""The time of a submission is what nbgrader makes of it, whatever a student writes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.times import parse_time, time_of


def nbgraders(text: str) -> datetime | None:
    from nbgrader.utils import parse_utc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = parse_utc(text)
        except Exception:
            return None
    return found if isinstance(found, datetime) else None


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-29 10:00:00.500000 UTC", "2026-11-29 10:00:00 UTC",
        "2026-02-29 10:00:00 UTC", "0000-00-00 00:00:00 UTC",
        "2026-11-29 24:00:00 UTC", "2026-11-29 23:59:60 UTC", "2026-11-29 10:00:00.5 UTC", "2026-11-29 10:00:00.500000",
        "2026-11-29 10:00:00 CET", "2026-11-29 10:00:00 3600", "2026-11-29T10:00:00Z", "2026-11-29T10:00:00 UTC",
        "29 November 2026 10:00", "2026-11-29 10:00:00 Nowhere/Land", "tomorrow", "2026-11-29 10:00:00 UTC ",
        "2026-02-03T15:27:00+01:00", "03.02.2026 15:27", "1770132420",
        "2026-11-29 10:00:00 America/New_York", "2026-07-29 10:00:00 America/New_York", "yesterday evening", "a b c d",
    ],
)  # fmt: skip
def test_a_time_is_what_nbgrader_makes_of_it(text: str) -> None:
    assert parse_time(text) == nbgraders(text)


WORDS = st.sampled_from(
    ["2026-11-29", "3", "Feb", "2026", "10:00:00", "10:00:00.25", "UTC", "CET", "-3600", "+01:00", "T", "pm", "", "x"]
)


@given(st.lists(WORDS, min_size=1, max_size=5).map(" ".join))
def test_so_is_any_heap_of_parts_of_times(text: str) -> None:
    # What is filled in from today's date may change at midnight, so both are asked again where they differ.
    assert parse_time(text) == nbgraders(text) or parse_time(text) == nbgraders(text)


@given(st.binary(max_size=200))
def test_no_bytes_are_fatal(data: bytes) -> None:
    found = time_of(data)
    assert found is None or found.tzinfo is None


def test_to_read_a_time_as_people_write_it_takes_no_import_of_nbgrader() -> None:
    code = (
        "import sys; from autograder.times import time_of; assert time_of(b'2026-02-03 15:27:00 UTC'); "
        "assert 'dateutil' not in sys.modules; "
        "assert time_of(b'03.02.2026 15:27'); assert 'nbgrader' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
