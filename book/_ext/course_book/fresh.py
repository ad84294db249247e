"""Execute a page again when what it draws with has changed.

jupyter-cache knows a page by the source of its cells. A figure lives in a module beside it, so the digest of the
modules that a page imports is made part of its source: one hidden cell with a comment, added as Sphinx reads the page.
The same goes for the course's own package and for the exercises, where a page shows one or runs its checks, and for
the files that a figure module reads: it names them in ``READS``, as patterns from the course's root.
"""

from __future__ import annotations

import ast
import hashlib
import re
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

from course_book.graded import course_root

PACKAGE = "figures"
GRADER = "autograder"
VERSIONS = ("torch", "numpy", "matplotlib")
"""What else the outputs of a page depend on."""
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_GRADED = re.compile(r"^[`:]{3,}\{graded\}[ \t]+(\w+)", re.MULTILINE)
_OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[^\n]*\n)+)", re.MULTILINE | re.DOTALL)


def modules_of(page: str, book: Path) -> list[Path]:
    """Return the files of the figure modules that a page's cells import, with those that they import, sorted."""
    waiting = {path for cell in _cells(page) for path in _imported(cell, book)}
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting |= _imported(path.read_text(encoding="utf-8"), book) - found
    return sorted(found)


def course_files_of(page: str, book: Path, root: Path) -> list[Path]:
    """Return the course's files that a page's outputs hang on, sorted: its exercises, and the grader where it is used.

    A page that imports the grader may ask it for any exercise, so that page hangs on all of them.
    """
    slugs = set(_GRADED.findall(page))
    patterns = [pattern for module in modules_of(page, book) for pattern in _reads(module.read_text("utf-8"))]
    files = {path for pattern in patterns for path in root.glob(pattern)}
    if any(
        _names(source, GRADER) for source in (*_cells(page), *(p.read_text("utf-8") for p in modules_of(page, book)))
    ):
        files |= set((root / GRADER).rglob("*.py"))
        slugs |= {folder.name for folder in (root / "exercises").glob("*/")}
    for slug in slugs:
        folder = root / "exercises" / slug
        files |= {path for ending in ("md", "py", "json") for path in folder.rglob(f"*.{ending}")}
        files.add(root / "solutions" / f"{slug}.py")
    return sorted(path for path in files if path.is_file())


def _reads(source: str) -> list[str]:
    """Return the patterns that a module names in READS."""
    for node in ast.parse(source).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if [target.id for target in targets if isinstance(target, ast.Name)] == ["READS"]:
            return [str(pattern) for pattern in ast.literal_eval(node.value)]
    return []


def _cells(page: str) -> list[str]:
    return [_OPTIONS.sub("", cell) for cell in _CELL.findall(page)]


def _imported(source: str, book: Path) -> set[Path]:
    parts = (name.split(".") for name in _names(source, PACKAGE))
    paths = (book.joinpath(*names).with_suffix(".py") for names in parts if len(names) > 1)
    return {path for path in paths if path.is_file()}


def _names(source: str, package: str) -> set[str]:
    """Return what a source imports of a package, by dotted names."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with a line magic: its imports stand in other cells
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] == package}


def digest(paths: list[Path], root: Path) -> str:
    """Return a short hash of those files, named from root, and of the versions that outputs depend on."""
    parts = [f"{name} {metadata.version(name)}" for name in VERSIONS]
    parts += [f"{path.relative_to(root).as_posix()}\n{path.read_text(encoding='utf-8')}" for path in paths]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _add_digest(app: Sphinx, docname: str, source: list[str]) -> None:
    if "{code-cell}" not in source[0]:
        return
    book, root = Path(app.srcdir), course_root(app)
    figures, course = modules_of(source[0], book), course_files_of(source[0], book, root)
    paths = [*figures, *course]
    for path in paths:
        app.env.note_dependency(str(path))
    now = digest(figures, book), digest(course, root)
    source[0] += f"\n\n```{{code-cell}}\n:tags: [remove-cell]\n# made with {' '.join(now)}\n```\n"


def setup(app: Sphinx) -> None:
    """Look at each page as it is read."""
    app.connect("source-read", _add_digest)
