"""The suite is as large as it claims, and every kind is held by several attacks."""

from __future__ import annotations

import importlib
from pathlib import Path

KINDS = sorted(
    path.stem for path in Path(__file__).parent.glob("test_hostile_*.py") if path.stem != "test_hostile_suite"
)


def test_there_are_at_least_60_attacks_and_several_of_each_kind() -> None:
    names = {kind: [attack.name for attack in importlib.import_module(kind).ATTACKS] for kind in KINDS}
    assert len(KINDS) == 11
    assert all(len(found) >= 10 for found in names.values()), {kind: len(found) for kind, found in names.items()}
    assert sum(map(len, names.values())) >= 150
    for found in names.values():
        assert len(set(found)) == len(found)
