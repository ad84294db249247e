"""Are the page's scripts bundled as promised: named by what they hold, known by their hashes, licensed?"""

from __future__ import annotations

import base64
import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from course_book import esbuild, widget
from course_book.graded import file_url, how
from sphinx.errors import ExtensionError

from autograder import catalog

ROOT = Path(__file__).resolve().parents[2]
ONE = {"double": {"page": "01.html", "title": "Double", "version": "1", "max": 3.0}}
OTHER = {"double": {**ONE["double"], "version": "2"}}


@pytest.fixture(scope="module")
def modules(site: Path) -> Path:
    """Return the folder of what comes from npm; building the site has filled it."""
    return ROOT / esbuild.MODULES


def bundled(modules: Path, static: Path, exercises: dict[str, Any]) -> dict[str, esbuild.Script]:
    return widget.bundle(modules, static, exercises)


def test_a_script_is_named_by_what_it_holds(modules: Path, tmp_path: Path) -> None:
    one, again, other = (
        bundled(modules, tmp_path / name, exercises) for name, exercises in (("a", ONE), ("b", ONE), ("c", OTHER))
    )
    assert one == again
    assert one["editor"] == other["editor"]
    assert one["solve"].path != other["solve"].path
    assert one["page"].path != other["page"].path


def test_only_the_scripts_and_their_licenses_are_left(modules: Path, tmp_path: Path) -> None:
    bundled(modules, tmp_path, OTHER)
    scripts = bundled(modules, tmp_path, ONE)
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert there == {*(script.path for script in scripts.values()), "widget/LICENSES.txt"}


def test_the_hash_is_that_of_the_file(modules: Path, tmp_path: Path) -> None:
    for script in bundled(modules, tmp_path, ONE).values():
        digest = hashlib.sha384((tmp_path / script.path).read_bytes()).digest()
        assert script.integrity == f"sha384-{base64.b64encode(digest).decode()}"


def test_the_card_names_the_editor_and_does_not_hold_it(modules: Path, tmp_path: Path) -> None:
    scripts = bundled(modules, tmp_path, ONE)
    card = (tmp_path / scripts["solve"].path).read_text(encoding="utf-8")
    assert scripts["editor"].path.rpartition("/")[2] in card
    assert len(card) < 60_000 < (tmp_path / scripts["editor"].path).stat().st_size


def test_the_license_of_each_package_in_the_editor_is_there(modules: Path, tmp_path: Path) -> None:
    bundled(modules, tmp_path, ONE)
    text = (tmp_path / "widget/LICENSES.txt").read_text(encoding="utf-8")
    for name in ("@codemirror/view", "@codemirror/state", "@lezer/python", "style-mod", "w3c-keyname"):
        assert f"{name}\n\n" in text
    assert text.count("Permission is hereby granted") >= 5


def test_without_esbuild_it_is_said_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="@esbuild"):
        bundled(tmp_path / "node_modules", tmp_path, ONE)


def test_a_script_that_cannot_be_bundled_is_an_error_in_esbuild_s_words(
    modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "widget"
    shutil.copytree(widget.SOURCES, sources)
    (sources / "store.js").write_text("export const = 1;\n")
    monkeypatch.setattr(widget, "SOURCES", sources)
    with pytest.raises(ExtensionError, match=r"(?s)book/widget/solve\.js could not be bundled.*store\.js:1:13"):
        bundled(modules, tmp_path / "static", ONE)


def test_what_needs_torch_says_so_without_a_script() -> None:
    exercise = catalog.load("decode_float16", ROOT)
    assert "torch" not in how(exercise, False)
    assert how(replace(exercise, runs_on=("torch",)), True).startswith("This one needs torch, and no browser has it. ")


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b/blob/main/solutions/x.py"),
        ("https://gitlab.com/a/b/", "https://gitlab.com/a/b/-/blob/main/solutions/x.py"),
        ("https://example.org/a/b", ""),
        ("", ""),
    ],
)
def test_a_file_of_the_repository_has_an_address_where_it_is_hosted(repository: str, address: str) -> None:
    assert file_url(repository, "main", "solutions/x.py") == address
