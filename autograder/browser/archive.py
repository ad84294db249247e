"""Write what the page's worker unpacks: the judge's modules, the stand-in for torch, and each exercise's checks.

Only standard-library modules travel: those that ``autograder.browser.judge`` imports, found by reading the sources.
"""

from __future__ import annotations

import ast
import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from autograder import catalog, recorded
from autograder.browser import course
from autograder.errors import CourseError
from autograder.models import Exercise

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_START: Final = "autograder.browser.judge"
_STAND_IN: Final = Path(__file__).resolve().parent / "torch_standin"
_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip knows: the same sources give the same bytes."""


def slugs(root: Path) -> tuple[str, ...]:
    """Return the exercises that say ``runs_on: [..., browser]``, sorted."""
    return tuple(slug for slug, exercise in catalog.load_all(root).items() if "browser" in exercise.runs_on)


def contents(root: Path) -> dict[str, bytes]:
    """Return every file of the archive, by its path in it.

    Args:
        root: the course's root folder.

    Raises:
        CourseError: an exercise breaks its format, or what is recorded of one is not current.
    """
    files = {f"{name.replace('.', '/')}.py": path.read_bytes() for name, path in _modules().items()}
    files = {name.removesuffix(".py") + "/__init__.py" if _is_package(name) else name: b for name, b in files.items()}
    files |= {f"torch/{path.name}": path.read_bytes() for path in sorted(_STAND_IN.glob("*.py"))}
    for slug in slugs(root):
        exercise = catalog.load(slug, root)
        files |= {f"exercises/{slug}/{name}": data for name, data in _exercise(exercise)}
    return dict(sorted(files.items()))


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return the files as a zip."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def digest(files: Mapping[str, bytes]) -> str:
    """Return eight hex digits of what the files hold, for names that browsers may keep for ever."""
    whole = hashlib.sha256()
    for name, data in files.items():
        whole.update(f"{name}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()[:8]


def _exercise(exercise: Exercise) -> Iterator[tuple[str, bytes]]:
    if recorded.load(exercise) is None:
        mend = f"run: .venv/bin/autograder release {exercise.slug}"
        raise CourseError(f"{exercise.folder / 'recorded.json'} is not current, so no page can judge by it; {mend}")
    yield course.FILE, course.pack(exercise).encode()
    for name in ("checks.py", "recorded.json"):
        yield name, (exercise.folder / name).read_bytes()


# ------------------------------------------------------------------------------ modules


def _modules() -> dict[str, Path]:
    """Return the file of every module of ours that judging in a page imports, by its dotted name."""
    found: dict[str, Path] = {}
    waiting = [_START]
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting += [name.rpartition(".")[0], *_imported(path)]
    return found


def _file(name: str) -> Path | None:
    """Return a module's file; None for what is none of ours, or no module but a name inside one."""
    if name.partition(".")[0] != "autograder":
        return None
    base = _PACKAGE.joinpath(*name.split(".")[1:])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _is_package(name: str) -> bool:
    return _PACKAGE.parent.joinpath(name.removesuffix(".py"), "__init__.py").is_file()


def _imported(path: Path) -> Iterator[str]:
    """Yield what a module imports when it is imported itself: what functions import is for other machines."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{item.name}" for item in node.names)
        elif isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
