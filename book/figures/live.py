"""A figure that a reader can play with: a picture as it stands, and what its script needs to go on from there.

In the page, book/live has the script, an element of its own for each kind of figure. Without it, in print and in a
notebook the picture stands as it is: it is the first state of the live one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from figures.style import Picture

_KIND: Final = re.compile(r"[a-z]+\Z")


def live(kind: str, still: Picture, data: Mapping[str, Any]) -> Picture:
    """Return a picture that comes alive in the page.

    Args:
        kind: of the figure; ``book/live/<kind>.js`` defines the element ``hp-live-<kind>``.
        still: the picture in the state that the script begins with.
        data: what the script needs, as JSON can say it: numbers that Python has computed, and no infinite ones.

    Raises:
        ValueError: the kind is no lower-case word, or the data holds inf or nan.
    """
    if not _KIND.match(kind):
        raise ValueError(f"kind={kind!r} is no lower-case word")
    # "</script>" inside of the data would end it.
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")
    return Picture(
        f'<hp-live-{kind} class="hp-live"><div class="hp-live-still">{still.markup}</div>'
        f'<script type="application/json">{text}</script></hp-live-{kind}>',
        still.alt,
    )
