"""The place that a terminal names exists: published, built, or the words that stand in the book."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import catalog
from autograder.report.places import place_in, section_name

SEE = "book/04_one_scaler_step.html#judge"
CHAPTER = (
    "---\nkernelspec: x\n---\n# One scaler step\n\nText.\n\n(judge)=\n## Is every number finite?\n\n(next)=\n## More\n"
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    (tmp_path / "book/04_one_scaler_step.md").write_text(CHAPTER, encoding="utf-8")
    (tmp_path / "_config.yml").write_text("html: {baseurl: https://example.org/course/}\n")
    return tmp_path


def test_without_an_address_and_a_built_page_chapter_and_heading_are_named(course: Path) -> None:
    place = place_in(course)
    assert place(SEE) == "One scaler step, “Is every number finite?”"
    assert place("book/04_one_scaler_step.html") == "One scaler step"


def test_the_built_page_is_named_by_its_path_where_it_is(course: Path) -> None:
    page = course / "build/book/_build/html/04_one_scaler_step.html"
    page.parent.mkdir(parents=True)
    page.write_text("")
    place = place_in(course)
    assert place(SEE) == "build/book/_build/html/04_one_scaler_step.html#judge"
    assert (course / place(SEE).partition("#")[0]).is_file()
    assert place("book/05_dynamic_scaling.html#one-pass") == "Dynamic scaling, “one pass”"


def test_a_published_book_comes_before_the_built_one(course: Path) -> None:
    page = course / "build/book/_build/html/04_one_scaler_step.html"
    page.parent.mkdir(parents=True)
    page.write_text("")
    (course / "_config.yml").write_text("html: {baseurl: https://pages.test/book}\n")
    assert place_in(course)(SEE) == "https://pages.test/book/04_one_scaler_step.html#judge"


def test_what_cannot_be_read_is_named_in_words(course: Path) -> None:
    assert place_in(course / "nowhere")(SEE) == section_name(SEE) == "One scaler step, “judge”"
    (course / "_config.yml").write_text("html: {\n")
    (course / "book/04_one_scaler_step.md").write_bytes(b"\xff")
    assert place_in(course)(SEE) == "One scaler step, “judge”"
    (course / "book/04_one_scaler_step.md").write_text("# One scaler step\n")
    assert place_in(course)(SEE) == "One scaler step, “judge”"


def test_every_section_with_a_heading_is_named_by_it(tmp_path: Path) -> None:
    (tmp_path / "book").symlink_to(Path(__file__).parent.parent / "book")
    place = place_in(tmp_path)
    checked = 0
    for exercise in catalog.load_all().values():
        for see in [*(c.see for c in exercise.checks), *(m.see for m in exercise.misconceptions.values())]:
            page, _, anchor = see.partition("#")
            source = (tmp_path / page.replace(".html", ".md")).read_text(encoding="utf-8")
            assert "book/" not in place(see)
            if f"\n({anchor})=\n#" in source:
                assert place(see).partition(", ")[2] != section_name(see).partition(", ")[2], see
                checked += 1
    assert checked > 100
