"""What code prints, on its way to the page while the code still runs: a run that is ended has no record to carry it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from autograder.tensors import exactly

MOST: Final = 10_000
"""Characters of a whole run that the page shows; one more goes there, which says that this was not all."""
MOST_SHOWN: Final = 4_000
"""Characters of one shown case; one more goes there, too."""


class Printed:
    """Passes the beginning of a run's text on, and then nothing more: a loop that prints cannot flood the page."""

    def __init__(self, told: Callable[[str], object]) -> None:
        """Give what is told each piece of text, as it was printed."""
        self._told, self._left = told, MOST + 1

    def __call__(self, text: str) -> None:
        """Pass a piece on, as far as there is room; half of a pair of characters goes as its escape."""
        if self._left <= 0:
            return
        piece = exactly(text, self._left)
        self._left -= len(piece)
        self._told(piece.encode("utf-8", "backslashreplace").decode())
