"""A student's cells to a namespace, inside the confined process: one by one, going on after an exception."""

from __future__ import annotations

import ast
import builtins
import contextlib
import linecache
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from autograder.models import Cell, Raised
from autograder.observations import Capture, describe, quiet
from autograder.sandbox import forbid

_FILE: Final = re.compile(r"<cell (\d+)>\Z")
_RUN_BODY: Final = frozenset(("time", "timeit", "capture", "prun"))
"""Cell magics whose body is ordinary code that the student means to run."""


@dataclass(slots=True)
class Loaded:
    """What came of running the cells."""

    namespace: dict[str, Any] = field(default_factory=dict)
    errors: list[Raised] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    output: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A cell as Python: its code, or why it is none."""

    cell: Cell
    code: Any = None
    tree: ast.AST | None = None
    error: Raised | None = None


def cell_of(filename: str) -> int | None:
    """Return the number of the cell that a code object's file name stands for."""
    match = _FILE.match(filename)
    return int(match[1]) if match else None


def parse(cells: Sequence[Cell]) -> list[Parsed]:
    """Translate IPython syntax where there is some, and compile each cell."""
    return [_parse(cell) for cell in cells]


def _parse(cell: Cell) -> Parsed:
    name = f"<cell {cell.number}>"
    source = cell.source
    try:
        tree = ast.parse(source, name)
    except Exception:  # also RecursionError and MemoryError of the parser
        source = _translate(cell.source)
    _remember(name, source)
    try:
        tree = ast.parse(source, name)
        return Parsed(cell, compile(tree, name, "exec", dont_inherit=True), tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Parsed(cell, error=describe(error, cell_of))


def _translate(source: str) -> str:
    # Imported only for cells that are not plain Python: it takes a third of a second.
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # a malformed magic: let the compiler say what is wrong
        return source


def _remember(name: str, source: str) -> None:
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)


def forbidden(parsed: Sequence[Parsed], forbids: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return (cell, line, forbidden name) for each place in the source that names one."""
    return [
        (item.cell.number, line, name)
        for item in parsed
        if item.tree is not None
        for line, name in forbid.find(item.tree, forbids)
    ]


def run(parsed: Sequence[Parsed]) -> Loaded:
    """Run each cell in one namespace, as a notebook would; what a cell raises is kept and the next one runs."""
    loaded = Loaded()
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    loaded.namespace = vars(module)
    loaded.namespace.update(get_ipython=lambda: _Shell(loaded), display=print)
    sys.modules["autograder"] = _stand_in()
    output = Capture()
    with quiet(output):
        for item in parsed:
            if item.error is not None:
                loaded.errors.append(item.error)
                continue
            try:
                exec(item.code, loaded.namespace)
            except BaseException as error:
                loaded.errors.append(describe(error, cell_of))
    loaded.output = output.getvalue()
    return loaded


def _stand_in() -> ModuleType:
    # A notebook calls check(...) on itself; here that is somebody else's task.
    module = ModuleType("autograder")
    module.check = lambda *args, **kwargs: None  # type: ignore[attr-defined]
    return module


class _Shell:
    """What ``get_ipython()`` returns: runs no magic and no shell command, and says so."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    def run_line_magic(self, name: str, line: str, *args: Any, **kwargs: Any) -> None:
        """Skip a line magic; ``%time`` and its like run what stands behind them."""
        if name in _RUN_BODY and line.strip():
            self._run(line)
        else:
            self._skip(f"%{name}")

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Skip a cell magic; the body of ``%%time`` and its like runs."""
        if name in _RUN_BODY:
            self._run(cell)
        else:
            self._skip(f"%%{name} with its cell")

    def system(self, command: str) -> None:
        """Skip a shell command."""
        self._skip(f"!{command[:40]}")

    def getoutput(self, command: str) -> list[str]:
        """Skip a shell command whose output is wanted; there is none."""
        self._skip(f"!{command[:40]}")
        return []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None

    def _skip(self, what: str) -> None:
        note = f"skipped {what}: magics and shell commands do not run here"
        if note not in self._loaded.notes and len(self._loaded.notes) < 20:
            self._loaded.notes.append(note)

    def _run(self, source: str) -> None:
        exec(compile(_translate(source), "<cell 0>", "exec"), self._loaded.namespace)


def entry_of(loaded: Loaded, name: str) -> Any:
    """Return the student's function or class, None where there is none that can be called."""
    with contextlib.suppress(Exception):
        found = loaded.namespace.get(name)
        return found if builtins.callable(found) else None
    return None
