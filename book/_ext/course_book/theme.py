"""Mends of the theme: nothing comes from another site, no script is there twice, and our logo and colors."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

from course_book.element import Element

HOSTS = ("github.com", "gitlab.com", "bitbucket.org")
"""Where the theme can make a link to a repository; elsewhere there is no such button."""
# What a page may load: what comes with it. The theme's scripts stand in the pages; Pyodide is WebAssembly; ``file:`` is
# for pages that are opened from a folder, where not every browser takes that for the page's own place.
POLICY = (
    "default-src 'self' file:; script-src 'self' file: 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' file: "
    "'unsafe-inline'; img-src 'self' file: data:; font-src 'self' file: data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self' file:"
)
# Where a browser keeps nothing for pages, even to look at localStorage is an error, and the theme's scripts stop at it.
# With this they find one that lasts as long as the page; book/widget/store.js knows it by its mark.
STORAGE = (
    "<script>try { localStorage.length } catch { const kept = new Map(); Object.defineProperty(window, 'localStorage', "
    "{ value: { lastsAsLongAsThePage: true, getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => "
    "void kept.set(key, String(value)), removeItem: (key) => void kept.delete(key) } }) }</script>"
)
THEME = (
    'document.documentElement.dataset.theme = ["light", "dark"].find((each) => each === localStorage.getItem("mode")) '
    '?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");'
)
_MENDS = (
    (
        re.compile(r'<head>(?!\s*<meta http-equiv="Content-Security-Policy")'),
        f'<head>\n    <meta http-equiv="Content-Security-Policy" content="{POLICY}">',
    ),
    # The theme is found out by a script that comes last; until then a reader in the dark would see a light page, or
    # that of the last visit.
    (re.compile(re.escape('document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";')), THEME),
    (
        re.compile(r'(<meta http-equiv="Content-Security-Policy"[^>]*>)(?!\s*<script>try { localStorage)'),
        rf"\1\n    {STORAGE}",
    ),
    # 1.4 MB of icons as a script, which the style sheet has as a font, too; what weight.py leaves of that is 5 KB
    (re.compile(r'<script [^>]*src="[^"]*/scripts/fontawesome\.js[^"]*"[^>]*></script>\s*'), ""),
    # names that hide the words that are seen on a button
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # a corner of a table that heads nothing
    (re.compile(r'<th class="head">(?:<p></p>)?</th>'), "<td></td>"),
    # a role that lists must not hold
    (re.compile(r' role="doc-biblioentry"'), ' role="listitem"'),
    # the book's name, which no landmark holds
    (
        re.compile(r'<div class="sidebar-primary-item">(?=\s*<a class="navbar-brand)'),
        '<div class="sidebar-primary-item" role="banner">',
    ),
    (re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="[^"]*"'), r"\1"),
)
_SEARCHED = ('".headerlink", "script", "style"]', '".headerlink", "script", "style", ".math > math"]')
"""A line that was found shows a formula once, as TeX."""
PROSE = 30
"""A cell with more characters than that is prose, too much for a third of a phone's width."""
_WEIGHT = ("fontawesome.js*", "*.js.map", "*.css.map")
log = logging.getLogger(__name__)


def _options(app: Sphinx, config: Config) -> None:
    # Not in _config.yml: `sphinx.config.html_theme_options` there replaces what Jupyter Book sets.
    options = config.html_theme_options
    repository = options.get("repository_url", "").rstrip("/")
    hosted = urlsplit(repository).hostname in HOSTS
    logos = {f"image_{mode}": f"_static/logo-{mode}.svg" for mode in ("light", "dark")}
    options.update(
        {
            "logo": {**logos, "text": config.html_title, "alt_text": ""},
            "pygments_light_style": "a11y-high-contrast-light",
            "pygments_dark_style": "a11y-high-contrast-dark",
            "use_fullscreen_button": False,
            "repository_url": repository if hosted else "",
            "use_repository_button": hosted,
            "use_issues_button": hosted,
            "show_toc_level": 2,
            # No bar above the page. Hiding it with CSS is not enough: the theme's script gives the buttons that open
            # the sidebars on a phone their work by looking for the first of that kind, which would be the hidden one.
            **dict.fromkeys(("navbar_start", "navbar_center", "navbar_end", "navbar_persistent"), ""),
            "footer_content_items": "copyright.html, extra-footer.html",
        }
    )
    config.course_repository = repository
    config.course_branch = options.get("repository_branch", "main")


def _no_thebe(app: Sphinx) -> None:
    """Drop sphinx-thebe's script: it stands in each page twice, which is an error, and names another site."""
    listeners = app.events.listeners["env-before-read-docs"]
    listeners[:] = [listener for listener in listeners if listener.handler.__name__ != "init_thebe_core"]


def _static_folder(app: Sphinx) -> None:
    """Make _static a folder: where a build fails early, the theme copies its logo to a *file* of that name."""
    static = Path(app.outdir, "_static")
    if static.is_file():
        static.unlink()
    static.mkdir(parents=True, exist_ok=True)


def _stacked_tables(app: Sphinx, doctree: nodes.document) -> None:
    """Tell the style sheet which tables a phone shows row by row, and name each of their cells by its column."""
    for table in doctree.findall(nodes.table):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        if len(rows[0]) < 3 or not any(len(cell.astext()) > PROSE for row in rows[1:] for cell in row):
            continue
        table["classes"].append("hp-stack")
        for row in rows[1:]:
            for head, cell in zip(rows[0], row, strict=False):
                cell.insert(0, Element.of("span", class_="hp-column", data_column=head.astext()))


def _mend_pages(app: Sphinx, exception: Exception | None) -> None:
    """Mend what the theme's templates write, and take files out of the site that only weigh."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        text = before = page.read_text(encoding="utf-8")
        for pattern, replacement in _MENDS:
            text = pattern.sub(replacement, text)
        if text != before:
            page.write_text(text, encoding="utf-8")
    search = out / "_static/searchtools.js"
    if search.is_file():
        search.write_text(search.read_text(encoding="utf-8").replace(*_SEARCHED), encoding="utf-8")
    for glob in _WEIGHT:
        for path in (out / "_static").rglob(glob):
            path.unlink()


def _front_door(app: Sphinx, exception: Exception | None) -> None:
    """Make index.html a page: Jupyter Book's is a bare tag, and a browser asks for a favicon that is not there."""
    if exception is not None or app.builder.format != "html" or app.config.root_doc == "index":
        return
    first, title = f"{app.config.root_doc}.html", html.escape(app.config.html_title)
    lines = (
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<title>{title}</title><link rel="icon" href="data:,">',  # none: it is gone at once
        f'<meta http-equiv="refresh" content="0; url={first}"></head>',
        f'<body><a href="{first}">{title}</a></body></html>',
    )
    Path(app.outdir, "index.html").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the mends."""
    app.connect("config-inited", _options)
    app.connect("builder-inited", _no_thebe)
    app.connect("builder-inited", _static_folder)
    app.connect("doctree-read", _stacked_tables)
    app.connect("build-finished", _mend_pages)
    app.connect("build-finished", _front_door, priority=900)  # after Jupyter Book's own
