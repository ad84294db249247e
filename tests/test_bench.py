"""Are the measurements measured with what they say: classes, targets, memory, imports, and what is kept of them?

How long anything takes is asked by `make bench` alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import bench.__main__
from autograder import catalog, recorded
from autograder.collect import collect
from autograder.notebooks import is_untouched
from bench import classes, dask, grading, isolation, machine, notebook, results, runs, scale, stall, start
from bench.__main__ import measurements
from bench.timing import Amount, Line, Skipped, Target, ratio_text

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def answers() -> list[classes.Answers]:
    return classes.known_answers()


def texts(tree: Path) -> dict[str, bytes]:
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in tree.rglob("*.ipynb")}


# --------------------------------------------------------------------------- classes


def test_a_class_is_the_same_at_every_run_and_no_two_files_are_equal(
    tmp_path: Path, answers: list[classes.Answers]
) -> None:
    for name in ("one", "two"):
        classes.make(tmp_path / name, 2 * classes.UNIT, answers)
    found = texts(tmp_path / "one")
    assert found == texts(tmp_path / "two")
    assert len(set(found.values())) == len(found) == 2 * classes.UNIT


def test_a_class_can_be_graded_and_has_every_exercise_in_equal_parts(
    tmp_path: Path, answers: list[classes.Answers]
) -> None:
    made = classes.make(tmp_path, classes.UNIT, answers)
    known = catalog.load_all()
    read = list(collect(tmp_path, tuple(known)))
    assert not [submission.unreadable for submission in read if submission.unreadable]
    assert not [submission for submission in read if is_untouched(submission.cells, known[submission.exercise])]
    counts = [sum(one.exercise == slug for one in made) for slug in known]
    assert max(counts) - min(counts) <= 1
    assert {(one.student, one.exercise) for one in made} == {(s.student, s.exercise) for s in read}


def test_a_larger_class_is_as_hard_as_a_small_one(tmp_path: Path, answers: list[classes.Answers]) -> None:
    # The same answers, as often: only who handed them in differs.
    def sources(tree: Path, count: int) -> list[str]:
        slugs = tuple(answers.exercise.slug for answers in known)
        classes.make(tree, count, known)
        found = ["\n".join(cell.source for cell in submission.cells) for submission in collect(tree, slugs)]
        return sorted(text.partition("# Handed in by")[0] for text in found)

    known = answers
    assert sources(tmp_path / "large", 2 * classes.UNIT) == sorted(2 * sources(tmp_path / "small", classes.UNIT))


def test_half_of_the_answers_are_right_and_all_of_them_end(answers: list[classes.Answers]) -> None:
    for known in answers:
        drawn = [known.answer(number) for number in range(20)]
        assert [source in known.right for source in drawn] == [True, False] * 10
        loaded = recorded.load(known.exercise)
        assert loaded is not None
        late = {name for name, rows in loaded[1].items() if any("late" in row for row in rows.values())}
        assert not {answer.source for answer in known.exercise.wrong if answer.name in late} & set(known.wrong)
    assert any(len(known.wrong) < len(known.exercise.wrong) for known in answers)


def test_one_in_three_loops_in_every_exercise_and_the_rest_is_the_class_without_them(
    tmp_path: Path, answers: list[classes.Answers]
) -> None:
    mixed = classes.make(tmp_path / "mixed", 300, answers, looping=True)
    honest = classes.make(tmp_path / "honest", 300, answers, looping=True, without_loops=True)
    assert abs(sum(one.loops for one in mixed) - 100) <= 1
    assert {one.exercise for one in mixed if one.loops} == {known.exercise.slug for known in answers}
    assert [(one.student, one.exercise) for one in mixed if not one.loops] == [
        (one.student, one.exercise) for one in honest
    ]
    there = texts(tmp_path / "mixed")
    assert all(there[name] == text for name, text in texts(tmp_path / "honest").items())
    assert all((b"while True" in one.path.read_bytes()) >= one.loops for one in mixed)


def test_a_sample_has_every_exercise_equally_often_and_right_and_wrong_answers(
    tmp_path: Path, answers: list[classes.Answers]
) -> None:
    made = classes.make(tmp_path, classes.UNIT, answers)
    sample = classes.spread(made, 4)
    assert len(set(sample)) == len(sample) == 4 * len(answers)
    for known in answers:
        mine = [one.path.read_text(encoding="utf-8") for one in sample if one.exercise == known.exercise.slug]
        heads = [json.dumps(source.splitlines(keepends=True)[-1])[1:-3] for source in known.right]
        assert len(mine) == 4
        assert sum(any(head in text for head in heads) for text in mine) > 0


def test_a_course_with_another_limit_expects_what_it_did(tmp_path: Path) -> None:
    root = classes.course_with_limit(tmp_path / "course", 2.0)
    for slug, exercise in catalog.load_all(root).items():
        before = catalog.load(slug)
        assert exercise.seconds == 2.0 != before.seconds
        assert exercise.version != before.version
        then, now = recorded.load(before), recorded.load(exercise)
        assert then is not None
        assert now is not None
        assert now[1] == then[1]
        # Random cases are drawn from the version, too: only what is fixed is the same.
        assert [check.id for check in exercise.checks] == [check.id for check in before.checks]


# ------------------------------------------------------------------------------ lines


def line(top: float, bottom: float, target: Target, name: str = "a") -> Line:
    return Line(name, "this against that", Amount("this", top), Amount("that", bottom), target, 3, "A note.", {"x": 1})


@pytest.mark.parametrize(
    ("top", "bottom", "target", "holds"),
    [
        (200.0, 1.0, Target("≥", 200), True),
        (199.0, 1.0, Target("≥", 200), False),
        (1.3, 1.0, Target("≤", 1.3), True),
        (1.31, 1.0, Target("≤", 1.3), False),
        (4.0, 200.0, Target("≤", 1 / 50), True),
        (4.1, 200.0, Target("≤", 1 / 50), False),
    ],
)
def test_a_target_is_met_up_to_its_bound(top: float, bottom: float, target: Target, holds: bool) -> None:
    made = line(top, bottom, target)
    assert made.holds is holds
    assert made.record()["holds"] is holds
    assert ("✓" if holds else "✗") in made.text()


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        (1234.5, "1,234"),
        (200, "200"),
        (58.31, "58.3"),
        (1.3, "1.3"),
        (0.5, "0.5"),
        (0.02, "1/50"),
        (1 / 57.3, "1/57.3"),
    ],
)
def test_a_ratio_is_shown_with_three_digits_and_a_small_one_as_a_fraction(ratio: float, shown: str) -> None:
    assert ratio_text(ratio) == shown


def test_a_line_shows_both_figures_target_and_note() -> None:
    shown = line(0.25, 0.01, Target("≥", 20)).text()
    for part in ("25 ×", "≥ 20", "this 0.25 s", "that 0.01 s", "3 rounds", "A note."):
        assert part in shown


# ---------------------------------------------------------------------------- results


def test_what_is_kept_is_replaced_by_name_and_says_where_it_is_from(tmp_path: Path) -> None:
    path, here = tmp_path / "results.json", machine.here_and_now()
    other = replace(here, model="another machine")
    first, second = line(1, 2, Target("≤", 1), "a"), line(3, 4, Target("≤", 1), "b")
    results.keep(path, here, [first, second])
    results.keep(path, other, [line(5, 6, Target("≤", 1), "b"), Skipped("a", "what", "why")])
    found = results.read(path)
    assert {name: (row["ratio"], row["measured"]["model"]) for name, row in found.items()} == {
        "a": (0.5, here.model),
        "b": (5 / 6, "another machine"),
    }
    assert found["a"]["measured"].keys() >= {"cores", "model", "system", "memory_gib", "load", "versions", "commit"}


def test_a_run_s_own_file_has_what_was_left_out_as_well(tmp_path: Path) -> None:
    results.write(tmp_path / "bench.json", machine.here_and_now(), [Skipped("dask", "what", "there is none")])
    assert results.read(tmp_path / "bench.json")["dask"]["why"] == "there is none"


@pytest.mark.parametrize(("cores", "load", "quiet"), [(2, 0.4, True), (2, 0.6, False), (16, 3.0, True)])
def test_a_machine_is_quiet_by_its_cores(cores: int, load: float, quiet: bool) -> None:
    there = replace(machine.here_and_now(), cores=cores, load=load)
    assert there.quiet is quiet
    assert ("NOT QUIET" in there.text()) is not quiet


# ----------------------------------------------------------------------------- memory


def test_the_memory_of_a_tree_of_processes_is_that_of_all_but_the_confined(tmp_path: Path) -> None:
    # A grader with a worker of its own, and a confined process beside it, each of which holds a known amount.
    held = 64 * 2**20
    hold = f"import sys, time; data = bytearray({held}); print(flush=True); time.sleep(60)"
    confined = tmp_path / "bwrap"
    confined.symlink_to(sys.executable)
    grader = (
        "import subprocess, sys\n"
        f"own = subprocess.Popen([sys.executable, '-c', {hold!r}], stdout=subprocess.PIPE)\n"
        f"other = subprocess.Popen([{str(confined)!r}, '-c', {hold!r}], stdout=subprocess.PIPE)\n"
        "own.stdout.readline(), other.stdout.readline()\n"
        "print(own.pid, other.pid, flush=True)\n"
        "sys.stdin.read()\n"
        "own.kill(), other.kill()\n"
        "own.wait(), other.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", grader], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as main:
        assert main.stdout is not None
        own, other = map(int, main.stdout.readline().split())
        assert sorted(runs.own_processes(main.pid)) == sorted([main.pid, own])
        assert runs.memory(own, "VmHWM") * 1024 > held < runs.memory(other, "VmHWM") * 1024
        assert runs.memory(main.pid, "VmHWM") * 1024 < held
        main.communicate("")
    assert runs.memory(own, "VmHWM") == 0


@pytest.mark.needs("bubblewrap")
def test_a_run_is_watched_from_start_to_end_and_its_marks_can_be_compared(
    tmp_path: Path, answers: list[classes.Answers]
) -> None:
    made = classes.make(tmp_path / "class", 3, answers)
    for name in ("one", "two"):
        run = runs.grade(tmp_path / "class", tmp_path / name)
        assert 10 < run.main_memory <= run.own_memory
        assert run.samples[0][0] < run.samples[-1][0] <= run.wall
    first, second = scale.marks(tmp_path / "one"), scale.marks(tmp_path / "two")
    assert first == second
    assert [status for status, _, _ in first.values()] == ["graded"] * len(made)
    other = tmp_path / "two" / "records.jsonl"
    other.write_text(other.read_text(encoding="utf-8").replace('"passed"', '"failed"', 1), encoding="utf-8")
    assert scale.marks(tmp_path / "two") != first


def test_no_sample_is_later_than_the_run_that_it_is_of(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = runs._Watch(os.getpid(), 100.0)
    with monkeypatch.context() as patch:
        patch.setattr(runs.time, "perf_counter", lambda: 100.06)
        watch._sample([os.getpid()])
    assert [at for at, _, _ in watch.samples] == [0.0]
    with subprocess.Popen([sys.executable, "-c", "pass"]) as over:
        pass
    late = runs._Watch(over.pid, 0.0)
    late._sample([over.pid])
    assert late.samples == []


def test_a_run_that_did_not_grade_all_is_no_measurement(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    with pytest.raises(runs.GradeFailed, match="status 2"):
        runs.grade(tmp_path / "class", tmp_path / "out")


# ---------------------------------------------------------------------------- imports


def test_imports_are_summed_by_package_and_small_ones_left_out() -> None:
    rows = [(9_000, "json"), (2_000, "json.decoder"), (11_000, "torch._C"), (30_000, "torch"), (9_999, "yaml")]
    assert start.by_package(rows) == {"torch": 41.0, "Python's own": 11.0}


def test_the_imports_of_a_program_are_those_that_it_does() -> None:
    modules, _ = start.imports("-c", "import wave")
    assert "wave" in modules
    assert "torch" not in modules


# ---------------------------------------------------------------------- measurements


@pytest.mark.long
@pytest.mark.needs("bubblewrap")
def test_every_measurement_of_the_grader_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    # In small: what comes of it says nothing about speed, and all that is measured is really run.
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)
    lines = [line for name, measure in measurements(4).items() if name != "pages" for line in measure()]
    names = [line.name for line in lines]
    assert len(names) == len(set(names))
    measured = {line.name: line for line in lines if isinstance(line, Line)}
    assert set(names) - {"dask"} <= measured.keys()
    # These two are differences of runs, which in classes of a few are smaller than what else the machine does.
    whole = [line for name, line in measured.items() if name not in ("stall", "scale_time")]
    assert all(line.top.amount > 0 < line.bottom.amount for line in whole)
    assert measured["twenty_thousand_alike"].ratio == 1
    assert measured["stall"].details["loops"] == 3
    assert measured["grading_with_feedback"].details["sample"] == 9
    assert measured["scale_time"].details["submissions"] == 4
    assert {name: json.loads(json.dumps(line.record()))["ratio"] for name, line in measured.items()} == {
        name: line.ratio for name, line in measured.items()
    }


SMALL = {
    grading: {"COUNT": 9, "EACH": 1, "ROUNDS": 1},
    isolation: {"ROUNDS": 1},
    scale: {"SMALL": 2, "ROUNDS": 1, "CHUNKS": 2, "CHUNK": 2},
    stall: {"COUNT": 9},
    dask: {"COUNT": 3, "ROUNDS": 1},
    notebook: {"LATER": 1},
    start: {"ROUNDS": 1},
    bench.__main__: {"LARGE": 6},
}


# ------------------------------------------------------------------------ command line


def test_the_command_names_its_measurements_and_refuses_others() -> None:
    command = [sys.executable, "-m", "bench"]
    told = subprocess.run([*command, "--help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(name in told for name in measurements(1))
    done = subprocess.run([*command, "gradin"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no measurement gradin" in done.stderr
