"""Make the code that observes a student's function hard to change from inside, once the student's code runs beside it.

In one process nothing is out of reach of the other: what a submission says of itself stays its own word (see the
docstring of ``sandbox``). This only takes the short ways away. A sealed function looks names up in a table that is
made before the student's code is read, so neither ``module.name = ...`` nor ``frame.f_globals["name"] = ...`` nor a
change to ``builtins`` reaches it.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Final

_PACKAGE: Final = "autograder"


def sealed(modules: Iterable[ModuleType]) -> Mapping[Any, Any]:
    """Return a sealed copy of each function of the modules, by the function; the copies know only each other.

    A table of functions in a module (as ``SCENARIOS``) is copied with what it holds, and a module that is imported
    there stands for what is in it now.
    """
    copies: dict[Any, Any] = {}
    tables: list[dict[str, Any]] = []
    built_in = _table(dict(vars(builtins)))
    for module in modules:
        # Builtins among the globals: a name that is missed there first costs an exception.
        table = {**vars(builtins), **vars(module), "__builtins__": built_in}
        tables.append(table)
        names = _table(table)
        functions = [value for value in table.values() if _is_of(value, module)]
        copies |= {function: _copy(function, names) for function in functions}
    for table in tables:
        for name, value in table.items():
            if isinstance(value, FunctionType):
                table[name] = copies.get(value, value)
            elif isinstance(value, ModuleType):
                table[name] = _view(value)
            elif isinstance(value, MappingProxyType):
                table[name] = MappingProxyType({key: _known(item, copies) for key, item in value.items()})
    return MappingProxyType(copies)


def _known(value: Any, copies: Mapping[Any, Any]) -> Any:
    return copies.get(value, value) if isinstance(value, FunctionType) else value


def _is_of(value: Any, module: ModuleType) -> bool:
    return isinstance(value, FunctionType) and value.__globals__ is vars(module)


def _copy(function: FunctionType, names: dict[str, Any]) -> FunctionType:
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _table(names: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that answers lookups from ``names``, whatever is written to it.

    Python reads globals and builtins that are not exactly a dict by ``__getitem__``; the proxy's is C, and read-only.
    """
    kind = type("Table", (dict,), {"__slots__": (), "__getitem__": staticmethod(MappingProxyType(names).__getitem__)})
    table: dict[str, Any] = kind(names)
    return table


def _view(module: ModuleType) -> Any:
    attributes = MappingProxyType(dict(vars(module)))
    return type("View", (), {"__slots__": (), "__getattribute__": staticmethod(attributes.__getitem__)})()


def hide() -> None:
    """Take this package out of what can be imported; what is imported under its name after this is another."""
    for name in [name for name in sys.modules if name == _PACKAGE or name.startswith(_PACKAGE + ".")]:
        del sys.modules[name]
