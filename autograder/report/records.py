"""A score as a JSON record, and back. The fields that CONTRACT promises come first; others are only added.

One record is one line: every character that some reader takes for a line break, a control sequence or half a
character is written as a JSON escape, so that the line survives ``splitlines``, UTF-8 and a terminal, and reads
back the same.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from autograder.models import CheckResult, CheckStatus, Reference, Score

_STATUSES: Final = ("graded", "unreadable", "not_started")
_SHOWN: Final = ("returned", "after", "later", "kept")
_OR_NULL: Final = ("misconception", "see")
_CHECK_TEXTS: Final = (
    "id", "title", "message", "case", "call", "returned", "expected", "rule", "difference", "belief", "truth",
)  # fmt: skip
_CHECK_KEYS: Final = frozenset((*_CHECK_TEXTS, *_OR_NULL, "points", "earned", "status", "show"))
_TEXTS: Final = ("student", "exercise", "seed_id", "version", "content_hash", "path", "output", "grader")
KEYS: Final = frozenset(
    (*_TEXTS, "status", "score", "max_score", "checks", "reference", "sandbox", "duration_s", "reason", "notes",
     "look", "crashes")
)  # fmt: skip
"""The fields of a record."""
_ESCAPED: Final = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def record(score: Score) -> dict[str, Any]:
    """Return a score as the JSON object of the contract: no NaN, None where there is nothing to say."""
    reference = score.reference
    return {
        "student": score.student,
        "exercise": score.exercise,
        "status": score.status,
        "score": score.score,
        "max_score": score.max_score,
        "seed_id": score.seed_id,
        "checks": [_check_record(result) for result in score.checks],
        "reference": {"backend": reference.backend, "device": reference.device, "torch": reference.torch},
        "sandbox": list(score.sandbox),
        "duration_s": score.duration_s,
        "reason": score.reason or None,
        "version": score.version,
        "content_hash": score.content_hash,
        "path": score.path,
        "output": score.output,
        "notes": list(score.notes),
        "grader": score.grader,
        "look": list(score.look),
        "crashes": score.crashes,
    }


def _check_record(result: CheckResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "title": result.title,
        "points": result.points,
        "earned": result.earned,
        "status": result.status,
        "message": result.message,
        "misconception": result.misconception or None,
        "see": result.see or None,
        "case": result.case,
        "call": result.call,
        "returned": result.returned,
        "expected": result.expected,
        "show": result.show,
        "rule": result.rule,
        "difference": result.difference,
        "belief": result.belief,
        "truth": result.truth,
    }


def json_line(score: Score) -> str:
    """Return the record as one line of JSON, without its newline.

    Raises:
        ValueError: a number is nan or infinite, which JSON does not have.
    """
    text = json.dumps(record(score), ensure_ascii=False, allow_nan=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def from_record(data: Mapping[str, Any], texts: dict[str, str] | None = None) -> Score:
    """Return the score that a record was made from.

    Args:
        data: the record.
        texts: where given, equal texts of the checks of many records are held once; they are kept in it.

    Raises:
        ValueError: a field is missing, unknown, or not of its type; the message names it.
    """
    _exactly(data, KEYS, "record")
    reference = data["reference"]
    _exactly(reference, frozenset(("backend", "device", "torch")), "reference")
    return Score(
        **{key: _text(data, key) for key in _TEXTS},
        status=_one_of(data, "status", _STATUSES),
        score=None if data["score"] is None else _number(data, "score"),
        max_score=_number(data, "max_score"),
        checks=tuple(_check_result(item, {} if texts is None else texts) for item in _list(data, "checks")),
        reference=Reference(**{key: _text(reference, key) for key in reference}),
        sandbox=_texts(data, "sandbox"),
        duration_s=_number(data, "duration_s"),
        reason=_text_or_null(data, "reason"),
        notes=_texts(data, "notes"),
        look=_texts(data, "look"),
        crashes=_count(data, "crashes"),
    )


def read_records(path: Path, texts: dict[str, str] | None = None) -> dict[tuple[str, str], Score]:
    """Return the scores of a file of records, by student and exercise; of several for both, the last.

    A line that is no record is passed over, and a file that cannot be read has none.

    Args:
        path: the file, one record a line.
        texts: as for ``from_record``; without it, equal texts of this file are held once.
    """
    texts = {} if texts is None else texts
    scores: dict[tuple[str, str], Score] = {}
    with contextlib.suppress(OSError), open(path, "rb") as stream:
        for line in stream:
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                score = from_record(json.loads(line), texts)
                scores[score.student, score.exercise] = score
    return scores


def _check_result(data: Any, texts: dict[str, str]) -> CheckResult:
    _exactly(data, _CHECK_KEYS, "check")
    found = {key: _text(data, key) for key in _CHECK_TEXTS} | {key: _text_or_null(data, key) for key in _OR_NULL}
    return CheckResult(
        **{key: texts.setdefault(text, text) for key, text in found.items()},
        points=_number(data, "points"),
        earned=_number(data, "earned"),
        status=_one_of(data, "status", get_args(CheckStatus)),
        show=_one_of(data, "show", _SHOWN),
    )


# ------------------------------------------------------------------------ validation


def _exactly(data: Any, keys: frozenset[str], what: str) -> None:
    if not isinstance(data, Mapping):
        raise ValueError(f"{what}: not an object")
    if data.keys() != keys:
        missing, unknown = sorted(keys - data.keys()), sorted(map(repr, data.keys() - keys))
        raise ValueError(f"{what}: " + (f"{missing[0]} is missing" if missing else f"unknown field {unknown[0]}"))


def _text(data: Mapping[str, Any], key: str) -> str:
    if type(data[key]) is not str:
        raise ValueError(f"{key}: not a text")
    return str(data[key])


def _text_or_null(data: Mapping[str, Any], key: str) -> str:
    if data[key] == "":
        raise ValueError(f"{key}: an empty text is written as null")
    return "" if data[key] is None else _text(data, key)


def _number(data: Mapping[str, Any], key: str) -> float:
    # Other languages write 8.0 as 8.
    if type(data[key]) not in (int, float) or not math.isfinite(data[key]):
        raise ValueError(f"{key}: not a finite number")
    return float(data[key])


def _count(data: Mapping[str, Any], key: str) -> int:
    if type(data[key]) is not int or data[key] < 0:
        raise ValueError(f"{key}: not a number of times")
    return int(data[key])


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    if type(data[key]) is not list:
        raise ValueError(f"{key}: not a list")
    return list(data[key])


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    items = _list(data, key)
    if not all(type(item) is str for item in items):
        raise ValueError(f"{key}: not a list of texts")
    return tuple(items)


def _one_of(data: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> Any:
    if data[key] not in allowed:
        raise ValueError(f"{key}: {data[key]!r} is not one of {', '.join(allowed)}")
    return data[key]
