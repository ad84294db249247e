"""Read a class: a tree ``<student>/<exercise>/<exercise>.ipynb`` (or ``.py``) -> Handed -> Submissions.

A student made everything below the tree, so nothing in it is trusted and nothing in it is fatal: no symbolic link is
followed, nothing but a regular file is opened, and what cannot be graded becomes a Submission that says why. Finding a
file and hashing its bytes is one step (``handed_in``), and parsing them another (``read_handed``), which may happen in
another process, or not at all where the work is unchanged.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import io
import os
import re
import stat
import tokenize
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autograder.choice import choose, is_archive, listed, plain, time_notes, visible
from autograder.errors import CourseError
from autograder.models import Cell, Submission
from autograder.notebooks import Unreadable, read_notebook
from autograder.untrusted_files import Refused, open_folder, read_bytes, shown, trouble

_SHAPE: Final = "<student>/<exercise>/<exercise>.ipynb"
_NEW_COPY: Final = "hand in a new copy, saved in Jupyter"
_ID_LENGTH: Final = 128
"""The gradebook's column for a student takes no more; a folder's name may be longer once its characters are escaped."""
_WORK: Final = (".ipynb", ".py")
_ASCII: Final = "".join(map(chr, range(32, 127))).replace("\\", "") + "\\n.xn--maana-pta"
"""Codecs that read this otherwise, as punycode does, can neither hold source code nor be trusted to be fast."""
_CODE: Final = 2**20
"""Characters of a Python file; a notebook's code has the same limit."""


class CollectError(CourseError, ValueError):
    """What was given is no tree of submissions; one sentence says what it is and what to give."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a student handed in to one exercise: bytes, of which nothing was parsed."""

    student: str
    exercise: str
    path: Path
    data: bytes = b""
    digest: str = ""
    """sha256 of the bytes; "" where none were read."""
    notes: tuple[str, ...] = ()
    """What is said of the choice of the file."""
    trouble: str = ""
    """Why there are no bytes, naming the file; empty where there are."""


def handed_in(tree: Path, slugs: Sequence[str]) -> Iterator[Handed]:
    """Yield all that was handed in, by student, then exercise; each is read when it is asked for, and not parsed.

    Args:
        tree: a folder of the shape ``<student>/<exercise>/<exercise>.ipynb``.
        slugs: the exercises to look for; other folders, and names that begin with a dot, are left alone.

    Returns:
        An iterator. ``student`` is the folder's name; where that does not print, or is longer than a gradebook takes,
        an escaped and shortened form, different for each folder.

    Raises:
        CollectError: at once, where the tree is none.
    """
    students = _students(tree)
    return _stream(tree, students, sorted(set(slugs)))


def read_handed(handed: Handed) -> Submission:
    """Parse what was handed in; ``unreadable`` where it cannot be graded: its path below the tree, what is wrong, and
    what to do.
    """
    path, student, slug = handed.path, handed.student, handed.exercise
    if handed.trouble:
        return Submission(
            student, slug, path, content_hash=handed.digest, unreadable=handed.trouble, notes=handed.notes
        )
    where = "/".join(map(shown, path.parts[-3:]))
    return _submission(handed.data, path, student, slug, where, handed.notes, handed.digest)


def collect(tree: Path, slugs: Sequence[str]) -> Iterator[Submission]:
    """Yield every submission in a tree, parsed: ``read_handed`` of all that is ``handed_in``.

    Raises:
        CollectError: at once, where the tree is none.
    """
    return map(read_handed, handed_in(tree, slugs))


def read_file(path: Path, student: str, slug: str) -> Submission:
    """Return one file, ``.ipynb`` or ``.py``, as a submission; ``unreadable`` where it cannot be graded.

    The path is the caller's own, so a symbolic link is followed.
    """
    try:
        data = read_bytes(path, follow=True)
    except FileNotFoundError:
        return _unread(path, student, slug, "there is no such file; check its name", shown(str(path)))
    except (OSError, Refused) as error:
        return _unread(path, student, slug, trouble(error), shown(str(path)))
    return _submission(data, path, student, slug, shown(str(path)), (), hashlib.sha256(data).hexdigest())


