"""An exercise as it travels to a browser: what is needed to try and judge an answer, as JSON beside ``checks.py``.

The random cases of the public seed travel with it and are not drawn again: another Python's ``10.0 ** x`` may differ in
the last bit, and what is expected of them is recorded.

Neither the solution nor the text of any known answer is part of it; of the wrong ones only which check catches them
and which belief is behind them, by which beliefs are recognized.
"""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from autograder.models import Answer, Case, Check, Exercise, Misconception
from autograder.observations import encode_arguments
from autograder.reference.expectations import PUBLIC, Seed, draw
from autograder.values import decode

FILE: Final = "exercise.json"
"""Its name in an exercise's folder of the archive; ``checks.py`` and ``recorded.json`` stand beside it."""
_TEXTS: Final = ("slug", "title", "entry", "starter", "version")
_LISTS: Final = ("forbids", "hints")


def pack(exercise: Exercise) -> str:
    """Return the JSON text of an exercise."""
    data: dict[str, Any] = {name: getattr(exercise, name) for name in _TEXTS}
    data |= {name: list(getattr(exercise, name)) for name in _LISTS}
    data["seconds"] = exercise.seconds
    data["wrong"] = {answer.name: [answer.caught_by, answer.misconception] for answer in exercise.wrong}
    data["drawn"] = {
        check: [[case.name, [encode_arguments(call) for call in case.calls]] for case in cases]
        for check, cases in _drawn(exercise).items()
    }
    return json.dumps(data, ensure_ascii=False)  # unsorted: a call is shown with its arguments in their order


def _drawn(exercise: Exercise) -> dict[str, tuple[Case, ...]]:
    fixed = {check.id: len(check.cases) for check in exercise.checks}
    return {check: cases[fixed[check] :] for check, cases in draw(exercise, Seed(PUBLIC)).items()}


def load(slug: str, root: Path) -> Exercise:
    """Return an exercise of an unpacked archive.

    Args:
        slug: its name.
        root: the folder that the archive was unpacked into.

    Raises:
        LookupError: it is not in the archive.
    """
    folder = root / "exercises" / slug
    if not (folder / FILE).is_file():
        known = ", ".join(sorted(path.parent.name for path in root.glob(f"exercises/*/{FILE}")))
        raise LookupError(f"{slug!r} cannot be solved in the page; what can is {known}")
    data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    names = runpy.run_path(str(folder / "checks.py"))
    checks: tuple[Check, ...] = names["CHECKS"]
    beliefs: tuple[Misconception, ...] = names["MISCONCEPTIONS"]
    fields: dict[str, Any] = {name: data[name] for name in _TEXTS}
    fields |= {name: tuple(data[name]) for name in _LISTS}
    return Exercise(
        **fields,
        folder=folder,
        teaches=(),
        practises=(),
        needs=(),
        runs_on=("browser",),
        seconds=data["seconds"],
        statement="",
        solution="",
        checks=tuple(_with_drawn(check, data["drawn"][check.id]) for check in checks),
        misconceptions={belief.id: belief for belief in beliefs},
        wrong=tuple(Answer(name, folder, "", *found) for name, found in data["wrong"].items()),
        right=(),
    )


def _with_drawn(check: Check, packed: list[Any]) -> Check:
    """Return the check with its random cases given, whatever the seed."""
    cases = tuple(
        Case(name, tuple({key: decode(value) for key, value in call.items()} for call in calls))
        for name, calls in packed
    )
    return replace(check, random=(lambda _: cases) if cases else None)
