"""What PyTorch has proven: a reference solution that agreed with it on the cases of a seed agrees the next time, too.

To prove the solutions anew takes longer than to run them (the first optimizer alone brings eight hundred modules of
torch), so a run leaves a note for the next. The note is a digest of all that the proof depends on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Final

from autograder import __version__, files
from autograder.models import Exercise, Reference
from autograder.reference.expectations import Seed

FILE: Final = Path("build/proven.json")
"""Below the course's folder."""
_MOST: Final = 1_000
"""Notes that are kept; the oldest are forgotten."""


def name(exercise: Exercise, seed: Seed, reference: Reference) -> str:
    """Return a digest of what a proof depends on: the exercise, its oracle, the cases, torch and where it ran."""
    oracle = exercise.folder / "oracle.py"
    parts = (
        __version__,
        exercise.slug,
        exercise.version,
        oracle.read_text(encoding="utf-8") if oracle.is_file() else "",
        seed.id,
        seed.key.hex(),
        reference.backend,
        reference.device,
        reference.torch,
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def known(root: Path) -> list[str]:
    """Return the names of what was proven in a course; none where the note is missing or damaged."""
    try:
        names = json.loads((root / FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    return names if type(names) is list and all(type(name) is str for name in names) else []


def keep(root: Path, names: list[str]) -> None:
    """Leave a note of what was proven; where it cannot be written, the next run proves it again."""
    with contextlib.suppress(OSError):
        files.write(root / FILE, json.dumps(names[-_MOST:]) + "\n")
