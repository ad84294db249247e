"""Execute a page again when what it draws with has changed.

jupyter-cache knows a page by the source of its cells. A figure lives in a module beside it, so the digest of the
modules that a page imports is made part of its source: one hidden cell with a comment, added as Sphinx reads the page.
"""

from __future__ import annotations

import ast
import hashlib
import re
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

PACKAGE = "figures"
VERSIONS = ("torch", "numpy", "matplotlib")
"""What else the outputs of a page depend on."""
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[^\n]*\n)+)", re.MULTILINE | re.DOTALL)


def modules_of(page: str, book: Path) -> list[Path]:
    """Return the files of the figure modules that a page's cells import, with those that they import, sorted."""
    waiting = {path for cell in _CELL.findall(page) for path in _imported(_OPTIONS.sub("", cell), book)}
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting |= _imported(path.read_text(encoding="utf-8"), book) - found
    return sorted(found)


def _imported(source: str, book: Path) -> set[Path]:
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
    ours = (name.split(".") for name in names if name.split(".")[0] == PACKAGE)
    paths = (book.joinpath(*parts).with_suffix(".py") for parts in ours if len(parts) > 1)
    return {path for path in paths if path.is_file()}


def digest(paths: list[Path]) -> str:
    """Return a short hash of those files and of the versions that outputs depend on."""
    parts = [f"{name} {metadata.version(name)}" for name in VERSIONS]
    parts += [f"{path.name}\n{path.read_text(encoding='utf-8')}" for path in paths]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _add_digest(app: Sphinx, docname: str, source: list[str]) -> None:
    if "{code-cell}" not in source[0]:
        return
    paths = modules_of(source[0], Path(app.srcdir))
    for path in paths:
        app.env.note_dependency(str(path))
    source[0] += f"\n\n```{{code-cell}}\n:tags: [remove-cell]\n# drawn with {digest(paths)}\n```\n"


def setup(app: Sphinx) -> None:
    """Look at each page as it is read."""
    app.connect("source-read", _add_digest)