def unknown_folders(tree: Path, slugs: Sequence[str]) -> list[str]:
    """Return one sentence on each thing in a tree that is passed over although somebody may have meant it.

    These are misnamed and misplaced exercises, links, files among the students' folders, and (one sentence each)
    folders with a known exercise whose names begin with a dot, and students without any known exercise. Folders of
    other assignments are normal and not mentioned.

    Raises:
        CollectError: the tree is none, or is that of one student.
    """
    return survey(tree, slugs)[0]


def survey(
    tree: Path, slugs: Sequence[str], skipped: Callable[[str], bool] = lambda name: False
) -> tuple[list[str], int]:
    """Return ``unknown_folders``, and how many submissions a tree seems to hold; none is read.

    Args:
        tree: as for ``handed_in``.
        slugs: as for ``handed_in``.
        skipped: whether the submissions of a folder of that name are not counted.

    Raises:
        CollectError: the tree is none, or is that of one student.
    """
    sentences, idle, count = _stray_files(tree), [], 0
    forms, known = {slug: plain(slug) for slug in slugs}, frozenset(slugs)
    someone, own = False, set()
    for student, name in _students(tree):
        folder = os.path.join(tree, name)
        names = _names(folder)
        found = _exercises(folder, names, slugs)
        count += 0 if skipped(name) else len(found)
        someone = someone or bool(found)
        if name in known and any(each.lower().endswith((".ipynb", ".py")) for each in names or ()):
            own.add(name)
        if os.path.islink(folder):
            sentences.append(f"{shown(name)}: a symbolic link, which is not followed; put the folder itself there.")
        elif name in known:
            sentences.append(f"{name}: an exercise's folder where a student's belongs; the tree's shape is {_SHAPE}.")
        elif not found or names is None or not known.issuperset(names):
            near = list(_near_misses(tree / name, names, forms))
            sentences += near
            if not near and not found:
                idle.append(student)
    if own and not someone:
        what = ", ".join(slug for slug in slugs if slug in own)
        raise CollectError(
            f"{shown(str(tree))}: this looks like one student's folder, for it holds {what}; give the folder above it"
        )
    if hidden := _hidden(tree, slugs):
        sentences.append(f"Not graded, because a folder's name begins with a dot; rename it: {listed(hidden)}.")
    if idle:
        sentences.append(f"No exercise that is graded ({listed(slugs)}) in the folder of: {listed(idle)}.")
    return sentences, count


def lookalikes(tree: Path) -> list[str]:
    """Return one sentence on the students' folders whose names look the same and are not; none where there are none.

    Two such names differ in how a letter is composed (é is one character, or an e and an accent), or in blanks.

    Raises:
        CollectError: the tree is none.
    """
    names = [name for _, name in _students(tree)]
    # Of two names that look alike, at least one is not what it looks like: nearly all are, and cost a comparison.
    alike: dict[str, list[str]] = {look: [] for name in names if (look := _look(name)) != name}
    for name in names if alike else ():
        if (look := _look(name)) in alike:
            alike[look].append(name)
    groups = [" and ".join(map(ascii, found)) for found in alike.values() if len(found) > 1]
    if not groups:
        return []
    return [
        f"Folders whose names look the same are different students: {listed(groups)}; where they are one, put the work "
        "into one of them."
    ]


def _look(name: str) -> str:
    """Return a name in the one form that all names have that look like it."""
    return " ".join(name.split()) if name.isascii() else " ".join(unicodedata.normalize("NFC", name).split())


# -------------------------------------------------------------------------- the tree


