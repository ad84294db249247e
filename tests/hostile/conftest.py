"""Every test file of this folder holds a table ``ATTACKS``; its submissions are graded once, together."""

from __future__ import annotations

import pytest
from arena import Fight, fight


@pytest.fixture(scope="module")
def fought(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fight:
    """What came of the file's attacks."""
    seconds = getattr(request.module, "SECONDS", 4.0)
    return fight(request.module.ATTACKS, seconds, tmp_path_factory.mktemp("host"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``attack`` each row of the file's table."""
    if "attack" in metafunc.fixturenames:
        judged = "earns_what" in metafunc.function.__name__  # an open fault concerns the attack, not those after it
        rows = [
            pytest.param(attack, id=attack.name, marks=_marks(attack.open_fault if judged else ""))
            for attack in metafunc.module.ATTACKS
        ]
        metafunc.parametrize("attack", rows)


def _marks(open_fault: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(strict=True, reason=open_fault)] if open_fault else []
