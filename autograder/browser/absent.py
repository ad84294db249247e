"""Libraries that a page's Python does not have: importing one says so, and where the code would run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

ABSENT: Final = {"numpy": "NumPy", "scipy": "SciPy", "pandas": "pandas", "matplotlib": "Matplotlib", "jax": "JAX"}
"""By the name that is imported: what readers may reach for, as they call it."""
ELSEWHERE: Final = "run it in the notebook, in Colab or on your machine"


class Finder:
    """A finder, for ``sys.meta_path``, that finds nothing and says why."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Raise for a library that is absent; None for any other name."""
        if (library := ABSENT.get(name)) is not None:
            raise ModuleNotFoundError(f"{library} is not there when Python runs in the page; {ELSEWHERE}", name=name)
        return None


def install() -> None:
    """Let imports in this interpreter ask the finder, after all others: what is there is found."""
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
