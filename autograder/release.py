"""Write what is derived from an exercise folder: its notebooks and recorded expectations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder import catalog, files
from autograder.addresses import read_addresses
from autograder.catalog import CatalogError
from autograder.known import recorded_text
from autograder.models import Exercise
from autograder.notebooks import source_notebook, student_notebook
from autograder.recorded import is_current


def release(root: Path, slugs: Sequence[str], *, check: bool) -> list[str]:
    """Bring the derived files of some exercises up to date.

    Args:
        root: the course's root folder.
        slugs: the exercises; all where it is empty.
        check: write nothing, only find out. nbgrader's source notebooks are not committed, so they are not looked at.

    Returns:
        One line a file: what was written, or, with ``check``, what is missing or not current.

    Raises:
        CatalogError: an exercise folder or ``_config.yml`` breaks its format.
    """
    repository = read_addresses(root).repository
    lines = []
    for slug in slugs or catalog.slugs(root):
        for path, text, committed in _derived(root, catalog.load(slug, root), repository):
            name = path.relative_to(root).as_posix()
            if not check and files.write(path, text):
                lines.append(f"wrote {name}")
            elif check and committed and (state := _state(path, text)):
                lines.append(f"{name} is {state}; run `autograder release {slug}`")
    return lines


def _derived(root: Path, exercise: Exercise, repository: str) -> Iterator[tuple[Path, str, bool]]:
    """Yield each derived file's path, its text, and whether it is committed."""
    slug = exercise.slug
    try:
        source = source_notebook(exercise, repository)
    except ValueError as error:
        mend = "Let both files define the same functions"
        raise CatalogError(exercise.folder / "starter.py", 0, str(error), mend) from None
    yield exercise.folder / "recorded.json", recorded_text(exercise), True
    yield exercise.folder / f"{slug}.ipynb", student_notebook(exercise, repository), True
    yield root / "build/course/source" / slug / f"{slug}.ipynb", source, False


def _state(path: Path, text: str) -> str:
    if not path.is_file():
        return "missing"
    if path.suffix == ".json" and is_current(path.read_bytes().decode("utf-8", "replace"), text):
        return ""
    return "" if path.read_bytes() == text.encode() else "not current"
