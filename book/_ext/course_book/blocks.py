"""The blocks that a chapter is made of beside prose and cells: predict, walkthrough, recall, followup, belief, anchor.

All of them are plain HTML that works without a script: a fold is <details>, a choice is a radio button.
"""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from course_book import element
from course_book.element import Element, text


class Block(SphinxDirective):
    """A directive with a line of text as its argument and MyST as its body."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def inline(self, source: str) -> list[nodes.Node]:
        """Return a line's nodes: math, code and links work in it."""
        children, messages = self.state.inline_text(source, self.lineno)
        return [*children, *messages]

    def body(self) -> Element:
        """Return the body's nodes in an element."""
        return self.parsed(list(self.content), self.content_offset)

    def parsed(self, lines: list[str], offset: int = 0) -> Element:
        """Return the nodes of some lines of MyST in an element."""
        holder = Element.of("div", class_="hp-body")
        self.state.nested_parse(StringList(lines, self.env.docname), offset, holder)
        return holder


class Fold(Block):
    """A folded explanation; its title is always readable."""

    kind: ClassVar[str]
    label: ClassVar[str]

    def run(self) -> list[nodes.Node]:
        """Return <details> with the argument as its summary."""
        tag = Element.of("span", text(self.label), class_="hp-label")
        title = Element.of("span", *self.inline(self.arguments[0]), class_="hp-title")
        summary = Element.of("summary", tag, text(" "), title)
        return [Element.of("details", summary, self.body(), class_=f"hp-fold hp-{self.kind}")]


class Walkthrough(Fold):
    """How the solution comes about, folded."""

    kind, label = "walkthrough", "Walkthrough"


class Recall(Fold):
    """A question to answer with the book closed; the answer is folded."""

    kind, label = "recall", "Recall"


class FollowUp(Fold):
    """A question that goes on from the chapter; the answer is folded."""

    kind, label = "followup", "Go further"


class Belief(Block):
    """A widespread wrong sentence, and the experiment that refutes it."""

    def run(self) -> list[nodes.Node]:
        """Return a card: the sentence as a quotation, then the body."""
        tag = Element.of("span", text("Belief, tested"), class_="hp-label")
        said = Element.of("p", tag, text(" "), Element.of("q", *self.inline(self.arguments[0])), class_="hp-said")
        return [Element.of("div", said, self.body(), class_="hp-belief", role="group", aria_label="Belief, tested")]


class Predict(Block):
    """A question to commit to before the next cell is read.

    What follows it, up to the next heading, the next prediction, the exercise or ``predict-end``, stays veiled on the
    screen until the reader asks for it; blocks.css does it, and leaves the code of a cell that follows directly.
    reveal.js adds the button that asks, and keeps what was said.
    """

    option_spec: ClassVar[dict[str, Any]] = {"choices": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return a fieldset of radio buttons: the choices, then how sure the reader is."""
        choices = [choice.strip() for choice in self.options.get("choices", "").split("|") if choice.strip()]
        if len(choices) < 2:
            raise self.error("predict needs two choices or more: `:choices: first | second`")
        name = f"predict-{self.env.new_serialno('predict')}"
        tag = Element.of("span", text("Predict"), class_="hp-label")
        legend = Element.of("legend", tag, text(" "), Element.of("span", *self.inline(self.arguments[0])))
        parts: list[nodes.Node] = [legend]
        if self.content:
            parts.append(self.body())
        parts.append(Element.of("div", *(self.radio(name, c) for c in choices), class_="hp-choices"))
        sure = (self.radio(f"{name}-sure", word) for word in ("sure", "a guess"))
        parts.append(
            Element.of("div", text("How sure? "), *sure, class_="hp-sure", role="group", aria_label="How sure")
        )
        # Not one of the choices: arrow keys go through those, and would open what follows on their way.
        skip = self.button("checkbox", f"{name}-skip", "Show me without a prediction")
        parts.append(Element.of("div", skip, class_="hp-skip"))
        return [Element.of("fieldset", *parts, class_="hp-predict")]

    def radio(self, name: str, label: str) -> Element:
        """Return one radio button with its label around it."""
        return self.button("radio", name, label)

    def button(self, kind: str, name: str, label: str) -> Element:
        """Return an input of a kind, radio or checkbox, with its label around it."""
        button = Element.of("input", type=kind, name=name, autocomplete="off")
        return Element.of("label", button, text(" "), Element.of("span", *self.inline(label)))


class PredictEnd(SphinxDirective):
    """Where the veil of the prediction above ends, if not at the next heading."""

    def run(self) -> list[nodes.Node]:
        """Return an empty element, which `_veil` takes out again."""
        return [Element.of("span", class_="hp-predict-end")]


class Anchor(SphinxDirective):
    """A place to link to from outside: a bare HTML id, unique in its page only."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return an empty element with that id, exactly as written."""
        return [Element.of("span", class_="hp-anchor", id=self.arguments[0])]


def _class(node: nodes.Node) -> str:
    return str(node["html"].get("class", "")) if isinstance(node, Element) else ""


def _veil(app: Sphinx, doctree: nodes.document) -> None:
    """Put what follows a prediction into an element of its own, so that a style sheet can cover and uncover it."""
    ends = ("hp-predict", "hp-predict-end", "hp-graded", "hp-anchor")
    for question in [node for node in doctree.findall(Element) if _class(node) == "hp-predict"]:
        siblings = question.parent.children
        first = last = siblings.index(question) + 1
        while (
            last < len(siblings)
            and not isinstance(siblings[last], nodes.section)
            and _class(siblings[last]) not in ends
        ):
            last += 1
        while last > first and isinstance(siblings[last - 1], nodes.target):  # it belongs to the heading after it
            last -= 1
        if covered := siblings[first:last]:
            del question.parent[first:last]
            question.parent.insert(first, Element.of("div", *covered, class_="hp-veil"))
    for end in [node for node in doctree.findall(Element) if _class(node) == "hp-predict-end"]:
        end.parent.remove(end)


def _no_links_in_buttons(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Leave the words of a link in a summary or a label: a click there has its meaning already."""
    for box in doctree.findall(Element):
        if box["tag"] in ("summary", "label"):
            for link in list(box.findall(nodes.reference)):
                link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Register the directives."""
    element.setup(app)
    for block in (Walkthrough, Recall, FollowUp, Belief, Predict, Anchor):
        app.add_directive(block.__name__.lower(), block)
    app.add_directive("predict-end", PredictEnd)
    app.connect("doctree-read", _veil)
    app.connect("doctree-resolved", _no_links_in_buttons)
