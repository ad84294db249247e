"""Traces: what the reference did on a device, kept with where it came from, and compared with what it does now.

``autograder/reference/traces/<device>/<name>.json`` holds one exercise's cases for the public seed, or the raw
operators.
"""

from __future__ import annotations

import datetime
import json
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from autograder.checks import differ
from autograder.models import Exercise, Observation, Outcome, Value
from autograder.observations import decode_observation, encode_observation
from autograder.reference import oracle
from autograder.reference.device import live_reference
from autograder.reference.expectations import PUBLIC, Seed, expect
from autograder.reference.rawops import runs
from autograder.values import BadValue, decode, encode

FOLDER: Final = Path(__file__).parent / "traces"
RAW: Final = "raw_operators"
RTOL: Final = 2e-7
"""Less than two fp32 ulp: devices may round a reciprocal differently, and nothing else."""

Trace = dict[str, Value]
"""Plain value of each entry, by a name that says exercise, check, case and call."""


def record(exercises: Iterable[Exercise], device: str, command: str, folder: Path = FOLDER) -> list[Path]:
    """Run the live reference on ``device`` and write its traces; return the files.

    Raises:
        NoDevice: there is no such device here.
        oracle.ReferenceError: our reference and PyTorch disagree where they must not.
    """
    device = live_reference(device).device
    paths = [_write(folder / device / f"{RAW}.json", provenance(device, command), raw_trace(device))]
    for exercise in exercises:
        head = {**provenance(device, command), "exercise": exercise.slug, "version": exercise.version}
        paths.append(_write(folder / device / f"{exercise.slug}.json", head, exercise_trace(exercise, device)))
    return paths


def provenance(device: str, command: str) -> dict[str, Any]:
    """Return where a trace comes from: device, driver, versions, date, command."""
    import torch

    cuda = device == "cuda"
    return {
        "device": device,
        "device_name": torch.cuda.get_device_name() if cuda else platform.machine(),
        "driver": _driver() if cuda else None,
        "cuda": torch.version.cuda if cuda else None,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
    }


def _driver() -> str | None:
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    query = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    lines = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split()
    return lines[0] if lines else None


def raw_trace(device: str) -> Trace:
    """Return what the raw operators do now."""
    return {name: run() for name, run in runs(device).items()}


def exercise_trace(exercise: Exercise, device: str) -> Trace:
    """Return what the reference solution does now on the public seed's cases, after proving it by PyTorch."""
    expectations = expect(exercise, Seed(PUBLIC), live_reference(device))
    oracle.verify(exercise, expectations)
    trace: Trace = {}
    for check in exercise.checks:
        expected = expectations.checks[check.id]
        for case, seen in zip(expected.cases, expected.observations, strict=True):
            for number, outcome in enumerate(seen.outcomes, 1):
                trace[f"check {check.id}, case “{case.name}”, call {number}"] = _plain(outcome)
    return trace


def _plain(outcome: Outcome) -> Value:
    # Through the JSON form, so that live and recorded values are the same kinds.
    data = encode_observation(Observation((outcome,)))["outcomes"][0]
    (again,) = decode_observation({"outcomes": [data]}).outcomes
    return again.returned if again.raised is None else {"raised": again.raised.type_name}


def _write(path: Path, head: Mapping[str, Any], trace: Trace) -> Path:
    rows = [f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(encode(value))}" for name, value in trace.items()]
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + "\n".join(lines) + '\n "trace": {\n' + ",\n".join(rows) + "\n }\n}\n", encoding="utf-8")
    return path


# --------------------------------------------------------------------------- compare


def verify(exercises: Iterable[Exercise], device: str, folder: Path = FOLDER) -> tuple[int, list[str]]:
    """Compare the live reference on ``device`` with every recorded set, of this device and of others.

    Returns:
        How many entries agree, and one sentence for each that does not, or for a trace that is missing or out of date.
    """
    device = live_reference(device).device
    live: dict[str, tuple[str, Trace]] = {RAW: ("", raw_trace(device))}
    live |= {exercise.slug: (exercise.version, exercise_trace(exercise, device)) for exercise in exercises}
    if not (folder / device).is_dir():
        return 0, [f"nothing is recorded for {device} yet; run `autograder reference record --device {device}`"]
    agreed, faults = 0, []
    for recorded_on in sorted(path.name for path in folder.iterdir() if path.is_dir()):
        for name, (version, trace) in live.items():
            count, found = _compare(folder / recorded_on / f"{name}.json", name, version, trace)
            agreed += count
            faults += [f"{fault} (live on {device}, recorded on {recorded_on})" for fault in found]
    return agreed, faults


def _compare(path: Path, name: str, version: str, live: Trace) -> tuple[int, list[str]]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kept = {key: decode(value) for key, value in data["trace"].items()}
    except FileNotFoundError:
        return 0, [f"{name}: no trace"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadValue) as error:
        return 0, [f"{name}: the trace {path.name} cannot be read: {type(error).__name__}: {error}"]
    if data.get("version", "") != version:
        return 0, [f"{name}: the trace is of version {data.get('version')}, the exercise is {version}; record it again"]
    faults = [
        f"{name}, {key}: only {'live' if key in live else 'recorded'}" for key in sorted(kept.keys() ^ live.keys())
    ]
    for key in live.keys() & kept.keys():
        if found := differ(live[key], kept[key], rtol=RTOL, where="the value"):
            faults.append(f"{name}, {key}: {found}")
    return len(live.keys() & kept.keys()) - len(faults), sorted(faults)
