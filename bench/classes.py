"""Classes to grade, made of the exercises' own known answers: the same at every run, no two files equal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autograder import catalog
from autograder.files import write
from autograder.models import Exercise
from autograder.notebooks import submission_notebook
from autograder.recognize import TIMEOUT

UNIT: Final = 200
"""Submissions after which the answers come again, for another student: classes of whole units are equally hard."""
_FIRST: Final = (
    "Ada", "Bao", "Chiara", "Dmitri", "Esi", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Kavya", "Liam", "Maja",
    "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Sefa", "Tomás", "Uma", "Viktor", "Wanjiru", "Xia", "Yara", "Zoltan",
)  # fmt: skip
_LAST: Final = (
    "Abebe", "Baker", "Costa", "Dupont", "Eriksen", "Fischer", "García", "Haddad", "Ito", "Jensen", "Kaya",
    "Larsen", "Mehta", "Novak", "Okafor", "Petrov", "Quispe", "Rossi", "Silva", "Tanaka", "Ueda", "Varga", "Weber",
    "Yilmaz", "Zhou",
)  # fmt: skip
_STRIDE: Final = 37
"""Which wrong answer follows which: far enough apart that a class has many kinds of them."""
_SIGNED: Final = "# Handed in by @@."
_ENDLESS: Final = "def {entry}(*arguments, **named):\n    while True:\n        pass\n"


@dataclass(frozen=True, slots=True)
class Answers:
    """The known answers to one exercise that come to an end."""

    exercise: Exercise
    right: tuple[str, ...]
    wrong: tuple[str, ...]

    def answer(self, number: int) -> str:
        """Return the source of one of them; right and wrong take turns."""
        turn = number // 2
        if number % 2 and self.wrong:
            return self.wrong[turn * _STRIDE % len(self.wrong)]
        return self.right[turn % len(self.right)]

    def endless(self) -> str:
        """Return an answer that loops at its first call, and for ever."""
        return _ENDLESS.format(entry=self.exercise.entry)


@dataclass(frozen=True, slots=True)
class Submitted:
    """One submission of a class that was made."""

    student: str
    exercise: str
    path: Path
    loops: bool


def known_answers(root: Path | None = None) -> list[Answers]:
    """Return, for each exercise, its right answers and those wrong ones that end by themselves."""
    return [_known(exercise) for exercise in catalog.load_all(root).values()]


def make(
    tree: Path, count: int, answers: list[Answers], *, looping: bool = False, without_loops: bool = False
) -> list[Submitted]:
    """Write a class and return its submissions, in the order in which they were made.

    The exercises come in turn, and a student hands in one answer to each.

    Args:
        tree: an empty folder, or none.
        count: how many submissions.
        answers: of each exercise.
        looping: one in three never ends.
        without_loops: leave those out that never end: what the same class would be without them.
    """
    texts: dict[tuple[str, str], str] = {}
    made = []
    students = -(-UNIT // len(answers))  # of one unit; its last one hands in less
    for number in range(count):
        unit, rest = divmod(number, UNIT)
        turn, place = divmod(rest, len(answers))
        known, student = answers[place], _student(unit * students + turn)
        # The same third of every exercise, and of every student.
        loops = looping and (turn + place) % 3 == 0
        if loops and without_loops:
            continue
        source = known.endless() if loops else known.answer(turn)
        text = texts.setdefault((known.exercise.slug, source), _notebook(known.exercise, source))
        path = tree / student / known.exercise.slug / f"{known.exercise.slug}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text.replace("@@", student), encoding="utf-8")
        made.append(Submitted(student, known.exercise.slug, path, loops))
    return made


def spread(made: list[Submitted], each: int) -> list[Submitted]:
    """Return ``each`` submissions of every exercise, evenly spread over the class."""
    chosen = []
    for slug in sorted({one.exercise for one in made}):
        mine = [one for one in made if one.exercise == slug]
        # Odd steps, so that right and wrong answers take turns in the sample as they do in the class.
        step = max(1, (len(mine) // each - 1) | 1)
        chosen += mine[:: step if step * each <= len(mine) else 1][:each]
    return chosen


def course_with_limit(folder: Path, seconds: float) -> Path:
    """Write a copy of the course in which every exercise has that limit, with what is recorded of it, and return it."""
    root = catalog.course_root()
    for slug in catalog.slugs(root):
        for path in (root / "exercises" / slug).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                write(folder / path.relative_to(root), path.read_text(encoding="utf-8"))
        solution = Path("solutions") / f"{slug}.py"
        write(folder / solution, (root / solution).read_text(encoding="utf-8"))
        statement = folder / "exercises" / slug / "statement.md"
        text, changed = re.subn(
            r"^seconds:.*$", f"seconds: {seconds:g}", statement.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE
        )
        assert changed, statement
        write(statement, text)
        # What the reference does, and what gives a known answer away, has nothing to do with the limit.
        record = statement.with_name("recorded.json")
        data = json.loads(record.read_text(encoding="utf-8"))
        write(record, json.dumps({**data, "version": catalog.load(slug, folder).version}))
    return folder


def _known(exercise: Exercise) -> Answers:
    patterns: Mapping[str, Mapping[str, str]] = json.loads(
        (exercise.folder / "recorded.json").read_text(encoding="utf-8")
    )["patterns"]
    wrong = [answer for answer in exercise.wrong if answer.name in patterns and _ends(patterns[answer.name])]
    right = (exercise.solution, *(answer.source for answer in exercise.right))
    return Answers(exercise, right, tuple(answer.source for answer in wrong))


def _ends(rows: Mapping[str, str]) -> bool:
    return not any(TIMEOUT in row.split() for row in rows.values())


def _notebook(exercise: Exercise, source: str) -> str:
    return submission_notebook(exercise, f"{source.rstrip()}\n\n{_SIGNED}\n")


def _student(number: int) -> str:
    first, last = _FIRST[number % len(_FIRST)], _LAST[number // len(_FIRST) % len(_LAST)]
    return f"{first}_{last}_{number:05}"
