"""What several commands need: the exercises that were named, and errors as one line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence

from autograder import catalog
from autograder.errors import CourseError, sentence
from autograder.models import Exercise


class Stop(CourseError):
    """Nothing can be done; one sentence says why."""


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn an expected error into one line on stderr and exit status 2."""
    try:
        yield
    except (CourseError, OSError) as error:
        print(f"autograder: {sentence(error)}", file=sys.stderr)
        raise SystemExit(2) from None


def exercises(slugs: Sequence[str]) -> dict[str, Exercise]:
    """Return the named exercises, or all of them where none is named."""
    root = catalog.course_root()
    return {slug: catalog.load(slug, root) for slug in (slugs or catalog.slugs(root))}
