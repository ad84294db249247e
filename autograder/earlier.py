"""What earlier runs graded: of each record what decides whether it still holds, and where its line is; not its texts.

Records are long, and most of a class is unchanged from one run to the next: their lines are carried over as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from autograder.models import CheckStatus, Reference
from autograder.report.records import KEYS

Key: TypeAlias = tuple[str, str]
"""Student and exercise."""
_CHANCE: Final[frozenset[CheckStatus]] = frozenset(("timeout", "memory", "crashed"))
_UNTRIED: Final[frozenset[CheckStatus]] = frozenset(("not_run",))
_ALIKE: Final = 2
"""Runs in a row after which a crash that was the very same in each counts as the code's own."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an exercise is graded by: with the bytes handed in, all that decides whether work is the same."""

    version: str
    seed_id: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class Known:
    """A record, without its texts."""

    terms: Terms
    content_hash: str
    unreadable: bool
    walled: bool | None
    """Whether bubblewrap stood around it; None where nothing was run."""
    lasts: bool
    """Whether the same work would get the same mark. Time, memory and a fault of ours depend on what else the machine
    did: worth another try, never a mark for good. So may a crash, whatever it looks like; but chance does not end a
    submission in the same way at the same call twice."""
    start: int
    """Where its line begins in its file, and how many bytes it has, without the line's end."""
    length: int

    def same_work(self, content_hash: str, terms: Terms, walled: bool) -> bool:
        """Return whether it is of the same bytes, graded by the same terms, inside or outside walls as well."""
        if not content_hash or self.unreadable or self.walled not in (None, walled):
            return False
        return self.content_hash == content_hash and self.terms == terms


def chance(statuses: Iterable[CheckStatus]) -> frozenset[CheckStatus]:
    """Return which statuses of a submission's checks may have to do with what else the machine did.

    That a check was not run is a consequence of one that ended badly; where none did, time or a process was lost.
    """
    found = frozenset(statuses)
    return found & _CHANCE or found & _UNTRIED


class Reader:
    """Makes ``Known`` of lines; what many have in common is held once."""

    def __init__(self) -> None:
        """Begin with nothing in common."""
        self._terms: dict[Any, Terms] = {}

    def known(self, line: bytes, start: int) -> tuple[Key, Known] | None:
        """Return a record's key and what is known of it; None where the line is no record.

        Args:
            line: with or without its end.
            start: where it begins in its file.
        """
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return self.of(data, start, len(line.rstrip(b"\n")))

    def of(self, data: Any, start: int, length: int) -> tuple[Key, Known] | None:
        """Return the same from a line that was parsed."""
        with suppress(KeyError, TypeError, AttributeError):
            if data.keys() != KEYS:
                return None
            student, exercise, digest = data["student"], data["exercise"], data["content_hash"]
            texts = student, exercise, digest, data["version"], data["seed_id"], *data["reference"].values()
            crashes, sandbox = data["crashes"], data["sandbox"]
            if not all(type(text) is str for text in texts) or type(crashes) is not int or type(sandbox) is not list:
                return None
            terms = self._terms.get(texts[3:])
            if terms is None:
                terms = self._terms[texts[3:]] = Terms(data["version"], data["seed_id"], Reference(**data["reference"]))
            ended = chance(check["status"] for check in data["checks"]) if data["status"] == "graded" else frozenset()
            known = Known(
                terms,
                digest,
                data["status"] == "unreadable",
                "bubblewrap" in sandbox if sandbox else None,
                not ended or (ended == {"crashed"} and crashes >= _ALIKE),
                start,
                length,
            )
            return (student, exercise), known
        return None
