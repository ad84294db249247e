"""What the reference did, and PyTorch proved, holds for the next run, as long as all that it depends on is the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import catalog
from autograder.models import Reference
from autograder.observations import encode_observation
from autograder.plan import Plan, Prospect
from autograder.reference import oracle, proven
from autograder.reference.device import foreseen_reference
from autograder.reference.expectations import Expectations, ReferenceError, Seed

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


def test_what_is_kept_is_what_the_reference_does(course: Path) -> None:
    prospect = Prospect(catalog.load_all(course), SEED, foreseen_reference())
    first, second = prospect.plans(), prospect.plans()
    for slug, plan in first.items():
        assert (encoded(second[slug]), second[slug].patterns) == (encoded(plan), plan.patterns)
        assert any(len(rows.cases) > rows.fixed for rows in plan.expectations.checks.values())


def encoded(plan: Plan) -> dict[str, object]:
    """What a plan's submissions are judged against; nan is equal to itself in it."""
    checks = plan.expectations.checks
    return {
        name: [rows.cases, rows.fixed, [json.dumps(encode_observation(seen)) for seen in rows.observations]]
        for name, rows in checks.items()
    }


def test_a_second_run_does_without_torch(course: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from autograder import catalog; from autograder.plan import Prospect; "
        "from autograder.reference.device import foreseen_reference as reference; "
        "from autograder.reference.expectations import Seed; "
        f"Prospect(catalog.load_all(Path({str(course)!r})), "
        "Seed('seed:1'), reference()).plans(); print('torch' in sys.modules)"
    )
    said = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "True" if foreseen_reference().device != "cpu" else "False"]


def test_only_its_owner_can_read_what_answers_the_hidden_cases(course: Path) -> None:
    (course / proven.FOLDER).mkdir(parents=True, mode=0o755)
    plans(course)
    assert (course / proven.FOLDER).stat().st_mode & 0o077 == 0
    assert len(list((course / proven.FOLDER).iterdir())) == len(catalog.slugs(course))


def test_the_oldest_go(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven, "_MOST", 3)
    slug = catalog.slugs(course)[0]
    exercise, reference = catalog.load(slug, course), Reference("torch", "cpu", "2.13.0")
    files = [
        course / proven.FOLDER / f"{slug}-{proven.name(exercise, Seed(f'seed:{number}'), reference)[:32]}.json"
        for number in range(5)
    ]
    for number, file in enumerate(files):
        proven.keep(exercise, Seed(f"seed:{number}"), Expectations(f"seed:{number}", reference, {}))
        os.utime(file, (number, number))  # two in a row may have been written at the same time, by the system's clock
    assert [file.exists() for file in files] == [False, False, True, True, True]


def test_what_ran_on_a_gpu_is_not_kept(course: Path) -> None:
    exercise = catalog.load(catalog.slugs(course)[0], course)
    proven.keep(exercise, SEED, Expectations(SEED.id, Reference("torch", "cuda", "2.13.0"), {}))
    assert not (course / proven.FOLDER).exists()


@pytest.mark.parametrize("what", ["solution", "oracle", "another seed", "damaged", "another number"])
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
    elif what == "damaged":
        (kept,) = (course / proven.FOLDER).glob(f"{slug}-*")
        kept.write_bytes(kept.read_bytes()[:-200])
    elif what == "another number":
        (kept,) = (course / proven.FOLDER).glob(f"{slug}-*")
        text = kept.read_text()
        kept.write_text(text.replace("1", "2"))
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("how", ["an open folder", "a link for the folder", "a link for a file"])
def test_what_others_may_have_written_is_neither_believed_nor_kept(course: Path, proofs: list[str], how: str) -> None:
    plans(course)
    first = list(proofs)
    folder = course / proven.FOLDER
    names = sorted(path.name for path in folder.iterdir())
    if how == "an open folder":
        folder.chmod(0o777)
        (folder / "of-another.json").write_text("")
    elif how == "a link for the folder":
        folder.rename(course / "elsewhere")
        folder.symlink_to(course / "elsewhere")
    else:
        for name in names:
            (folder / name).rename(course / name)
            (folder / name).symlink_to(course / name)
    plans(course)
    assert proofs == first * 2
    if how == "a link for the folder":
        return
    assert sorted(path.name for path in folder.iterdir()) == names
    assert folder.stat().st_mode & 0o077 == 0
    plans(course)
    assert proofs == first * 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_believed(course: Path, proofs: list[str]) -> None:
    plans(course)
    count = len(proofs)
    for path in (course / proven.FOLDER).iterdir():
        os.chown(path, 4711, 4711)
    for _ in range(2):  # and then it is ours
        plans(course)
        assert len(proofs) == 2 * count


def test_a_wide_umask_costs_no_proof(course: Path, proofs: list[str]) -> None:
    before = os.umask(0o002)
    try:
        plans(course)
    finally:
        os.umask(before)
    count = len(proofs)
    plans(course)
    assert len(proofs) == count
