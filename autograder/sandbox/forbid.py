"""``forbids``: what an exercise does not accept as an answer, recognized in the source and at run time.

A teaching policy, best effort, outside the promise that marks cannot be forged.

- In the source, before it runs: the dotted name; modules, classes and operators under another name, by an import or a
  plain assignment in any cell; ``getattr`` with a constant; ``torch.ops`` and ``torch._C`` for an operator. A name
  without a dot is a whole module, which may not be imported.
- At run time, whichever name led there (a star import, ``import_module``, ``eval``, a computed ``getattr``, a
  subclass): a forbidden class refuses to be made, and a forbidden operator to be dispatched, in place or not. It counts
  although the code swallows the exception.

Not seen: code that undoes the guard on purpose, and at run time a forbidden name that is neither a class nor one of
torch's private ``_amp_`` operators: a whole module whose name is computed, for one.
"""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn

from autograder.checks import FORBIDDEN_EXCEPTION

_KEEP: Final[list[Any]] = []
"""Operator overrides end when their library object does."""


def sentence(name: str) -> str:
    """Return what a student is told about a forbidden name."""
    return f"this exercise asks you to write it yourself, so {name} is not accepted as its answer"


class ForbiddenOperation(BaseException):
    """A forbidden class or operator was used. Not an Exception, so that a bare fallback does not hide it."""


assert ForbiddenOperation.__name__ == FORBIDDEN_EXCEPTION

# --------------------------------------------------------------------------- source


def aliases(trees: Iterable[ast.AST]) -> dict[str, str]:
    """Return what each name stands for that an import or a plain assignment gives to a module or to part of one."""
    known: dict[str, str] = {}
    for tree in trees:
        for node in ast.walk(tree):
            known.update(_given(node, known))
    return known


def find(tree: ast.AST, forbids: Sequence[str], known: dict[str, str] | None = None) -> list[tuple[int, str]]:
    """Return (line, forbidden name) of each place in the source that names one, directly or by alias.

    Args:
        tree: the source.
        forbids: dotted names.
        known: the aliases of all the cells; those of this source where it is None.
    """
    known = aliases([tree]) if known is None else known
    hits = set()
    for node in ast.walk(tree):
        for name in _names(node, known):
            hits |= {(getattr(node, "lineno", 0), bad) for bad in _meant(name, forbids)}
    return sorted(hits)


def _meant(name: str, forbids: Sequence[str]) -> list[str]:
    exact = [bad for bad in forbids if name == bad or name.startswith(bad + ".")]
    return exact or [bad for bad in forbids if _leads_to(name, bad)][:1]


def _leads_to(name: str, forbidden: str) -> bool:
    # torch.ops.aten._amp_update_scale_, torch._C._VariableFunctions._amp_update_scale_,
    # torch.amp.grad_scaler.GradScaler
    root, _, last = forbidden.rpartition(".")
    return name.startswith(root.split(".")[0] + ".") and last in name.split(".")


def _given(node: ast.AST, known: dict[str, str]) -> dict[str, str]:
    if isinstance(node, ast.Import):
        return {
            item.asname or item.name.split(".")[0]: item.name if item.asname else item.name.split(".")[0]
            for item in node.names
        }
    if isinstance(node, ast.ImportFrom) and node.module:
        return {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return {node.targets[0].id: _dotted(node.value, known)}
    return {}


def _names(node: ast.AST, known: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{item.name}" for item in node.names)
    elif isinstance(node, ast.Import):
        yield from (item.name for item in node.names)
    elif isinstance(node, (ast.Attribute, ast.Call)) and (name := _dotted(node, known)):
        yield name
    match node:
        case ast.Call(
            func=ast.Name(id="__import__") | ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]
        ):
            yield name
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
            yield name


def _dotted(node: ast.AST, known: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, known)
        return f"{base}.{node.attr}" if base else ""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str(last)), *_]):
            base = _dotted(target, known)
            return f"{base}.{last}" if base else ""
    return ""


# ------------------------------------------------------------------------- run time


def guard(forbids: Sequence[str], hits: list[str]) -> None:
    """Make every forbidden class and operator of this process refuse; each attempt is appended to ``hits``."""
    for name in forbids:
        module_name, _, last = name.rpartition(".")
        if not module_name:  # a whole module: libraries that a student may use import it as well
            continue
        try:
            target = getattr(importlib.import_module(module_name), last, None)
        except ImportError:
            continue
        if isinstance(target, type):
            target.__init__ = _refusal(name, hits)  # type: ignore[misc]
        elif last.startswith("_amp_"):
            _override(name, last, hits)


def _refusal(name: str, hits: list[str]) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        hits.append(name)
        raise ForbiddenOperation(sentence(name))

    return refuse


def _override(name: str, operator: str, hits: list[str]) -> None:
    import torch

    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings(action="ignore"):  # of an override: it is meant
        library.impl(operator, _refusal(name, hits), "CPU")
    _KEEP.append(library)
