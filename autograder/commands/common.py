"""What several commands need: the exercises that were named, and errors as one line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence

from autograder import catalog
from autograder.errors import CourseError, sentence
from autograder.models import Exercise
from autograder.report.untrusted import MESSAGE, one_line


class Stop(CourseError):
    """Nothing can be done; one sentence says why."""


def say(message: str) -> None:
    """Say one thing in one line on stderr; a file's or a student's name in it is shown, and not obeyed."""
    with contextlib.suppress(OSError):  # where the terminal is gone there is nobody to tell
        print(f"autograder: {one_line(' '.join(message.split()), MESSAGE)}", file=sys.stderr)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn an expected error into one line on stderr and exit status 2."""
    try:
        yield
    except (CourseError, OSError) as error:
        say(sentence(error))
        raise SystemExit(2) from None


def exercises(slugs: Sequence[str]) -> dict[str, Exercise]:
    """Return the named exercises, or all of them where none is named."""
    root = catalog.course_root()
    return {slug: catalog.load(slug, root) for slug in (slugs or catalog.slugs(root))}
