"""One docutils node for all our HTML: a tag with its attributes, whose children are ordinary nodes."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

VOID = frozenset({"input"})


class Element(nodes.General, nodes.TextElement):
    """An HTML element; in any other output its children alone."""

    @classmethod
    def of(cls, name: str, /, *children: nodes.Node, **attributes: str) -> Element:
        """Return an element; ``class_`` and ``for_`` stand for the two attributes that Python reserves."""
        clean = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        ids = [clean.pop("id")] if "id" in clean else []
        return cls("", "", *children, tag=name, html=clean, ids=ids)


def text(content: str) -> nodes.Text:
    """Return plain text."""
    return nodes.Text(content)


def _visit(self: Any, node: Element) -> None:
    self.body.append(self.starttag(node, node["tag"], "", **node["html"]))


def _depart(self: Any, node: Element) -> None:
    if node["tag"] not in VOID:
        self.body.append(f"</{node['tag']}>")


def _pass(self: Any, node: Element) -> None:
    pass


def setup(app: Sphinx) -> None:
    """Tell Sphinx how the node is written."""
    others: Any = dict.fromkeys(("latex", "text", "man", "texinfo"), (_pass, _pass))
    app.add_node(Element, html=(_visit, _depart), **others)
