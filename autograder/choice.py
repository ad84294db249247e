"""Which file of a submission's folder is graded, and what is said of those beside it.

A student made the names, and they are all that is looked at here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from autograder.times import LENGTH, TIMESTAMP, time_of
from autograder.untrusted_files import Refused, read_bytes, shown, trouble

ARCHIVES: Final = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
"""How the names of files end that hold files."""
_WORK: Final = (".ipynb", ".py")
_DISGUISED: Final = re.compile(r"\.(ipynb|py)\.(txt|json)$", re.IGNORECASE)
"""A name that a browser or a mail program has made longer."""
_NAMED: Final = 5
"""How many names a sentence lists before it only counts."""
_BESIDE: Final = 3
"""The same, of files that were left aside."""
_QUOTED: Final = 40
"""Characters of a time that cannot be read that are shown."""
_UNTIMED: Final = "no time of submission was taken from it"
_OF_FOLDER: Final = re.compile(
    rf".* was (graded|taken); .* beside it (was|were) not read|there is no .* was (graded|taken) in its place"
    rf"|{re.escape(TIMESTAMP)} .*; {_UNTIMED}",
    re.DOTALL,
)


def choose(names: Sequence[str], slug: str, is_folder: Callable[[str], bool]) -> tuple[str, tuple[str, ...]]:
    """Return the file to grade, of those in a submission's folder, and notes where it is not the only or obvious one.

    Args:
        names: all that is in the folder.
        slug: the exercise's.
        is_folder: whether that name is a folder's.

    Raises:
        Refused: there is none, or no one that stands out.
    """
    notebook, script = f"{slug}.ipynb", f"{slug}.py"
    notes = []
    if notebook in names or script in names:
        file = notebook if notebook in names else script
    else:
        found = sorted(name for name in names if visible(name) and name != TIMESTAMP)
        others = [name for name in found if name.lower().endswith(".ipynb")]
        if len(others) != 1:
            raise Refused(_missing(slug, others or found, is_folder))
        file = others[0]
        notes.append(f"there is no {notebook}; {shown(file)} was taken in its place")
    if beside := sorted(name for name in names if name != file and visible(name) and _is_version(name, slug)):
        were = "was" if len(beside) == 1 else "were"
        left = listed(map(shown, beside), _BESIDE)
        notes.append(f"{shown(file)} was taken; {left} beside it {were} not read")
    return file, tuple(notes)


def time_notes(names: Sequence[str], folder: int) -> tuple[str, ...]:
    """Return what is to be said of the ``timestamp.txt`` of an open folder: nothing, where there is none or it is good.

    Args:
        names: all that is in the folder.
        folder: its descriptor.
    """
    if TIMESTAMP not in names:
        return ()
    try:
        data = read_bytes(TIMESTAMP, folder)
    except (OSError, Refused) as error:
        return (f"{TIMESTAMP} beside it was not read ({trouble(error).partition(';')[0]}); {_UNTIMED}",)
    if time_of(data) is not None:
        return ()
    text = data[:LENGTH].decode(errors="backslashreplace").strip()
    said = "is empty" if not text else f"says “{shown(_cut(text))}”, which is no time that can be read"
    return (f"{TIMESTAMP} beside it {said}; {_UNTIMED}",)


def of_folder(note: str) -> bool:
    """Return whether a note was made here: it is about what lies in the folder, not about the file that was graded."""
    return _OF_FOLDER.fullmatch(note) is not None


def visible(name: str) -> bool:
    """Return whether a name is looked at: not .git, .ipynb_checkpoints, .DS_Store, ._copies of macOS."""
    return not name.startswith(".")


def plain(name: str) -> str:
    """Return a name's letters alone, without case: what is left of it where two people mean the same."""
    return re.sub(r"[\W\d_]+", "", name).casefold()


def listed(names: Iterable[str], most: int = _NAMED) -> str:
    """Return names as part of a sentence; those after the first ``most`` are only counted."""
    known = list(names)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


def _is_version(name: str, slug: str) -> bool:
    """Return whether a file may be another version of the answer: any notebook, and a script of nearly that name."""
    stem, suffix = os.path.splitext(name)
    return suffix.lower() == ".ipynb" or (suffix.lower() == ".py" and plain(stem).startswith(plain(slug)))


def _missing(slug: str, found: Sequence[str], is_folder: Callable[[str], bool]) -> str:
    """Return what is said of a folder without a file to grade: what there is, and what to do with it."""
    notebook = f"{slug}.ipynb"
    if not found:
        return f"the folder is empty; put {notebook} into it"
    return f"there is no {notebook}, only {listed(map(shown, found))}; {_mend(slug, found, is_folder)}"


def _mend(slug: str, found: Sequence[str], is_folder: Callable[[str], bool]) -> str:
    notebook = f"{slug}.ipynb"
    one = "it" if len(found) == 1 else "the one to grade"
    folders = [name for name in found if is_folder(name)]
    files = [name for name in found if name not in folders]
    for suffix in _WORK:
        if any(name.lower().endswith(suffix) for name in files):
            return f"rename {one} to {slug}{suffix}"
    if any(map(_DISGUISED.search, files)):
        return f"rename {one} to {notebook}, without the ending that a browser added"
    if packed := [name for name in files if is_archive(name)]:
        what = "it" if len(found) == 1 else shown(packed[0])
        return f"unpack {what} and put {notebook} into the folder"
    if folders:
        what = "it" if len(found) == 1 else shown(folders[0])
        return f"if {notebook} is inside {what}, move it up into this folder"
    return f"only a notebook or a Python file can be graded: put {notebook} into the folder"


def is_archive(name: str) -> bool:
    """Return whether a file of that name holds files."""
    return name.lower().endswith(ARCHIVES)


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"
