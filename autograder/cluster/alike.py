"""What a mark may depend on, besides the submission: it must be the same on every machine that grades a class."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder import __version__, catalog


def standing(slugs: Iterable[str]) -> dict[str, str]:
    """Return what this machine grades by, in the order in which differences are told; plain texts of any version.

    A patch release of Python is not among it: that is in the records, as every mark's grader.

    Raises:
        CourseError: an exercise cannot be read.
    """
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "autograder": f"{__version__} with code {_code()}",
        "torch": _installed("torch"),
        "NumPy": _installed("numpy"),
        "IPython": _installed("ipython"),
        "the system": f"{sys.platform} on {platform.machine()}",
        **{f"exercise {slug}": catalog.version(slug) for slug in slugs},
    }


def difference(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return the first thing that differs, with both versions, as the end of "that machine has ..."; "" for none."""
    for name, version in ours.items():
        other = theirs.get(name, "of no version")
        if other != version:
            return f"{name} {other}, and this machine {name} {version}"
    return ""


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package).split("+")[
            0
        ]  # the part behind + says for which devices it was built
    except importlib.metadata.PackageNotFoundError:
        return "of no version"


def _code() -> str:
    """Return the hash of the grader's own code: a version's number says little between two releases."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith("_course/"):  # exercises have versions of their own
            digest.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
