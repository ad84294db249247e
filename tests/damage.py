"""Broken notebooks from a seed: every way in which a file between a student and a grader goes wrong, many times.

``damage(seed)`` names a kind and puts a file, or what is none, where a notebook belongs. The kinds take turns, so any
run of ``len(KINDS)`` seeds holds each of them; the same seed always does the same.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import pickle
import random
import socket
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Random = random.Random
Notebook = dict[str, Any]

ODD: Final = (
    None, True, -1, 0, 1e308, float("nan"), 10**400, "", "\0", "\ud800", "x" * 5000, [], {}, [[]], {"": {}},
    [None] * 50, "code", "../../../etc/passwd", {"source": "x"}, ["def f(:\n", 7],
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Damage:
    """One broken thing."""

    kind: str
    harmless: bool
    """Whether the answer is whole all the same, and so must earn full marks."""
    put: Callable[[Path], None]
    """Put it at a path, in an existing folder; the path's name is the notebook's."""


# ------------------------------------------------------------------ bytes to other bytes


def _truncated(r: Random, data: bytes, size: int) -> bytes:
    return data[: r.randrange(len(data))]


def _flipped(r: Random, data: bytes, size: int) -> bytes:
    changed = bytearray(data)
    for _ in range(r.choice((1, 2, 10, 200))):
        changed[r.randrange(len(changed))] ^= 1 << r.randrange(8)
    return bytes(changed)


def _zeroed(r: Random, data: bytes, size: int) -> bytes:
    start = r.randrange(len(data))
    length = min(r.choice((1, 16, 512, 4096)), len(data) - start)
    return data[:start] + bytes(length) + data[start + length :]


def _noise(r: Random, data: bytes, size: int) -> bytes:
    start = r.randrange(len(data))
    return data[:start] + r.randbytes(r.choice((1, 5, 300))) + data[start:]


def _cut_out(r: Random, data: bytes, size: int) -> bytes:
    start = r.randrange(len(data))
    return data[:start] + data[start + r.choice((1, 7, 500)) :]


def _said_twice(r: Random, data: bytes, size: int) -> bytes:
    start = r.randrange(len(data))
    end = start + r.choice((1, 40, 3000))
    return data[:end] + data[start:]


def _lines_mixed(r: Random, data: bytes, size: int) -> bytes:
    lines = data.split(b"\n")
    r.shuffle(lines)
    return b"\n".join(lines)


def _merge_conflict(r: Random, data: bytes, size: int) -> bytes:
    lines = data.split(b"\n")
    place = r.randrange(len(lines))
    lines[place:place] = [b"<<<<<<< HEAD", lines[place], b"=======", b">>>>>>> theirs"]
    return b"\n".join(lines)


def _encoded(r: Random, data: bytes, size: int) -> bytes:
    text = data.decode() + "é"
    return text.encode(r.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7")), "replace")


def _with_bom(r: Random, data: bytes, size: int) -> bytes:
    return b"\xef\xbb\xbf" + data


def _with_crlf(r: Random, data: bytes, size: int) -> bytes:
    return data.replace(b"\n", b"\r\n")


def _not_unicode(r: Random, data: bytes, size: int) -> bytes:
    bad = r.choice((b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x28", b"\x80"))
    start = r.randrange(len(data))
    return data[:start] + bad + data[start:]


def _packed(r: Random, data: bytes, size: int) -> bytes:
    made = io.BytesIO()
    kind = r.randrange(6)
    if kind == 0:
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr(zipfile.ZipInfo("../../grad_scaler_step.ipynb"), data)
    elif kind == 1:
        return gzip.compress(data, mtime=0)
    elif kind == 2:
        return pickle.dumps({"cells": []})
    elif kind == 3:
        with tarfile.open(fileobj=made, mode="w") as tar:
            tar.addfile(tarfile.TarInfo("/etc/passwd"))
    elif kind == 4:
        return b"\x89PNG\r\n\x1a\n" + r.randbytes(300)
    else:
        return b"<!DOCTYPE html><title>Log in</title>" + r.randbytes(9).hex().encode()
    return made.getvalue()


def _no_notebook(r: Random, data: bytes, size: int) -> bytes:
    texts = (b"", b" \n\t", b"null", b"[]", b"0", b'"x"', b"{}", b"\0" * 4096, b"def f(): pass",
             b'{"cells": {}}', b"{" * 99,
             b'{"cells": []}', b'{"cells": [[]]}', b'{"nbformat": 3, "worksheets": []}', data + data, b"NaN",
             b"\xff")  # fmt: skip
    return r.choice(texts)


def _nested(r: Random, data: bytes, size: int) -> bytes:
    deep = r.choice((b"[" * size + b"]" * size, b'{"a":' * size + b"1" + b"}" * size, b"[" * size))
    return r.choice((deep, b'{"metadata": ' + deep + b", " + data[data.index(b'"cells"') :]))


def _huge_numbers(r: Random, data: bytes, size: int) -> bytes:
    number = r.choice(
        (b"9" * size, b"-" + b"1" * size, b"1." + b"7" * size, b"1e" + b"9" * size, b"0." + b"0" * size + b"1")
    )
    place = data.rindex(b'"nbformat"')
    return data[:place] + b'"more": ' + number + b", " + data[place:]


# ---------------------------------------------------------------- notebooks to other JSON


def _cells_deleted(r: Random, notebook: Notebook, size: int) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if r.random() < 0.5]


def _cells_repeated(r: Random, notebook: Notebook, size: int) -> None:
    notebook["cells"] += r.choices(notebook["cells"], k=r.choice((1, 5, 200)))


def _cells_reordered(r: Random, notebook: Notebook, size: int) -> None:
    r.shuffle(notebook["cells"])


def _cells_that_are_none(r: Random, notebook: Notebook, size: int) -> None:
    for _ in range(r.choice((1, 10))):
        notebook["cells"].insert(r.randrange(len(notebook["cells"]) + 1), copy.deepcopy(r.choice(ODD)))


def _types_swapped(r: Random, notebook: Notebook, size: int) -> None:
    for _ in range(r.choice((1, 3, 20))):
        places = list(_places(notebook))
        holder, key = r.choice(places)
        holder[key] = copy.deepcopy(r.choice(ODD))


def _keys_lost(r: Random, notebook: Notebook, size: int) -> None:
    for _ in range(r.choice((1, 3, 20))):
        places = [(holder, key) for holder, key in _places(notebook) if isinstance(holder, dict)]
        if places:
            holder, key = r.choice(places)
            del holder[key]


def _keys_renamed(r: Random, notebook: Notebook, size: int) -> None:
    places = [(holder, key) for holder, key in _places(notebook) if isinstance(holder, dict)]
    for holder, key in r.sample(places, 3):
        if key in holder:
            holder[r.choice((key.upper(), "", key + "\0", "__proto__", "cells"))] = holder.pop(key)


def _places(value: Any) -> Any:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(entries):
        yield value, key
        yield from _places(item)


def _odd_characters(r: Random, notebook: Notebook, size: int) -> None:
    for cell in notebook["cells"]:
        lines = cell["source"]
        place = r.randrange(len(lines) + 1)
        lines.insert(
            place, r.choice(("\0", "\ud83d", "\udc00\ud800", "\u2028", "\x1b[2J", "\ufeff", "\r", "\x0c", "\u202e"))
        )


def _much_metadata(r: Random, notebook: Notebook, size: int) -> None:
    r.choice([notebook, *notebook["cells"]])["metadata"]["more"] = "y" * (100 * size)


def _many_outputs(r: Random, notebook: Notebook, size: int) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                r.choice(({"output_type": "stream", "text": "x" * size}, copy.deepcopy(r.choice(ODD))))
                for _ in range(9)
            ]


def _many_cells(r: Random, notebook: Notebook, size: int) -> None:
    cell = r.choice(({"cell_type": "code", "source": "x = 1"}, {"cell_type": "markdown", "source": "x"}, {}, 7))
    notebook["cells"] += [cell] * size


def _long_source(r: Random, notebook: Notebook, size: int) -> None:
    source = r.choice(
        ("x = 1\n" * size, "(" * size, "'" + "\\" * size, "f'{" * size, "-" * size + "1", "a." * size + "b")
    )
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": source})


# --------------------------------------------------------------- what is no ordinary file


def _link_to_file(r: Random, path: Path, data: bytes) -> None:
    other = path.parent / "other.ipynb"
    other.write_bytes(data)
    path.symlink_to(r.choice((other.name, str(other))))


def _link_to_the_machine(r: Random, path: Path, data: bytes) -> None:
    path.symlink_to(
        r.choice(("/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/environ", "/", "nowhere", "/dev/tty"))
    )


def _link_in_a_circle(r: Random, path: Path, data: bytes) -> None:
    (path.parent / "a").symlink_to(path.name)
    path.symlink_to(r.choice(("a", path.name)))


def _hard_link(r: Random, path: Path, data: bytes) -> None:
    (path.parent / "one").write_bytes(data)
    os.link(path.parent / "one", path)


def _pipe(r: Random, path: Path, data: bytes) -> None:
    os.mkfifo(path)


def _socket(r: Random, path: Path, data: bytes) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as sock:  # a socket's path must be short
        sock.bind(path.name)


def _device(r: Random, path: Path, data: bytes) -> None:
    try:
        os.mknod(path, 0o020666, os.makedev(1, r.choice((3, 5, 8))))
    except PermissionError:  # only root makes devices
        path.symlink_to("/dev/zero")


def _folder(r: Random, path: Path, data: bytes) -> None:
    path.mkdir()
    if r.random() < 0.5:
        (path / path.name).write_bytes(data)


def _no_permission(r: Random, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0)


def _a_terabyte(r: Random, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for size in (2**40, 2**32):  # as much as the file system takes
        try:
            os.truncate(path, size)
            return
        except OSError:
            continue


def _folder_that_is_a_file(r: Random, path: Path, data: bytes) -> None:
    path.parent.rmdir()
    path.parent.write_bytes(data)


def _folder_that_is_a_link(r: Random, path: Path, data: bytes) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(r.choice(("/etc", ".", "..", path.parent.name, "nowhere")))


def _other_name(r: Random, path: Path, data: bytes) -> None:
    names = (
        "grad_scaler_step.IPYNB",
        "grad_scaler_step (1).ipynb",
        "Untitled.ipynb",
        "a\nb.ipynb",
        "\x1b[2J.ipynb",
        "x.zip",
        ".ipynb",
    )
    path.with_name(r.choice(names)).write_bytes(data)


BYTES: Final = (
    _truncated, _flipped, _zeroed, _noise, _cut_out, _said_twice, _lines_mixed, _merge_conflict, _encoded, _with_bom,
    _with_crlf, _not_unicode, _packed, _no_notebook, _nested, _huge_numbers,
)  # fmt: skip
JSON: Final = (
    _cells_deleted, _cells_repeated, _cells_reordered, _cells_that_are_none, _types_swapped, _keys_lost, _keys_renamed,
    _odd_characters, _much_metadata, _many_outputs, _many_cells, _long_source,
)  # fmt: skip
FILES: Final = (
    _link_to_file, _link_to_the_machine, _link_in_a_circle, _hard_link, _pipe, _socket, _device, _folder,
    _no_permission,
    _a_terabyte, _folder_that_is_a_file, _folder_that_is_a_link, _other_name,
)  # fmt: skip
KINDS: Final = (*BYTES, *JSON, *FILES)
HARMLESS: Final = (_with_bom, _with_crlf, _much_metadata, _many_outputs, _hard_link, _cells_that_are_none)
LARGE: Final = 100_000
"""How many cells, or levels, or digits, the first of each kind has, and every twentieth after it."""


def damage(seed: int, notebook: str) -> Damage:
    """Return the damage of a seed to a notebook's text."""
    turn, index = divmod(seed, len(KINDS))
    kind, r = KINDS[index], random.Random(seed)
    size = LARGE if turn % 20 == 0 else r.choice((10, 500, 3000))
    data = notebook.encode()

    def put(path: Path) -> None:
        if kind in BYTES:
            path.write_bytes(kind(r, data, size))  # type: ignore[operator]
        elif kind in JSON:
            changed = json.loads(notebook)
            kind(r, changed, size)  # type: ignore[operator]
            path.write_text(json.dumps(changed), encoding="utf-8")
        else:
            kind(r, path, data)  # type: ignore[operator]

    return Damage(kind.__name__.strip("_").replace("_", " "), kind in HARMLESS, put)
