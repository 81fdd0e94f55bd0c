"""The wait for sweeps that tests of what does not happen rely on."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from tests import sweeps
from tests.suites import clocks
from thenga import topology
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host

SWEEP = "find_to_poll_refund"


async def test_wait_ends_after_two_whole_sweeps(host: Host, seeded: None):
    (domain,) = topology.load(["billing"])
    assert domain.jobs is not None
    done: list[str] = []

    async def slow(work: Work) -> None:
        await asyncio.sleep(0.1)
        done.append("sweep")

    jobs = Jobs("billing")
    quick = timedelta(milliseconds=50)
    jobs.declared[SWEEP] = replace(domain.jobs.declared[SWEEP], body=slow, rhythm=quick)
    async with clocks.running([JobSide(host, [replace(domain, jobs=jobs)])]):
        await sweeps.after_sweeps(host, "billing", uuid4(), SWEEP)
        first = len(done)
        await sweeps.after_sweeps(host, "billing", uuid4(), SWEEP, count=3)

    assert first >= 2
    assert len(done) >= first + 3


async def test_without_a_worker_the_wait_does_not_end(host: Host, seeded: None):
    with pytest.raises(TimeoutError):
        await sweeps.after_sweeps(host, "billing", uuid4(), SWEEP, seconds=0.5)


async def test_all_sweeps_that_find_due_rows_are_awaited(host: Host, seeded: None):
    assert {SWEEP, "find_to_poll_payment"} <= set(sweeps._finders("billing"))
