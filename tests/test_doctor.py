"""``autograder doctor``: what it finds, whether it says fit, and how it says it to people and to programs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder import doctor
from autograder.commands import doctor as command
from autograder.doctor import Finding, examine, fit
from autograder.sandbox import landlock, walls
from autograder.sandbox.zygote import SandboxError, Zygote

NEEDED = ["bubblewrap", "confined process"]
LAYERS = ["landlock", "seccomp", "rlimits"]
INFORMED = ["user namespaces", *LAYERS, "memory cgroup", "CUDA devices", "cores", "python", "platform"]


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return examine()


def named(findings: list[Finding], name: str) -> Finding:
    (finding,) = [finding for finding in findings if finding.name == name]
    return finding


def path_with(bubblewrap: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program called bwrap first on the PATH, or leave nothing on it."""
    if bubblewrap is None:
        monkeypatch.setenv("PATH", str(folder))
        return
    program = folder / "bwrap"
    program.write_text(bubblewrap)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


# -------------------------------------------------------------------------- findings


def test_every_finding_says_something(findings: list[Finding]) -> None:
    for finding in findings:
        assert finding.name
        assert finding.detail
        assert "\n" not in finding.detail
        assert finding.state in ("yes", "no", "info")
    assert len({finding.name for finding in findings}) == len(findings)


def test_what_is_needed_comes_first_and_is_no_mere_information(findings: list[Finding]) -> None:
    assert [finding.name for finding in findings[:2]] == NEEDED
    assert all(finding.state != "info" for finding in findings if finding.needed)
    assert {finding.name for finding in findings if finding.state != "info"} == {*NEEDED, *LAYERS}


def test_layers_devices_and_versions_are_looked_at(findings: list[Finding]) -> None:
    names = [finding.name for finding in findings]
    for name in (*INFORMED, *doctor._PACKAGES):
        assert name in names
    assert named(findings, "cores").detail == str(os.cpu_count())
    assert named(findings, "torch").detail.split("+")[0].count(".") == 2


@pytest.mark.needs("bubblewrap")
def test_a_machine_whose_walls_stand_is_fit(findings: list[Finding]) -> None:
    assert fit(findings)
    user = walls.CONFINED_UID if os.geteuid() == 0 else os.geteuid()
    assert f"uid {user}," in named(findings, "confined process").detail


@pytest.mark.needs("bubblewrap")
def test_each_layer_is_found_in_force_and_explained(findings: list[Finding]) -> None:
    for name in LAYERS:
        assert named(findings, name).state == "yes"
        assert "submission" in named(findings, name).detail
    assert f"interface version {landlock.abi()}" in named(findings, "landlock").detail


def test_without_landlock_or_a_filter_it_is_still_fit_and_says_what_is_missing() -> None:
    facts = {"inner": ["rlimits"], "missing": {"landlock": "this kernel does not offer Landlock"}, "landlock": 0}
    found = list(doctor._inner(facts))
    assert [named(found, name).state for name in LAYERS] == ["no", "no", "yes"]
    assert fit(found)
    assert named(found, "landlock").detail.startswith("missing: this kernel does not offer Landlock; ")
    assert named(found, "seccomp").detail.startswith("missing: it was not in force when tried; ")


@pytest.mark.needs("bubblewrap")
def test_walls_without_limits_are_not_used_for_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    with Zygote(walled=True) as zygote:
        hear = zygote._hear

        def without_limits(seconds: float) -> dict[str, Any]:
            said = hear(seconds)
            said["ready"]["inner"].remove("rlimits")
            return said

        monkeypatch.setattr(zygote, "_hear", without_limits)
        with pytest.raises(SandboxError, match="so it could use up this machine"):
            zygote.ready()


def test_without_a_memory_cgroup_it_says_what_limits_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: False)
    monkeypatch.setattr(Path, "is_dir", lambda path: False)
    found = doctor._kernel()
    assert named(found, "memory cgroup").state == "info"  # nothing that is promised rests on it
    assert named(found, "memory cgroup").detail.startswith("not offered; ")
    assert "limit of its own" in named(found, "memory cgroup").detail


def test_without_user_namespaces_it_says_who_can_still_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda path, *args, **kwargs: "0\n")
    assert named(doctor._kernel(), "user namespaces").detail == "none are allowed: only root can confine submissions"


def test_without_limits_it_is_not_fit() -> None:
    found = list(doctor._inner({"inner": ["landlock", "seccomp"], "missing": {}, "landlock": 6}))
    assert not fit(found)
    assert "use up this machine" in named(found, "rlimits").detail


