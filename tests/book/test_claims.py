"""Does every sentence that a chapter stakes its word on have a test, and stand in a section that exists?"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
FILES = sorted((BOOK / "claims").glob("*.yml"))
CLAIMS = [(path.stem, claim) for path in FILES for claim in yaml.safe_load(path.read_text(encoding="utf-8")) or []]
_TARGET = re.compile(r"^\(([\w-]+)\)=\s*$|^```\{anchor\} ([\w-]+)\s*$|^:::\{anchor\} ([\w-]+)\s*$", re.MULTILINE)


def chapters() -> list[str]:
    """Return the names of the chapters in the book's order: the pages with a number."""
    toc = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))
    pages = [toc["root"], *(page["file"] for part in toc["parts"] for page in part["chapters"])]
    return [page for page in pages if re.match(r"\d\d_", page)]


def test_every_chapter_makes_claims_and_every_list_has_its_chapter() -> None:
    made = {number for number, _ in CLAIMS}
    assert made == {path.stem for path in FILES} == {chapter[:2] for chapter in chapters()}


def test_every_claim_has_an_id_of_its_own() -> None:
    ids = [claim["id"] for _, claim in CLAIMS]
    assert len(ids) == len(set(ids)), sorted({name for name in ids if ids.count(name) > 1})


@pytest.mark.parametrize(("number", "claim"), CLAIMS, ids=[f"{number}-{claim.get('id')}" for number, claim in CLAIMS])
def test_a_claim_is_complete(number: str, claim: dict[str, Any]) -> None:
    assert set(claim) == {"id", "claim", "section", "test"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", claim["id"])
    assert len(claim["claim"].split()) >= 4
    page, _, anchor = claim["section"].partition("#")
    assert page.removesuffix(".html") in chapters()
    assert page.startswith(number)
    assert anchor in anchors(page.removesuffix(".html")), f"{page} has no section `({anchor})=`"
    path, _, function = claim["test"].partition("::")
    assert checks_something(ROOT / path, function), f"{claim['test']} is not a test that asserts something"


def anchors(page: str) -> set[str]:
    """Return the ids that a page's source sets."""
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    return {name for names in _TARGET.findall(text) for name in names if name}


def checks_something(path: Path, function: str) -> bool:
    """Return whether a file defines that test function, and it asserts or expects an exception."""
    if not path.is_file() or not function.startswith("test_"):
        return False
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            names = {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
            asserts = any(isinstance(inner, ast.Assert) for inner in ast.walk(node))
            return asserts or bool(names & {"raises", "warns", "assert_close"})
    return False
