"""Put an interpreter in order after a student's code has run in it: the next run must find it as this one did.

In a page there is one interpreter for all runs, because to start it takes seconds. What can be put back is: modules
that were replaced, removed or written into, and what decides about streams, recursion and randomness. What cannot (an
object of a module, changed from inside) is gone once the page's worker is started anew.

Builtins are not put back: while a student's code runs, the module of that name is a copy, which is all that it sees.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import random
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

_SYS: Final = ("stdin", "stdout", "stderr", "displayhook", "excepthook", "path", "argv", "meta_path", "path_hooks")


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Run the body, whatever it does to modules and builtins, and undo that."""
    modules = dict(sys.modules)
    contents = {name: dict(vars(module)) for name, module in modules.items() if _is_plain(module)}
    lists = {name: list(value) for name in _SYS if type(value := getattr(sys, name, None)) is list}
    limit, state, folder = sys.getrecursionlimit(), random.getstate(), os.getcwd()
    environment, filters = dict(os.environ), list(warnings.filters)
    sys.modules["builtins"] = theirs = ModuleType("builtins")
    vars(theirs).update(vars(builtins))
    try:
        yield
    finally:
        _put_back(sys.modules, modules)
        for name, content in contents.items():
            _put_back(vars(modules[name]), content)
        for name, items in lists.items():
            getattr(sys, name)[:] = items
        sys.setrecursionlimit(limit)
        random.setstate(state)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        warnings.filters[:] = filters  # type: ignore[index]


def _is_plain(module: Any) -> bool:
    return type(module) is ModuleType


def _put_back(now: dict[str, Any], before: dict[str, Any]) -> None:
    for name in [name for name in now if name not in before]:
        del now[name]
    for name, value in before.items():
        if name not in now or now[name] is not value:
            now[name] = value
