"""Recorded traces: what is kept, and that a changed value is noticed and named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from autograder import catalog
from autograder.reference import traces
from autograder.reference.device import NoDevice, live_reference

EXERCISES = catalog.load_all()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    traces.record(EXERCISES.values(), "cpu", "autograder reference record --device cpu", folder)
    return folder


def test_committed_traces_agree_with_the_live_reference():
    agreed, faults = traces.verify(EXERCISES.values(), "cpu")
    assert faults == []
    assert agreed > 100


def test_a_trace_says_where_it_comes_from(recorded: Path):
    for name in (*EXERCISES, traces.RAW):
        data = json.loads((recorded / "cpu" / f"{name}.json").read_text())
        assert data["torch"] == torch.__version__
        assert data["device"] == "cpu"
        assert data["device_name"]
        assert data["command"] == "autograder reference record --device cpu"
        assert data["date"].count("-") == 2
        assert data["driver"] is None
        assert data["cuda"] is None
    assert json.loads((recorded / "cpu" / "grad_scaler_step.json").read_text())["version"]


def _changed(folder: Path, target: Path, name: str, old: str, new: str) -> Path:
    shutil.copytree(folder, target)
    path = target / "cpu" / f"{name}.json"
    text = path.read_text()
    assert text.count(old) == 1, text.count(old)
    path.write_text(text.replace(old, new))
    return target


def test_one_changed_value_is_named_with_exercise_step_and_values(recorded: Path, tmp_path: Path):
    folder = _changed(
        recorded,
        tmp_path / "changed",
        traces.RAW,
        '"update: backs off": {"dict": {"scales": [32768.0]',
        '"update: backs off": {"dict": {"scales": [16384.0]',
    )
    _, faults = traces.verify(EXERCISES.values(), "cpu", folder)
    assert faults == [
        f"{traces.RAW}, update: backs off: the value['scales'][0] is 32768.0, not 16384.0"
        " (live on cpu, recorded on cpu)"
    ]


def test_a_trace_of_another_version_a_missing_one_and_a_damaged_one_are_named(recorded: Path, tmp_path: Path):
    version = EXERCISES["grad_scaler_step"].version
    folder = _changed(recorded, tmp_path / "other", "grad_scaler_step", version, "0" * 12)
    (folder / "cpu" / f"{traces.RAW}.json").write_text('{"trace": {"x": {"f": "huge"}}}')
    (folder / "cpu" / "dynamic_loss_scale.json").unlink()
    _, faults = traces.verify(EXERCISES.values(), "cpu", folder)
    text = "\n".join(faults)
    assert len(faults) == 3
    assert f"the trace is of version {'0' * 12}, the exercise is {version}; record it again" in text
    assert f"the trace {traces.RAW}.json cannot be read" in text
    assert "dynamic_loss_scale: no trace" in text


def test_nothing_recorded_is_said_so(tmp_path: Path):
    assert traces.verify([], "cpu", tmp_path) == (
        0,
        ["nothing is recorded for cpu yet; run `autograder reference record --device cpu`"],
    )


def test_traces_of_another_device_are_compared_too(recorded: Path, tmp_path: Path):
    shutil.copytree(recorded / "cpu", tmp_path / "cpu")
    shutil.copytree(recorded / "cpu", tmp_path / "cuda")
    path = tmp_path / "cuda" / f"{traces.RAW}.json"
    path.write_text(
        path.read_text().replace("[5.6", "[5.7").replace("65536.0", "65537.0").replace("32768.0", "32769.0")
    )
    _, faults = traces.verify(EXERCISES.values(), "cpu", tmp_path)
    assert faults
    assert all("recorded on cuda" in fault for fault in faults)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_device_that_is_not_here_is_one_sentence():
    with pytest.raises(NoDevice, match="sees no CUDA device"):
        live_reference("cuda")


def test_an_unknown_device_is_one_sentence():
    with pytest.raises(NoDevice, match="there is no device 'tpu'"):
        live_reference("tpu")