# ------------------------------------------------------------------------- not fit


def test_without_bubblewrap_it_is_not_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path_with(None, tmp_path, monkeypatch)
    monkeypatch.setattr(sys, "platform", "linux")
    found = examine()
    assert not fit(found)
    assert [named(found, name).state for name in NEEDED] == ["no", "no"]
    assert named(found, "bubblewrap").detail == "not installed; on Debian: apt-get install bubblewrap"


def test_on_another_platform_it_is_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = doctor._confinement()
    assert not fit(found)
    assert named(found, "bubblewrap").detail == "Linux only"


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("#!/bin/sh\necho 'bwrap: Creating new namespace failed' >&2\nexit 1\n", "Creating new namespace failed"),
        ("#!/bin/sh\nexit 1\n", "it ended with status 1"),
        ("not a program", "did not start"),
        ("#!/no/such/interpreter\n", "did not start"),
    ],
    ids=["says why", "says nothing", "no program", "no interpreter"],
)
def test_where_the_walls_cannot_be_built_it_is_not_fit_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, says: str
) -> None:
    path_with(program, tmp_path, monkeypatch)
    monkeypatch.setattr(sys, "platform", "linux")
    found = doctor._confinement()
    assert not fit(found)
    assert named(found, "bubblewrap").state == "yes"
    assert says in named(found, "confined process").detail


def test_walls_that_do_not_stand_are_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = Path(doctor.__file__).parents[1]
    does = 'while [ "$1" != "--" ]; do shift; done; shift'
    path_with(f'#!/bin/sh\n{does}\nPYTHONPATH={root} exec "$@"\n', tmp_path, monkeypatch)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(walls, "CONFINED_UID", os.getuid())
    found = doctor._confinement()
    assert not fit(found)
    assert "shares the pid" in named(found, "confined process").detail


def test_without_torch_it_is_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    found = doctor._devices()
    assert not fit(found)
    assert "make setup" in named(found, "torch").detail


def test_only_what_is_needed_decides() -> None:
    assert fit([])
    assert fit([Finding("a", "yes", "a", needed=True), Finding("b", "info", "b"), Finding("c", "no", "c")])
    assert not fit([Finding("a", "yes", "a", needed=True), Finding("b", "no", "b", needed=True)])


# ------------------------------------------------------------------------ what is missing


@pytest.mark.parametrize("error", [OSError("no file"), AttributeError("no call"), ValueError("no number")])
def test_a_probe_that_fails_is_a_finding(error: Exception) -> None:
    def probe() -> str:
        raise error

    assert doctor._info("landlock", probe) == Finding("landlock", "info", f"not offered ({error})")


def test_a_probe_that_finds_nothing_says_so() -> None:
    assert doctor._info("landlock", lambda: "") == Finding("landlock", "info", "not offered")


# ------------------------------------------------------------------------------- command


def reported(monkeypatch: pytest.MonkeyPatch, found: list[Finding]) -> None:
    monkeypatch.setattr(command, "examine", lambda: found)


FIT = [Finding("bubblewrap", "yes", "/usr/bin/bwrap", needed=True), Finding("cores", "info", "2")]
UNFIT = [Finding("bubblewrap", "no", "not installed", needed=True), Finding("cores", "info", "2")]


@pytest.mark.parametrize(("found", "status"), [(FIT, 0), (UNFIT, 1)], ids=["fit", "not fit"])
def test_the_exit_status_says_whether_it_is_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: list[Finding], status: int
) -> None:
    reported(monkeypatch, found)
    assert command.run(as_json=False) == status
    assert command.run(as_json=True) == status
    capsys.readouterr()


def test_people_read_one_line_a_finding_and_a_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reported(monkeypatch, UNFIT)
    command.run(as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "✗ bubblewrap         not installed",
        "· cores              2",
        "",
        "This machine must not grade untrusted work: see ✗ above.",
    ]
    reported(monkeypatch, FIT)
    command.run(as_json=False)
    assert capsys.readouterr().out.splitlines()[-1] == "This machine can grade untrusted work."


def test_programs_read_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    reported(monkeypatch, UNFIT)
    command.run(as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {
        "fit": False,
        "findings": [
            {"name": "bubblewrap", "state": "no", "detail": "not installed", "needed": True},
            {"name": "cores", "state": "info", "detail": "2", "needed": False},
        ],
    }