def _students(tree: Path) -> list[tuple[str, str]]:
    """Return (student, name of the folder), sorted by student."""
    want = f"give the folder that holds {_SHAPE}"
    try:
        with os.scandir(tree) as entries:
            names = [entry.name for entry in entries if visible(entry.name) and _may_be_student(entry)]
    except FileNotFoundError:
        raise CollectError(f"{shown(str(tree))}: there is no such folder; {want}") from None
    except NotADirectoryError:
        unpack = "unpack it, then " if tree.suffix.lower() in (".zip", ".gz", ".tgz", ".tar") else ""
        raise CollectError(f"{shown(str(tree))}: it is a file, not a folder; {unpack}{want}") from None
    except OSError as error:
        raise CollectError(f"{shown(str(tree))}: {trouble(error)}") from None
    if not names:
        raise CollectError(f"{shown(str(tree))}: it holds no student's folder; {want}")
    return sorted((_student_id(name), name) for name in names)


def _may_be_student(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or entry.is_dir()


def _stray_files(tree: Path) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(tree) if visible(name))
    except OSError:
        return []  # the students' listing says it better
    stray = [name for name in names if (name.lower().endswith(_WORK) or is_archive(name)) and (tree / name).is_file()]
    return [f"{shown(name)}: {_stray(name)}" for name in stray]


def _stray(name: str) -> str:
    if is_archive(name):
        return f"an archive among the students' folders is not graded; unpack it into {_SHAPE}."
    return f"a file among the students' folders is not graded; its place is {_SHAPE}."


def _hidden(tree: Path, slugs: Sequence[str]) -> list[str]:
    """Return the folders that are left alone for their names, although they hold what would be graded."""
    try:
        names = sorted(name for name in os.listdir(tree) if not visible(name))
    except OSError:
        return []  # the students' listing says it better
    return [shown(name) for name in names if _handed(os.path.join(tree, name), slugs)]


