"""Pointers for an instructor: where a submission names what a program can look into the grader with.

Nothing is run, and no mark depends on it: code has honest reasons to use any of these, and code that hides its reasons
need not name them. So a pointer says where to look, and not what was found there.
"""

from __future__ import annotations

import ast
import functools
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from autograder.models import Cell

MODULES: Final = frozenset(("ctypes", "gc", "inspect"))
"""Modules that lead from any object to others, or past Python."""
NAMES: Final = frozenset(
    (
        "__closure__", "__globals__", "__subclasses__", "_current_frames", "_getframe", "ag_frame", "cell_contents",
        "cr_frame", "f_back", "f_builtins", "f_globals", "f_locals", "f_trace", "gi_frame", "setprofile", "settrace",
        "tb_frame",
    )
)  # fmt: skip
"""Attributes and functions that lead from a function or a frame to what surrounds it."""
LISTED: Final = 3
"""Places that a pointer names; the others are counted."""
_OURS: Final = "autograder"
_SIZE: Final = 200_000
"""Characters of a cell up to which it is parsed; a longer one, or one that is no Python, is searched as text."""
_SHORT: Final = 1_000
"""Characters of a cell that is kept with what was found in it: those that were handed out stand in every notebook."""
_LEAVES: Final = frozenset(
    ("arg", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "op", "ops", "simple", "type_comment")
)
"""Fields of a node in which no name stands that is looked for below it: texts, numbers, operators, contexts."""
_TELLING: Final = frozenset((ast.Attribute, ast.Call, ast.Import, ast.ImportFrom, ast.Name))
_WORDS: Final = re.compile(
    rf"(?<!\w)(?:(?P<name>{'|'.join(sorted(NAMES))})"
    rf"|(?:import|from)[ \t]+(?P<module>{'|'.join(sorted(MODULES))}|{_OURS}\.\w+)"
    rf"|(?P<dotted>sys[ \t]*\.[ \t]*modules|{_OURS}\.(?!check\b)[a-z]\w*))(?!\w)"
)
_IMPORTERS: Final = frozenset(("__import__", "import_module"))

Place = tuple[int, int, str]
"""(cell, line, name)."""


def pointers(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return one sentence that names what the cells use and where, none where there is nothing to look at."""
    places = list(dict.fromkeys(place for cell in cells for place in _in_cell(cell)))
    if not places:
        return ()
    names = dict.fromkeys(name for _, _, name in places)
    some = [next(place for place in places if place[2] == name) for name in list(names)[:LISTED]]
    shown = ", ".join(f"{name} (cell {cell}, line {line})" for cell, line, name in some)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return (
        f"the code names {shown}{more}: a program can look into the one that runs it with that, "
        "for good reasons too; see what it is for here",
    )


def _in_cell(cell: Cell) -> list[Place]:
    found = _found_once(cell.source) if len(cell.source) <= _SHORT else _found(cell.source)
    return [(cell.number, line, name) for line, name in found]


def _found(source: str) -> tuple[tuple[int, str], ...]:
    tree = _parsed(source) if len(source) <= _SIZE else None
    return tuple(sorted(set(_in_tree(tree) if tree is not None else _in_text(source))))


_found_once = functools.lru_cache(maxsize=256)(_found)


def _parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _in_text(text: str, line: int = 1) -> Iterator[tuple[int, str]]:
    # As the compiler reads identifiers: a name may be written with other characters that mean the same.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    for number, part in enumerate(plain.split("\n"), line):
        for match in _WORDS.finditer(part):
            yield number, re.sub(r"\s", "", match["name"] or match["module"] or match["dotted"])


def _in_tree(tree: ast.Module) -> Iterator[tuple[int, str]]:
    nodes = _nodes(tree)
    system = {"sys"} | {
        alias.asname or alias.name
        for node in nodes if isinstance(node, ast.Import)
        for alias in node.names if alias.name == "sys"
    }  # fmt: skip
    documentation = {
        id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes:
        if isinstance(node, ast.Constant):
            if id(node) not in documentation:
                yield from _in_constant(node.value, node.lineno)
        elif type(node) in _TELLING:
            for name in _in_node(node, system):
                yield getattr(node, "lineno", 1), name


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Return what ``ast.walk`` yields but for operators and contexts, in half the time."""
    nodes = [tree]
    for node in nodes:  # it grows meanwhile
        for name in _BRANCHES[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


_BRANCHES: Final = {
    kind: tuple(name for name in kind._fields if name not in _LEAVES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each kind of node that may hold other nodes to look at."""


def _in_constant(value: object, line: int) -> Iterator[tuple[int, str]]:
    # getattr(sys, "_getframe"), exec("import gc")
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(text, str) and len(text) <= _SIZE:
        yield from ((line, name) for _, name in _in_text(text))


def _in_node(node: ast.AST, system: set[str]) -> Iterable[str]:
    match node:
        case ast.Import(names=names):
            return [name for alias in names if (name := _module(alias.name))]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            if module == _OURS:
                return [f"{_OURS}.{alias.name}" for alias in names if alias.name != "check"]
            if found := _module(module):
                return [found]
            wanted = NAMES | ({"modules"} if module == "sys" else set())
            return [f"{module}.{alias.name}" for alias in names if alias.name in wanted]
        case ast.Attribute(value=ast.Name(id=base), attr="modules") if base in system:
            return ["sys.modules"]
        case ast.Attribute(value=ast.Name(id=base), attr=attribute) if base == _OURS and attribute != "check":
            return [f"{_OURS}.{attribute}"]
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in NAMES:
            return [name]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(module)), *_]):
            return [found] if name in _IMPORTERS and (found := _module(module)) else []
    return []


def _module(name: str) -> str:
    """Return the name where it is one to point at; the package itself is what every notebook imports ``check`` from."""
    root, _, rest = name.partition(".")
    return name if root in MODULES or (root == _OURS and rest) else ""
