"""Scripts of our own to files that a browser may keep for ever: bundled by esbuild, named by what they hold."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sphinx.errors import ExtensionError

MODULES: Final = "build/assets/node_modules"
"""Where scripts/book.sh installs what comes from npm, in the course's folder."""
_OPTIONS: Final = ("--bundle", "--format=esm", "--minify", "--target=es2022", "--charset=utf8", "--log-level=warning")


@dataclass(frozen=True, slots=True)
class Script:
    """A bundled file."""

    path: str
    """Its place in ``_static``."""
    integrity: str
    """What a browser compares its bytes with."""


def script(path: Path, folder: str) -> Script:
    """Return a bundled file that lies in that folder of ``_static``."""
    return Script(f"{folder}/{path.name}", integrity(path.read_bytes()))


def program(modules: Path) -> Path:
    """Return esbuild's program; FileNotFoundError where it is not installed.

    Args:
        modules: the folder ``node_modules``.
    """
    for name in ("esbuild", "esbuild.exe"):
        for path in modules.glob(f"@esbuild/*/bin/{name}"):
            return path
    raise FileNotFoundError(modules / "@esbuild")


def bundled(source: Path, modules: Path, folder: Path, *options: str) -> tuple[Path, set[str]]:
    """Bundle one script; return its file, and the packages of which there is something in it.

    Args:
        source: the script.
        modules: the folder ``node_modules``.
        folder: where the file goes; there it is ``<name>-<hash>.js``.
        options: more for esbuild.

    Raises:
        FileNotFoundError: esbuild is not installed.
        ExtensionError: it cannot be bundled; esbuild's words say why.
    """
    facts = folder / f"{source.stem}.meta.json"
    output = (f"--outdir={folder}", f"--metafile={facts}")
    done = subprocess.run(
        [str(program(modules)), str(source), *_OPTIONS, *output, *options],
        capture_output=True,
        text=True,
        env={**os.environ, "NODE_PATH": str(modules)},
        cwd=source.parent,
    )
    if done.returncode or done.stderr.strip():
        name = f"book/{source.parent.name}/{source.name}"
        raise ExtensionError(f"{name} could not be bundled:\n{done.stderr.strip()}")
    (output_facts,) = json.loads(facts.read_text(encoding="utf-8"))["outputs"].values()
    facts.unlink()
    packages = {path.partition("node_modules/")[2] for path in output_facts["inputs"] if "node_modules/" in path}
    names = {"/".join(path.split("/")[: 2 if path.startswith("@") else 1]) for path in packages}
    written = folder / source.name
    # Not esbuild's own hash: it depends on where the sources lie.
    path = written.rename(folder / f"{source.stem}-{hashlib.sha256(written.read_bytes()).hexdigest()[:8]}.js")
    return path, names


def integrity(data: bytes) -> str:
    """Return what a browser compares a file's bytes with."""
    return f"sha384-{base64.b64encode(hashlib.sha384(data).digest()).decode()}"
