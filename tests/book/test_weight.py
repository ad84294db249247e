"""Formulas that are set at the build, and what a page keeps of what it could load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from course_book import formulas, weight
from docutils import nodes
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / formulas.PACKAGE


@pytest.fixture(scope="module", autouse=True)
def installed(site: Path) -> None:
    """Have the book built, which installs MathJax."""


def test_a_formula_is_a_picture_and_mathml() -> None:
    asked = [formulas.Formula(r"\frac{a}{b} \le 2^{-14}", display) for display in (True, False)]
    block, inline = formulas.set_all(asked, PACKAGE)
    for picture in (block, inline):
        math = BeautifulSoup(picture.math, "html.parser").math
        assert math is not None
        assert [tag.name for tag in math.find_all(["mfrac", "mo", "msup"])] == ["mfrac", "mo", "msup", "mo"]
        assert math.get_text() == "ab≤2−14"
        assert picture.svg.count("<path") == 7
        assert "currentColor" in picture.svg
        assert not re.search(r'id="|data-|xlink', picture.svg + picture.math)
    height = [float(re.findall(r'height="([\d.]+)ex"', picture.svg)[0]) for picture in (block, inline)]
    assert height[0] > height[1], "a fraction on a line of its own is larger"


@pytest.mark.parametrize("tex", [r"\foo", r"\frac{1", r"x_1_2", r"\begin{nothing}x\end{nothing}"])
def test_tex_that_cannot_be_read_is_an_error(tex: str) -> None:
    good, bad = formulas.set_all([formulas.Formula("x", False), formulas.Formula(tex, False)], PACKAGE)
    assert (good.error, bool(good.svg)) == ("", True)
    assert bad.error
    assert not bad.svg


def test_rows_and_paragraphs_stand_below_each_other() -> None:
    block = nodes.math_block
    assert formulas.formula_of(block("", "a")).tex == "a"
    assert formulas.formula_of(block("", r"a \\ b")).tex == r"\begin{aligned}a \\ b\end{aligned}"
    assert formulas.formula_of(block("", "a\n\nb")).tex == r"\begin{gathered}a \\ b\end{gathered}"
    whole = block("", r"\begin{align}a \\ b\end{align}", nowrap=True)
    assert formulas.formula_of(whole).tex == formulas.source_of(whole) == r"\begin{align}a \\ b\end{align}"
    made = [formulas.formula_of(each) for each in (block("", r"a \\ b"), block("", "a\n\nb"), whole)]
    assert [picture.error for picture in formulas.set_all(made, PACKAGE)] == [""] * 3


def test_without_mathjax_that_is_said(tmp_path: Path) -> None:
    assert formulas.set_all([], tmp_path / "none") == []
    with pytest.raises(FileNotFoundError):
        formulas.set_all([formulas.Formula("x", False)], tmp_path / "none")


def test_every_icon_of_the_site_is_in_the_font(site: Path) -> None:
    (font,) = site.glob("_static/vendor/fontawesome/webfonts/*solid*")
    css = (site / "_static/styles/pydata-sphinx-theme.css").read_text(encoding="utf-8")
    with TTFont(font) as opened:
        there = set(opened.getBestCmap())
    named = set()
    for page in site.glob("*.html"):
        for tag in BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select(
            "i.fa-solid, i.fas, span.fa-solid"
        ):
            named |= {name for name in tag["class"] if name.startswith("fa-")} - {"fa-solid", "fa-lg"}
    assert len(named) > 8
    for name in named:
        (sign,) = re.findall(rf"\.{name}:before(?:,[^{{}}]*)?\{{content:\"\\\\?([^\"]+)\"", css)
        assert (ord(sign) if len(sign) == 1 else int(sign, 16)) in there, name
    assert len(there) < 100


CSS = '.fa-a:before{content:"\\f001"}.fa-b:before,.fa-c:before{content:"\\f002"}.x{content:"\\f003"}'


def test_only_icons_that_are_named_stay() -> None:
    assert weight.points(CSS) == {0xF001, 0xF002, 0xF003}
    assert weight.points(weight.icons(CSS, ["fa-c"])) == {0xF002, 0xF003}
    assert weight.icons(CSS, ["fa-a", "fa-b"]) == CSS


HEAD = """<head>
    <link rel="preload" as="script" href="s/a.js">
    <link rel="stylesheet" href="s/togglebutton.css" />
    <script>let toggleHintShow = 'Click';</script>
    <script src="s/togglebutton.js?v=1"></script>
    <script src="s/a.js?v=1"></script>
    <script defer src="s/a.js?v=1"></script>
    <script src="https://elsewhere.test/x.js"></script>
</head>
"""


def test_a_page_keeps_what_it_has_a_use_for() -> None:
    plain = weight.unused(f"{HEAD}<p>No fold.</p>")
    assert "toggle" not in plain
    assert plain.count("s/a.js") == 1
    folded = weight.unused(f'{HEAD}<div class="admonition note dropdown">A fold.</div>')
    assert folded.count("toggle") == 3


def test_files_are_named_by_their_hash_and_wait(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/a.js").write_text("1")
    (tmp_path / "s/togglebutton.css").write_text("a {}")
    page = weight.by_hash(HEAD, tmp_path)
    assert page.count(f'src="s/a.js?v=6b86b273" integrity="{weight.integrity(b"1")}"') == 2
    assert re.findall(r"<script (?!defer)[^>]*s/a\.js", page) == []
    assert f'href="s/togglebutton.css?v={weight.hashlib.sha256(b"a {}").hexdigest()[:8]}" integrity=' in page
    assert '<script src="https://elsewhere.test/x.js"></script>' in page
    assert '<script src="s/togglebutton.js?v=1"></script>' in page, "a file that is not there is left as it is"
    assert weight.by_hash(page, tmp_path) == page
