"""The public addresses are read from one file, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.addresses import Addresses, read_addresses
from autograder.catalog import CatalogError

FORGE = "https://forge.test/course"


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (f"repository: {{url: {FORGE}/}}\nhtml: {{baseurl: https://pages.test/book}}\n",
         Addresses(FORGE, "https://pages.test/book/")),
        ("html: {baseurl: https://pages.test/}\n", Addresses("", "https://pages.test/")),
        ("title: A course\n", Addresses()),
        ("repository: 3\nhtml: []\n", Addresses()),
        ("repository: {url: [1]}\nhtml: {baseurl: 2}\n", Addresses()),
        ("- 1\n", Addresses()),
        ("", Addresses()),
    ],
)  # fmt: skip
def test_the_addresses_are_read_from_the_books_configuration(tmp_path: Path, config: str, found: Addresses) -> None:
    assert read_addresses(tmp_path) == Addresses()
    (tmp_path / "_config.yml").write_text(config)
    assert read_addresses(tmp_path) == found


def test_a_configuration_that_is_not_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("title: A\nrepository: {\n")
    with pytest.raises(CatalogError, match=r"_config\.yml:3: it is not YAML"):
        read_addresses(tmp_path)


@pytest.mark.parametrize(
    ("book", "linked"),
    [
        ("https://pages.test/book/", True),
        ("https://myexample.org/", True),
        ("https://example.org/course/", False),
        ("https://docs.example.com/", False),
        ("not an address/", False),
        ("", False),
    ],
)
def test_no_link_leads_to_a_host_that_stands_for_another(book: str, linked: bool) -> None:
    assert Addresses(book=book).linkable_book == (book if linked else "")
