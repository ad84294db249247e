"""The course secret: what makes the random cases of ``grade`` unknown to students and the same for all of them."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import Final

from autograder.errors import CourseError
from autograder.reference.expectations import Seed

FILE: Final = ".course_secret"
_BYTES: Final = 32


class SecretError(CourseError):
    """The secret cannot be read or made; one sentence says why and what to do."""


def course_seed(root: Path) -> Seed:
    """Return the seed of the course's secret, made at the first call as ``<root>/.course_secret`` with mode 0600.

    The id in records is "course:" and four hex digits of the secret's hash.
    """
    path = root / FILE
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii")) if path.exists() else _make(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it does not hold hex digits"
        raise SecretError(f"the course secret {path} cannot be used: {reason}; mend it, or pass --seed N") from None
    if len(key) != _BYTES:
        raise SecretError(f"the course secret {path} has {len(key)} bytes, not {_BYTES}; restore it, or remove it")
    return Seed("course:" + hashlib.sha256(key).hexdigest()[:4], key)


def _make(path: Path) -> bytes:
    key = secrets.token_bytes(_BYTES)
    # Written aside and linked into place: of two first runs at once, one wins and both use its secret.
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=f"{FILE}.")  # with mode 0600
    try:
        with os.fdopen(descriptor, "w") as stream:
            stream.write(key.hex())
            stream.flush()
            os.fsync(stream.fileno())
        os.link(aside, path)
    except FileExistsError:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    finally:
        os.unlink(aside)
    return key
