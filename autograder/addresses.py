"""The public addresses: read from the book's ``_config.yml``, the one place that says them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from autograder.catalog import CatalogError

_RESERVED = ("example.org", "example.com", "example.net", "example")
"""Hosts that stand for one that is still to be chosen (RFC 2606): nothing is there to link to."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the course is public; "" where it is not said."""

    repository: str = ""
    """Address of the repository, without a slash at its end."""
    book: str = ""
    """Address of the book's start page, with a slash at its end."""

    @property
    def linkable_book(self) -> str:
        """The book's address, "" where it is missing or on a host that is reserved for examples."""
        host = urlsplit(self.book).hostname or ""
        reserved = any(host == name or host.endswith(f".{name}") for name in _RESERVED)
        return "" if reserved or not host else self.book


def read_addresses(root: Path) -> Addresses:
    """Return the addresses that ``_config.yml`` under ``root`` gives.

    Raises:
        CatalogError: the file is there and not YAML.
    """
    path = root / "_config.yml"
    if not path.is_file():
        return Addresses()
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise CatalogError(path, line, "it is not YAML", "Mend that line") from None
    repository, book = _text(config, "repository", "url"), _text(config, "html", "baseurl")
    return Addresses(repository.rstrip("/"), book and book.rstrip("/") + "/")


def _text(config: Any, part: str, key: str) -> str:
    section = config.get(part) if isinstance(config, dict) else None
    value = section.get(key) if isinstance(section, dict) else None
    return value if isinstance(value, str) else ""
