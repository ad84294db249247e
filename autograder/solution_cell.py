"""The cell that holds the answer: the starter with its stub, or with the solution between nbgrader's marks.

nbgrader replaces what stands between the marks by one stub, the same in the whole course. So the student's cell has
that stub where the starter raises NotImplementedError, and the source's cell has the solution there: releasing the
source gives the student's cell, line by line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

STUB: Final = 'raise NotImplementedError("Replace this line with your code.")'
"""What stands where the student's code goes; ``nbgrader_config.py`` hands it to nbgrader."""
BEGIN: Final = "### BEGIN SOLUTION"
END: Final = "### END SOLUTION"

_Scope: TypeAlias = ast.Module | ast.ClassDef
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _Hole:
    """A function of the starter that the student is to write."""

    path: tuple[str, ...]
    """Names of the classes around it, and its own."""
    node: _Function
    stub: ast.stmt


def opened(starter: str) -> str:
    """Return the starter with the course's stub in each function that it leaves open."""
    return _filled(starter, {hole.path: STUB for hole in _holes(ast.parse(starter))})


def solved(starter: str, solution: str) -> str:
    """Return the starter with the solution's code, between nbgrader's marks, in each function that it leaves open.

    Imports, helpers and methods that only the solution has stand at the end of the last part that can hold them.

    Raises:
        ValueError: the starter leaves nothing open, or the solution does not define what it leaves open.
    """
    start, end = ast.parse(starter), ast.parse(solution)
    holes = list(_holes(start))
    if not holes:
        raise ValueError("no function of starter.py ends with `raise NotImplementedError(...)`")
    lines = solution.splitlines()
    regions = {}
    for hole in holes:
        found = _find(end, hole.path)
        if not isinstance(found, _Function):
            raise ValueError(f"the solution does not define {'.'.join(hole.path)}, which starter.py leaves open")
        regions[hole.path] = _body(found, lines)
    for scope in sorted({hole.path[:-1] for hole in holes} | {()}, key=len, reverse=True):
        last = [hole.path for hole in holes if hole.path[: len(scope)] == scope][-1]
        regions[last] += _extras(_scope(start, scope), _scope(end, scope), lines)
    text = _filled(starter, {path: _between_marks(region) for path, region in regions.items()})
    _compiles(text)
    return text


def _compiles(text: str) -> None:
    try:
        compile(text, "the source notebook's cell", "exec")
    except SyntaxError as error:
        mend = "let the last function that starter.py leaves open be the last thing in it"
        raise ValueError(f"starter and solution do not fit into one cell ({error.msg}); {mend}") from None


# --------------------------------------------------------------------------- starter


def _holes(scope: _Scope, path: tuple[str, ...] = ()) -> Iterator[_Hole]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            yield from _holes(node, (*path, node.name))
        elif isinstance(node, _Function) and _is_stub(node.body[-1]):
            yield _Hole((*path, node.name), node, node.body[-1])


def _is_stub(node: ast.stmt) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    name = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def _filled(starter: str, parts: dict[tuple[str, ...], str]) -> str:
    """Return the starter with the stub of each function replaced by a text, whose first line gets the stub's indent."""
    lines = starter.strip("\n").splitlines()
    offset = len(starter) - len(starter.lstrip("\n"))
    for hole in reversed(list(_holes(ast.parse(starter)))):
        first, last = hole.stub.lineno - 1 - offset, (hole.stub.end_lineno or hole.stub.lineno) - offset
        lines[first:last] = [" " * hole.stub.col_offset + parts[hole.path]]
    return "\n".join(lines)


# -------------------------------------------------------------------------- solution


def _find(scope: _Scope, path: tuple[str, ...]) -> ast.stmt | None:
    found: ast.stmt | None = None
    body = scope.body
    for name in path:
        found = next((node for node in body if _name(node) == name), None)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return found


def _scope(module: ast.Module, path: tuple[str, ...]) -> _Scope:
    found = _find(module, path) if path else None
    return found if isinstance(found, ast.ClassDef) else module


def _name(node: ast.stmt) -> str:
    return node.name if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) else ""


def _body(function: _Function, lines: list[str]) -> list[str]:
    """Return the function's lines after its docstring, comments included."""
    documented = ast.get_docstring(function, clean=False) is not None
    before = function.body[0].end_lineno if documented else _signature_end(function, lines)
    return _without_blank_ends(lines[before : function.end_lineno])


def _signature_end(function: _Function, lines: list[str]) -> int:
    # Comments above the first statement belong to the body.
    first = function.body[0].lineno - 1
    while first > function.lineno and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def _extras(start: _Scope, end: _Scope, lines: list[str]) -> list[str]:
    """Return the lines of what only the solution's scope holds, each part after two blank lines."""
    known = {_name(node) for node in start.body} | {ast.dump(node) for node in start.body}
    found: list[str] = []
    previous = 0
    for node in end.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        while first > previous and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        previous = node.end_lineno or node.lineno
        named = bool(_name(node)) and _name(node) in known
        if not named and ast.dump(node) not in known and not _is_docstring(node) and not _is_future(node):
            found += ["", "", *lines[first:previous]]
    return found


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _without_blank_ends(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        lines = lines[1:]
    return lines


def _between_marks(region: list[str]) -> str:
    indent = region[0][: len(region[0]) - len(region[0].lstrip())]
    return "\n".join([BEGIN, *region, indent + END])
