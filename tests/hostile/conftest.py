"""Every test file of this folder holds a table ``ATTACKS``; its submissions are graded once, together."""

from __future__ import annotations

import pytest
from arena import PATIENCE, Fight, fight


@pytest.fixture(scope="module")
def fought(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fight:
    """What came of the file's attacks."""
    seconds = getattr(request.module, "SECONDS", PATIENCE)
    return fight(request.module.ATTACKS, seconds, tmp_path_factory.mktemp("host"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``attack`` each row of the file's table."""
    if "attack" in metafunc.fixturenames:
        metafunc.parametrize("attack", metafunc.module.ATTACKS, ids=lambda attack: attack.name)
