"""A proof by PyTorch holds for the next run, as long as all that it depends on is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder import catalog
from autograder.models import Reference
from autograder.plan import Prospect
from autograder.reference import oracle, proven
from autograder.reference.device import foreseen_reference
from autograder.reference.expectations import ReferenceError, Seed

SEED = Seed("seed:1", b"secret")


@pytest.fixture
def proofs(course: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The exercises that are proven, as they are."""
    done: list[str] = []
    real = oracle.verify

    def verify(exercise, expectations):
        done.append(exercise.slug)
        return real(exercise, expectations)

    monkeypatch.setattr(oracle, "verify", verify)
    return done


def plans(course: Path, seed: Seed = SEED) -> None:
    Prospect(catalog.load_all(course), seed, foreseen_reference()).plans()


def test_a_second_run_proves_nothing_again(course: Path, proofs: list[str]) -> None:
    plans(course)
    count = len(proofs)
    assert count == len(catalog.slugs(course)) > 0
    plans(course)
    assert len(proofs) == count


@pytest.mark.parametrize("what", ["solution", "oracle", "another seed", "the note"])
def test_what_a_proof_depends_on_is_proven_anew(course: Path, proofs: list[str], what: str) -> None:
    plans(course)
    proofs.clear()
    slug, seed = catalog.slugs(course)[0], SEED
    if what == "solution":
        path = course / "solutions" / f"{slug}.py"
        path.write_text(path.read_text() + "\n# again\n")
    elif what == "oracle":
        path = course / "exercises" / slug / "oracle.py"
        path.write_text(
            "coincides = lambda arguments: False\npytorch = print\nagrees = lambda got, want: None\nDIFFERENCES = ()\n"
        )
    elif what == "the note":
        (course / proven.FILE).write_text("[1, damaged")
    else:
        seed = replace(SEED, key=b"another")
    plans(course, seed)
    assert slug in proofs


def test_what_is_not_proven_leaves_no_note(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def verify(exercise, expectations):
        raise ReferenceError("they differ")

    monkeypatch.setattr(oracle, "verify", verify)
    for _ in range(2):
        with pytest.raises(ReferenceError, match="they differ"):
            plans(course)


def test_torch_and_device_are_part_of_a_proof(course: Path) -> None:
    exercise = catalog.load(catalog.slugs(course)[0], course)
    here = Reference("torch", "cpu", "2.13.0")
    others = [replace(here, device="cuda"), replace(here, torch="2.12.0"), replace(here, backend="other")]
    assert len({proven.name(exercise, SEED, one) for one in (here, *others)}) == 4


def test_a_course_that_cannot_be_written_is_graded_all_the_same(course: Path, proofs: list[str]) -> None:
    (course / "build").write_text("a file where the folder would be")
    plans(course)
    plans(course)
    assert len(proofs) == 2 * len(catalog.slugs(course))
