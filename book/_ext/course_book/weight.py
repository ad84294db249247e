"""What a page loads, once all pages are written: nothing that it has no use for, and each file by its hash.

``icons``      of the theme's icon fonts and their 1,800 names, those that the site shows
``unused``     scripts and styles of features that a page does not have: tabs, folds, notebook cells, search
``by_hash``    each script and style sheet with ``integrity``, and with ``?v=``, so that a browser may keep it for ever

What ``integrity`` covers is every ``<script src>`` and ``<link rel=stylesheet>``, and, by the page's import map, the
editor, which is imported. A worker has no such attribute in any browser: the worker, Python and the archive of
exercises lie in folders that are named by what they hold (``solve.py``), on the same site, which is all that the page's
policy lets it load. Fonts and pictures have none either.

A browser refuses a hash where a page is opened from a folder. There the page's first script, ``from_file.js``, loads
each refused file once more without.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

from course_book.esbuild import integrity as integrity

_PRIVATE: Final = range(0xE000, 0xF900)
"""Code points that mean nothing but in an icon font."""
_ICON: Final = re.compile(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"\\?([^"]+)"\}')
_FACE: Final = re.compile(r"@font-face\{[^}]*?url\(([^)]*/(fa-[a-z]+-\d+)\.woff2)\)[^}]*\}")
_NAME: Final = re.compile(r"fa-[a-z0-9-]+")
_ESCAPE: Final = re.compile(r"\\([0-9a-f]{4,5})")
_FIRST: Final = "from_file.js"
_INLINE: Final = "documentation_options.js"
"""What an inline script after it needs at once, and what is smaller than a request."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that some pages have, and what is loaded for it."""

    shows: re.Pattern[str]
    """What a page with it has."""
    files: tuple[str, ...]
    inline: tuple[re.Pattern[str], ...] = ()
    """Scripts in the page that only speak to those files."""


_NEVER: Final = re.compile(r"(?!)")
FEATURES: Final = (
    Feature(re.compile(r'id="search-results"'), ("searchtools.js", "language_data.js", "searchindex.js")),
    Feature(re.compile(r'class="[^"]*\bsd-tab'), ("design-tabs.js",)),
    Feature(re.compile(r'class="[^"]*\bsd-'), ("sphinx-design.min.css",)),
    Feature(re.compile(r'class="highlight'), ("clipboard.min.js", "copybutton.js", "copybutton.css")),
    Feature(re.compile(r'class="(?:cell|output)\b'), ("mystnb.",)),
    Feature(
        re.compile(r'class="(?:[^"]*\s)?(?:toggle[\s"]|admonition[^"]*\sdropdown)'),
        ("togglebutton.js", "togglebutton.css"),
        (re.compile(r"<script>(?:let toggle(?:Hint|Open)|var togglebuttonSelector)[^<]*</script>\s*"),),
    ),
    # Its script, which asks another site for more, is taken out by theme.py.
    Feature(
        _NEVER,
        ("sphinx-thebe.css", "sphinx-thebe.js"),
        (
            re.compile(r'<script type="text/x-thebe-config">.*?</script>\s*', re.DOTALL),
            re.compile(r"<script>kernelName = '[^']*'</script>\s*"),
        ),
    ),
)
_LOADED: Final = re.compile(
    r'[ \t]*(?P<tag><script\b[^>]*?\ssrc="(?P<src>[^"]+)"[^>]*></script>'
    r'|<link\b(?=[^>]*\srel="stylesheet")[^>]*?\shref="(?P<href>[^"]+)"[^>]*>)[ \t]*\n?'
)
_PRELOAD: Final = re.compile(r'<link rel="preload" as="script"[^>]*>\s*')
_IMPORT: Final = re.compile(r'@import "([^"]+)";?')


# -------------------------------------------------------------------------------- icons


def icons(css: str, names: Iterable[str]) -> str:
    """Return a style sheet without the icons that no page names; a rule stays where one of its names is shown."""
    shown = set(names)
    return _ICON.sub(lambda rule: rule[0] if shown & set(_NAME.findall(rule[1])) else "", css)


def points(css: str) -> set[int]:
    """Return the icons that a style sheet shows, as code points."""
    escaped = {int(code, 16) for code in _ESCAPE.findall(css)}
    return {point for point in escaped | {ord(sign) for sign in css} if point in _PRIVATE}


def font(source: Path, shown: set[int], target: Path) -> bool:
    """Write those signs of a font as WOFF; return whether it has any."""
    with TTFont(source, recalcTimestamp=False) as whole:
        if not shown & whole.getBestCmap().keys():
            return False
        options = Options(
            layout_features=[], hinting=False, notdef_outline=True, name_IDs=["*"], recalc_timestamp=False
        )
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=shown)
        subsetter.subset(whole)
        whole.flavor = "woff"
        whole.save(target)
    return True


