"""A scheduler that dies is what is told first: what was asked fails with it, and that is no worker's fault."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from dask_cluster import Cluster
from test_cluster import plan, small

from autograder.cluster.link import Link, Lost, Present

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a class is graded on Linux")
__all__ = ["plan", "small"]  # fixtures


@pytest.fixture(autouse=True)
def _seen_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks whether the scheduler is there looks once, and then stands still."""

    async def watch(link: Link, client: Any) -> None:
        link._news.put(Present(dict(await client.nthreads())))
        await asyncio.Event().wait()

    monkeypatch.setattr(Link, "_watch", watch)


def test_it_is_told_before_what_was_asked_fails(small: Cluster):
    link = Link(small.address, None)
    try:
        link.ask("asked", "tcp://127.0.0.1:1", int)  # of a worker that never comes
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), link._loop).result()
        small.scheduler.kill()
        while isinstance(first := next(iter(link.news(60.0))), Present):
            pass
        assert isinstance(first, Lost)
    finally:
        link.close()
