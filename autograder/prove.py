"""Prove that an exercise folder keeps its promises."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from autograder.known import Trials, Verdict
from autograder.models import Answer, Exercise
from autograder.plan import Plan, live_plan
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Seed

_SOME_WRONG: Final = 3
_BEYOND_STOCK: Final = frozenset(("timeout", "memory", "crashed", "forbidden", "not_run"))
"""Statuses that stock nbgrader cannot see as we do: it knows no ``forbids``, and a loop costs it minutes."""


@dataclass(slots=True)
class Proof:
    """What was found; ``faults`` is empty where every promise is kept."""

    slug: str
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def prove(exercise: Exercise, *, seeds: int, stock: str) -> Proof:
    """Run every known answer and check each promise.

    Args:
        exercise: the folder, read.
        seeds: how many seeds verdicts must agree over.
        stock: "none", "some" or "all" of the answers are also graded by nbgrader itself.
    """
    proof = Proof(exercise.slug)
    plan = live_plan(exercise, Seed(PUBLIC), live_reference("cpu"))
    sources = {"starter": exercise.starter, "solution": exercise.solution}
    sources |= {f"wrong/{answer.name}": answer.source for answer in exercise.wrong}
    sources |= {f"right/{answer.name}": answer.source for answer in exercise.right}
    with Trials() as trials:
        verdicts = trials.run(plan, sources, [Seed(f"seed:{number}") for number in range(seeds)])
    _starter(proof, exercise, verdicts["starter"])
    _full_marks(proof, exercise, verdicts)
    _wrong(proof, exercise, verdicts)
    _distinct(proof, exercise, verdicts)
    _stable(proof, verdicts, seeds)
    if stock != "none":
        _stock(proof, plan, sources, verdicts, stock)
    return proof


def _starter(proof: Proof, exercise: Exercise, verdict: Verdict) -> None:
    failed = sum(result.earned == 0 for result in verdict.results)
    proof.lines.append(f"starter    fails {failed}/{len(exercise.checks)} checks")
    if failed < len(exercise.checks):
        proof.faults.append("the starter passes a check")


def _full_marks(proof: Proof, exercise: Exercise, verdicts: Mapping[str, Verdict]) -> None:
    names = ["solution", *(f"right/{answer.name}" for answer in exercise.right)]
    accepted = 0
    for name in names:
        lost = [result for result in verdicts[name].results if result.status != "passed"]
        accepted += name != "solution" and not lost
        proof.faults += [f"{name} loses {result.id}: {result.message}" for result in lost]
    whole = verdicts["solution"].score == exercise.max_score
    proof.lines.append(f"solution   {'full marks' if whole else 'loses points'}")
    proof.lines.append(f"right      accepted {accepted}/{len(exercise.right)}")


def _wrong(proof: Proof, exercise: Exercise, verdicts: Mapping[str, Verdict]) -> None:
    caught = sum(_caught(proof, answer, verdicts[f"wrong/{answer.name}"]) for answer in exercise.wrong)
    proof.lines.append(f"wrong      caught {caught}/{len(exercise.wrong)}, each on the check that it names")


def _caught(proof: Proof, answer: Answer, verdict: Verdict) -> bool:
    status = {result.id: result.status for result in verdict.results}
    if answer.caught_by == "forbids":
        found = "forbidden" in status.values()
    else:
        found = status[answer.caught_by] != "passed"
    if not found:
        failing = ", ".join(name for name, state in status.items() if state != "passed") or "none"
        proof.faults.append(f"wrong/{answer.name} is not caught by {answer.caught_by}; checks that fail: {failing}")
    return found


def _distinct(proof: Proof, exercise: Exercise, verdicts: Mapping[str, Verdict]) -> None:
    groups: dict[tuple[str, tuple[str, ...]], list[Answer]] = {}
    for answer in exercise.wrong:
        results = verdicts[f"wrong/{answer.name}"].results
        failing = tuple(result.id for result in results if result.status != "passed")
        groups.setdefault((answer.misconception, failing), []).append(answer)
    for (belief, _), answers in groups.items():
        without = [answer.name for answer in answers if not answer.same_as]
        if len(without) > 1:
            names = ", ".join(without)
            proof.faults.append(
                f"{names} fail the same checks with the same misconception {belief}: say why, or drop one"
            )


def _stable(proof: Proof, verdicts: Mapping[str, Verdict], seeds: int) -> None:
    unstable = [f"{verdict.name}: {text}" for verdict in verdicts.values() for text in verdict.unstable]
    proof.lines.append(f"seeds      {seeds}/{seeds} agree" if not unstable else f"seeds      {len(unstable)} differ")
    proof.faults += [f"verdict depends on the seed: {text}" for text in unstable]


def _stock(proof: Proof, plan: Plan, sources: Mapping[str, str], verdicts: Mapping[str, Verdict], which: str) -> None:
    from autograder.stock import stock_scores

    chosen = _chosen(plan.exercise, verdicts, which)
    with tempfile.TemporaryDirectory() as folder:
        scores = stock_scores(plan.exercise, {_id(name): sources[name] for name in chosen}, Path(folder))
    agreed = 0
    for name in chosen:
        ours = {result.id: result.earned for result in verdicts[name].results}
        theirs = dict(scores[_id(name)].checks)
        agreed += ours == theirs
        if ours != theirs:
            differing = [
                f"{check}: {ours[check]:g}, {theirs.get(check)}" for check in ours if ours[check] != theirs.get(check)
            ]
            proof.faults.append(f"stock nbgrader disagrees on {name} (ours, its): {'; '.join(differing)}")
    left = len(sources) - len(_chosen(plan.exercise, verdicts, "all"))
    note = f" ({left} forbidden or endless ones left out: it cannot see those)" if which == "all" and left else ""
    proof.lines.append(f"nbgrader   agrees {agreed}/{len(chosen)}{note}")


def _chosen(exercise: Exercise, verdicts: Mapping[str, Verdict], which: str) -> list[str]:
    fit = [name for name, verdict in verdicts.items() if not _BEYOND_STOCK & {r.status for r in verdict.results}]
    if which == "all":
        return fit
    wrong = [name for name in fit if name.startswith("wrong/")]
    step = max(1, len(wrong) // _SOME_WRONG)  # spread over the folder
    right = [name for name in fit if name.startswith("right/")]
    return ["starter", "solution", *wrong[::step][:_SOME_WRONG], *right[:1]]


def _id(name: str) -> str:
    return name.replace("/", "-")
