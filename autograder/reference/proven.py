"""What the reference did on the cases of a seed, proven by PyTorch and kept for the next run.

To start torch and to prove the solutions anew takes longer than to grade a dozen submissions, so a run leaves what the
reference did in a folder that only its owner can enter: it answers the class's hidden cases. The name of a file is a
digest of all that it depends on. What ran on a GPU is not kept: two of them may differ.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import stat
import sys
from pathlib import Path
from typing import Final

from autograder import __version__, checks, files, models, observations, scenarios, tensors, values
from autograder.models import Exercise, Reference
from autograder.observations import decode_observation, encode_observation
from autograder.reference import expectations as this
from autograder.reference.expectations import Expectations, Seed, together
from autograder.values import BadValue

FOLDER: Final = Path("build/reference")
"""Below the course's folder."""
_OTHERS: Final = 0o022
"""Rights of others to write: to a folder that has them, what lies in it may be theirs."""
_MOST: Final = 200
"""Files that are kept; the oldest go."""
_MAKE: Final = (checks, models, observations, scenarios, tensors, values, this)
"""The modules of the autograder that decide what is observed."""


def name(exercise: Exercise, seed: Seed, reference: Reference) -> str:
    """Return a digest of what a run of the reference depends on: exercise, oracle, cases, torch, where it ran, we."""
    oracle = exercise.folder / "oracle.py"
    parts = (
        __version__,
        _sources(),
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


@functools.cache
def _sources() -> str:
    read = b"".join(Path(module.__file__).read_bytes() for module in _MAKE if module.__file__)
    return hashlib.sha256(read).hexdigest()


def known(exercise: Exercise, seed: Seed, reference: Reference) -> Expectations | None:
    """Return what the reference did in an earlier run; None where that is not known, or is damaged."""
    if reference.device != "cpu":
        return None
    path = _path(exercise, seed, reference)
    try:
        if not (_is_ours(path.parent, _OTHERS) and _is_ours(path)):
            return None
        digest, _, text = path.read_text(encoding="utf-8").partition("\n")
        if digest != _digest(text):
            return None
        data = json.loads(text)
        seen = {check: [decode_observation(item, trusted=True) for item in items] for check, items in data.items()}
        return together(exercise, seed, reference, seen)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, BadValue):
        return None


def keep(exercise: Exercise, seed: Seed, expectations: Expectations) -> None:
    """Keep what was proven; where it cannot be written, the next run proves it again."""
    if expectations.reference.device != "cpu":
        return
    path = _path(exercise, seed, expectations.reference)
    text = json.dumps(
        {
            check: [encode_observation(observation) for observation in expected.observations]
            for check, expected in expectations.checks.items()
        }
    )
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.parent.is_symlink():
            return
        if not _is_ours(path.parent, _OTHERS):  # what came in while others could write here is not ours to believe
            for other in path.parent.iterdir():
                other.unlink()
        path.parent.chmod(0o700)  # refused where the folder is another's
        if os.path.lexists(path) and not _is_ours(path):
            path.unlink()
        files.write(path, f"{_digest(text)}\n{text}")
        by_age = sorted(path.parent.glob("*.json"), key=lambda kept: kept.stat().st_mtime_ns)
        for old in by_age[:-_MOST]:
            old.unlink()


def _is_ours(path: Path, writers: int = 0) -> bool:
    """Return whether a file or folder, not a link to one, is this user's or root's.

    Args:
        path: what is looked at.
        writers: bits of its mode that it must not have.
    """
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return False
    return sys.platform == "win32" or (found.st_uid in (0, os.geteuid()) and not found.st_mode & writers)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _path(exercise: Exercise, seed: Seed, reference: Reference) -> Path:
    return exercise.folder.parents[1] / FOLDER / f"{exercise.slug}-{name(exercise, seed, reference)[:32]}.json"