def _near_misses(folder: Path, listed: Collection[str] | None, slugs: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence on each name that is nearly an exercise's; ``slugs`` with their plain forms.

    What cannot be ``listed`` is passed over: reading it will say what is wrong.
    """
    names = sorted(filter(visible, listed or ()))
    forms = {form: slug for slug, form in slugs.items() if slug not in names}
    for name in names:
        stem, suffix = _split(name)
        for close in difflib.get_close_matches(plain(stem), forms, 1, 0.8) if name not in slugs else ():
            slug, place = forms[close], f"{shown(folder.name)}/{shown(name)}"
            if (folder / name).is_dir():
                yield f"{place}: a folder of this name is not graded; rename it to {slug}."
            elif suffix:
                yield f"{place}: a file outside its folder is not graded; move it to {slug}/{slug}{suffix}."
        if is_archive(name) and not slugs.keys() & set(names) and (folder / name).is_file():
            place = f"{shown(folder.name)}/{shown(name)}"
            yield f"{place}: an archive is not graded; unpack it into {shown(folder.name)}/<exercise>/<exercise>.ipynb."


def _split(name: str) -> tuple[str, str]:
    stem, suffix = os.path.splitext(name)
    return (stem, suffix.lower()) if suffix.lower() in (".ipynb", ".py") else (name, "")


# ------------------------------------------------------------------------ submissions


def _stream(tree: Path, students: Iterable[tuple[str, str]], slugs: Sequence[str]) -> Iterator[Handed]:
    for student, name in students:
        found = _handed(os.path.join(tree, name), slugs)
        where = [shown(name)]
        try:
            with ExitStack() as stack:
                if found:  # one opening serves all of a student's exercises
                    top = stack.enter_context(open_folder(tree))
                    folder = stack.enter_context(open_folder(name, top))
                while found:
                    yield _collected(tree, name, student, found.pop(0), folder)
        except (OSError, Refused) as error:
            for slug in found:
                path = tree / name / slug / f"{slug}.ipynb"
                yield Handed(student, slug, path, trouble=_sentence("/".join(where), trouble(error)))


def _handed(folder: str, slugs: Sequence[str]) -> list[str]:
    """Return the exercises that a student's folder seems to hold, in order."""
    return _exercises(folder, _names(folder), slugs)


def _exercises(folder: str, names: Collection[str] | None, slugs: Sequence[str]) -> list[str]:
    if names is not None:
        return [slug for slug in slugs if slug in names]
    # It cannot be listed: what may be there is reported, by the reading of it.
    return [slug for slug in slugs if _may_be_there(os.path.join(folder, slug))]


def _names(folder: str) -> Collection[str] | None:
    """Return the names in a folder, none where there is no folder; None where they cannot be known."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError:
        return None


def _may_be_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _collected(tree: Path, name: str, student: str, slug: str, parent: int) -> Handed:
    """Read one submission; ``parent`` is the descriptor of the student's folder."""
    file, where = f"{slug}.ipynb", [shown(name), slug]
    notes: tuple[str, ...] = ()
    try:
        with open_folder(slug, parent) as folder:
            names = os.listdir(folder)
            notes = time_notes(names, folder)
            file, more = choose(names, slug, functools.partial(_is_folder, parent=folder))
            notes = (*more, *notes)
            where.append(shown(file))
            data = read_bytes(file, folder)
    except (OSError, Refused) as error:
        why = _sentence("/".join(where), trouble(error))
        return Handed(student, slug, Path(tree, name, slug, file), notes=notes, trouble=why)
    return Handed(student, slug, Path(tree, name, slug, file), data, hashlib.sha256(data).hexdigest(), notes)


def _is_folder(name: str, parent: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _submission(
    data: bytes, path: Path, student: str, slug: str, where: str, notes: tuple[str, ...], digest: str
) -> Submission:
    try:
        cells, more = _python(data) if path.suffix.lower() == ".py" else _notebook(data)
    except Unreadable as error:
        mend = "" if ";" in str(error) else f"; {_NEW_COPY}"
        return _unread(path, student, slug, f"{error}{mend}", where, digest, notes)
    except Exception as error:  # a fault of ours must not stop the class
        trouble = f"the reader failed on it ({type(error).__name__}: {error}); {_NEW_COPY}"
        return _unread(path, student, slug, trouble, where, digest, notes)
    return Submission(student, slug, path, cells, digest, notes=(*notes, *more))


def _unread(
    path: Path, student: str, slug: str, trouble: str, where: str, digest: str = "", notes: tuple[str, ...] = ()
) -> Submission:
    return Submission(student, slug, path, content_hash=digest, unreadable=_sentence(where, trouble), notes=notes)


def _sentence(where: str, trouble: str) -> str:
    return f"{where}: {' '.join(trouble.split())}"


# --------------------------------------------------------------------------- contents


def _notebook(data: bytes) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    read = read_notebook(data)
    return read.cells, read.notes


def _python(data: bytes) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        source = _decoded(data, _encoding(data))
    except LookupError:
        raise Unreadable("the file names an encoding that no Python source has; save it as UTF-8") from None
    except UnicodeDecodeError as error:
        trouble = f"the file is not {error.encoding.upper()} text: byte {error.start} cannot be read"
        raise Unreadable(f"{trouble}; save it as UTF-8") from None
    if "\0" in source:
        raise Unreadable("the file holds NUL characters, as no Python source does; save it as UTF-8")
    if len(source) > _CODE:
        raise Unreadable(f"the file has {len(source)} characters, and at most {_CODE} are graded; shorten it")
    return (Cell(1, source),), ()


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        data.decode()  # says at which byte, where that is the trouble
        raise LookupError from None


def _decoded(data: bytes, encoding: str) -> str:
    try:
        same = _ASCII.encode("ascii").decode(encoding) == _ASCII
    except UnicodeError:
        same = False
    if not same:
        raise LookupError(encoding)
    return data.decode(encoding)


# ------------------------------------------------------------------------------ names


def _student_id(name: str) -> str:
    """Return the folder's name as printable text of a bounded length, different for different names."""
    printable = shown(name)
    fits = len(printable) <= _ID_LENGTH and len(printable.encode()) <= 255  # it names files, too
    if fits and not re.search(r"\.\.\.[0-9a-f]{12}$", printable):  # which would pass for a shortened one
        return printable
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:12]
    return f"{printable.encode()[: _ID_LENGTH - 16].decode(errors='ignore')}...{digest}"
