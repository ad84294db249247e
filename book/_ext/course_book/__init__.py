"""The book's Sphinx extension: blocks to learn with, graded exercises, and mends of the theme.

``blocks``   predict, walkthrough, recall, followup, belief, anchor
``beliefs``  the appendix of beliefs and claims
``graded``   an exercise out of its folder, with its notebook
``fresh``    a page is executed again when a figure module that it uses has changed
``solve``    what pages need to run Python: Pyodide, a worker, an archive
``widget``   our scripts: the exercises' cards, an editor, the reader's progress
``live``     figures to play with: a script for each kind
``formulas`` formulas, set while the book is built
``theme``    no request off the site, no script twice, our logo and colors
``weight``   pages load what they use, each file by its hash
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from course_book import beliefs, blocks, formulas, fresh, graded, live, solve, theme, weight, widget


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every part; Sphinx calls this."""
    for part in (blocks, beliefs, graded, fresh, formulas, theme, solve, widget, live, weight):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
