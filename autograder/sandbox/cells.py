"""A student's cells to a namespace, inside the confined process: one by one, going on after an exception."""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

from autograder.models import Cell, Raised
from autograder.observations import Capture, Heard, describe, quiet
from autograder.sandbox import forbid

_FILE: Final = re.compile(r"<cell (\d+)>\Z")
_RUN_BODY: Final = re.compile(r"\s*%%(time|timeit|capture|prun)\b.*")
"""Cell magics whose body is ordinary code that the student means to run."""
_EMPTY_LINES: Final = re.compile(r"\A(?:[ \t]*\n)+")
_ANNOTATIONS: Final = annotations.compiler_flag  # the first import binds the feature itself


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
    code: CodeType | None = None
    tree: ast.AST | None = None
    error: Raised | None = None


def cell_of(filename: str) -> int | None:
    """Return the number of the cell that a code object's file name stands for."""
    match = _FILE.match(filename)
    return int(match[1]) if match else None


def parse(cells: Sequence[Cell]) -> list[Parsed]:
    """Translate IPython syntax where there is some, and compile each cell.

    As in a notebook, ``from __future__ import annotations`` holds for the cells after it too, and ``await`` may stand
    outside a function.
    """
    parsed, flags = [], 0
    for cell in cells:
        parsed.append(_parse(cell, flags))
        if (code := parsed[-1].code) is not None:
            flags |= code.co_flags & _ANNOTATIONS
    return parsed


def _parse(cell: Cell, flags: int) -> Parsed:
    name = f"<cell {cell.number}>"
    failed: Raised | None = None
    for source in _readings(cell.source):
        _remember(name, source)
        try:
            tree = ast.parse(source, name)
            code = compile(tree, name, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return Parsed(cell, code, tree)
        except Exception as error:  # also RecursionError and MemoryError of the parser
            failed = _in_cell(describe(error, cell_of), cell)
    return Parsed(cell, error=failed)


def _in_cell(raised: Raised, cell: Cell) -> Raised:
    source = raised.source or linecache.getline(f"<cell {cell.number}>", raised.line or 0).strip()[:200]
    return replace(raised, cell=cell.number, source=source)


def _readings(source: str) -> Iterator[str]:
    """Yield the source as it is, without ``%%time`` and its like, and as IPython translates it."""
    yield source
    lines = source.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and not _RUN_BODY.fullmatch(line):
            break
        lines[index] = ""  # the lines below keep their numbers
    plain = "\n".join(lines)
    if plain != source:
        yield plain
    if (translated := _translate(plain)) != plain:
        yield translated


def _translate(source: str) -> str:
    try:
        # Imported only for cells that are not plain Python: it takes a third of a second.
        from IPython.core.inputtransformer2 import TransformerManager

        # It drops empty lines at the top, and with them the numbers of the others.
        code = _EMPTY_LINES.sub("", source, count=1)
        above = source[: len(source) - len(code)].count("\n")
        return "\n" * above + str(TransformerManager().transform_cell(code))
    except Exception:  # no IPython here, or a malformed magic: let the compiler say what is wrong
        return source


def _remember(name: str, source: str) -> None:
    lines = [line + "\n" for line in re.split(r"\r\n|\r|\n", source)]  # as the compiler counts them
    linecache.cache[name] = (len(source), None, lines, name)


def forbidden(parsed: Sequence[Parsed], forbids: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return (cell, line, forbidden name) for each place in the source that names one."""
    trees = [(item.cell.number, item.tree) for item in parsed if item.tree is not None]
    aliases = forbid.aliases(tree for _, tree in trees)
    return [(cell, line, name) for cell, tree in trees for line, name in forbid.find(tree, forbids, aliases)]


def run(parsed: Sequence[Parsed], heard: Heard | None = None) -> Loaded:
    """Run each cell in one namespace, as a notebook would; what a cell raises is kept and the next one runs.

    ``heard`` is told what the cells print, as they print it.
    """
    loaded = Loaded()
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    loaded.namespace = vars(module)
    # In a page the module builtins is another one while a student's code runs, so that ours stays as it is.
    loaded.namespace.update(__builtins__=sys.modules["builtins"], get_ipython=lambda: _Shell(loaded), display=_display)
    sys.modules["autograder"] = _stand_in()
    output = Capture(heard)
    with quiet(output):
        for item in parsed:
            try:
                if item.code is not None:
                    _run(item.code, loaded.namespace)
            except BaseException as error:
                loaded.errors.append(describe(error, cell_of))
            if item.error is not None:
                loaded.errors.append(item.error)
    loaded.output = output.getvalue()
    return loaded


def _run(code: CodeType, namespace: dict[str, Any]) -> None:
    result = eval(code, namespace)
    if inspect.iscoroutine(result):  # the cell awaits something
        asyncio.run(result)


def _display(*objects: Any, **options: Any) -> None:
    print(*objects, sep="\n")


def _stand_in() -> ModuleType:
    # A notebook calls check(...) on itself; here that is somebody else's task.
    module = ModuleType("autograder")
    module.check = lambda *args, **kwargs: None  # type: ignore[attr-defined]
    return module


class _Shell:
    """What ``get_ipython()`` returns: runs no magic and no shell command, and says so."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    def run_line_magic(self, name: str, line: str, *args: Any, **kwargs: Any) -> Any:
        """Skip a line magic, but run what stands behind ``%time``."""
        if name == "time" and line.strip():
            return _run_line(line, sys._getframe(1))
        return self._skip(f"%{name}")

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Skip a cell magic; ``%%time`` and its like were taken off before."""
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
        note = f"skipped {what[:100]}: magics and shell commands do not run here"
        if note not in self._loaded.notes and len(self._loaded.notes) < 20:
            self._loaded.notes.append(note)


def _run_line(source: str, frame: FrameType) -> Any:
    """Run a statement, or return the value of an expression, as if it stood alone on the line that runs now."""
    name, above = frame.f_code.co_filename, "\n" * (frame.f_lineno - 1)
    try:
        code = compile(above + source.strip(), name, "eval", dont_inherit=True)
    except SyntaxError:
        code = compile(above + source.strip(), name, "exec", dont_inherit=True)
    return eval(code, frame.f_globals, frame.f_locals)


def entry_of(loaded: Loaded, name: str) -> Any:
    """Return the student's function or class, None where there is none that can be called."""
    with contextlib.suppress(Exception):
        found = loaded.namespace.get(name)
        return found if builtins.callable(found) else None
    return None