def _write_icons(static: Path, pages: Iterable[Path]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*pages, *static.rglob("*.js"))]
    names = {name for text in texts for name in _NAME.findall(text)}
    sheets = {path: icons(path.read_text(encoding="utf-8"), names) for path in sorted(static.glob("**/*.css"))}
    shown = {point for css in sheets.values() for point in points(css)}
    for path, css in sheets.items():
        written = _FACE.sub(lambda face, near=path.parent: _face(face, near, shown), css)
        if written != path.read_text(encoding="utf-8"):
            path.write_text(written, encoding="utf-8")
    for folder in static.glob("vendor/fontawesome/webfonts"):
        for path in (*folder.glob("*.ttf"), *folder.glob("*.woff2")):
            path.unlink()


def _face(face: re.Match[str], near: Path, shown: set[int]) -> str:
    """Return a font's rule with the smaller font in it; nothing where no page shows a sign of it."""
    source = near / face[1].replace(".woff2", ".ttf")
    small = source.with_suffix(".woff")
    if not source.is_file() or not font(source, shown, small):
        return ""
    version = hashlib.sha256(small.read_bytes()).hexdigest()[:8]
    address = f"{face[1].removesuffix('.woff2')}.woff?v={version}"
    return re.sub(r"src:[^;}]*", f'src:url({address}) format("woff")', face[0])


# ------------------------------------------------------------------------------- unused


def unused(page: str) -> str:
    """Return a page without the scripts and styles of what it does not have, and without any a second time."""
    for feature in FEATURES:
        if not feature.shows.search(page):
            for pattern in feature.inline:
                page = pattern.sub("", page)
    gone = {name for feature in FEATURES if not feature.shows.search(page) for name in feature.files}
    seen: set[str] = set()

    def kept(found: re.Match[str]) -> str:
        name = urlsplit(_address(found)).path.rpartition("/")[2]
        if any(name.startswith(start) for start in gone) or _address(found) in seen:
            return ""
        seen.add(_address(found))
        return found[0]

    return _PRELOAD.sub("", _LOADED.sub(kept, page))


def _address(found: re.Match[str]) -> str:
    return html.unescape(found["src"] or found["href"])


# ------------------------------------------------------------------------------ by hash


def by_hash(page: str, folder: Path) -> str:
    """Return a page whose scripts and style sheets are named with their hashes.

    A script that would keep the page from being shown while it is fetched waits until it has been; the order stays.

    Args:
        page: its HTML.
        folder: where it lies, which addresses in it start from.
    """

    def named(found: re.Match[str]) -> str:
        path = folder / unquote(urlsplit(_address(found)).path)
        if urlsplit(_address(found)).netloc or not path.is_file():
            return found[0]
        if path.name == _FIRST:
            return ""
        if path.name == _INLINE:
            return f"    <script>{path.read_text(encoding='utf-8').strip()}</script>\n"
        data = path.read_bytes()
        address = f"{urlsplit(_address(found)).path}?v={hashlib.sha256(data).hexdigest()[:8]}"
        tag = re.sub(r' integrity="[^"]*"', "", found["tag"])
        tag = tag.replace(f'"{found["src"] or found["href"]}"', f'"{address}" integrity="{integrity(data)}"')
        if found["src"] and not re.search(r"\s(?:defer|async|type)\b", tag):
            tag = tag.replace("<script ", "<script defer ", 1)
        return f"    {tag}\n"

    return _LOADED.sub(named, page)


def _first(page: str, static: Path) -> str:
    """Put the script for pages that are opened from a folder before all that it may have to load again."""
    script = static / _FIRST
    if not script.is_file():
        return page
    lines = script.read_text(encoding="utf-8").splitlines()
    source = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
    return re.sub(r"(<title>)", lambda title: f"<script>{source}</script>\n    {title[1]}", page, count=1)


# ------------------------------------------------------------------------------- sphinx


def _whole_styles(static: Path) -> None:
    """Put a style sheet that another one imports in its place: its hash cannot be named there."""
    for path in sorted(static.glob("styles/*.css")):
        css = path.read_text(encoding="utf-8")
        whole = _IMPORT.sub(lambda found, near=path.parent: (near / found[1]).read_text(encoding="utf-8"), css)
        if whole != css:
            path.write_text(whole, encoding="utf-8")


def _lighten(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    pages = sorted(path for path in out.rglob("*.html") if static not in path.parents)
    _whole_styles(static)
    _write_icons(static, pages)
    for path in pages:
        page = path.read_text(encoding="utf-8")
        if "<head>" in page:
            path.write_text(_first(by_hash(unused(page), path.parent), static), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Come after all that writes pages and files."""
    app.connect("build-finished", _lighten, priority=950)
