"""The time of tests: what is due is done at its own instant, and only what is one's own."""

from datetime import date, datetime, timedelta

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.timeline import Timeline
from tests.world import World
from thenga import topology
from thenga.domains.billing.tables import Invoice, Renewal, Subscription
from thenga.domains.identity.tables import RoleAssignment
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

pytestmark = pytest.mark.domains("billing", "identity")


@pytest.fixture
def neighbour(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> World:
    return World(api, host, clock, topology.load(["billing"]))


async def test_time_stops_wherever_something_is_due(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.subscriber(plan="starter", on="2027-01-31")
    stops: list[datetime] = []
    right = Time.set
    monkeypatch.setattr(Time, "set", lambda clock, at: (stops.append(at), right(clock, at)))

    await world.until("2027-04-01")

    renewed = await world.all(Renewal)
    done = [(one.period_start, one.renewed_at) for one in renewed if one.renewed_at is not None]
    days = [date(2027, 2, 28), date(2027, 3, 31)]
    assert done == [(day, local_midnight(day)) for day in days]
    assert stops == sorted(stops) and stops[-1] == local_midnight(date(2027, 4, 1))
    assert {local_midnight(day) for day in days} <= set(stops)
    assert [one.status for one in await world.all(Invoice)] == ["paid"] * 3


async def test_nobody_elses_time_passes(world: World, neighbour: World) -> None:
    await world.subscriber(plan="starter", on="2027-01-31")
    await neighbour.subscriber(plan="starter", on="2027-01-31")

    await world.until("2027-03-01")

    mine, theirs = await world.only(Subscription), await neighbour.only(Subscription)
    assert (str(mine.period_start), str(theirs.period_start)) == ("2027-02-28", "2027-01-31")
    assert theirs.next_check_at is not None and theirs.next_check_at <= world.host.now()


async def test_another_domain_has_nothing_to_add(world: World) -> None:
    """A role of Identity that ends by itself, found over the same declarations."""
    await world.at("2027-01-31")
    await world.as_("owner")
    await people.member(
        *(world.host, world.organization_id),
        role="viewer",
        sandbox=True,
        valid_for=timedelta(days=3),
    )

    await world.until("2027-02-04")

    roles = await world.all(RoleAssignment)
    assert sorted(str(one.status) for one in roles) == ["active", "expired"]


async def test_a_planted_driver_that_finds_nothing_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.subscriber(plan="starter", on="2027-01-31")

    async def forgets(*_: object) -> bool:
        return False

    monkeypatch.setattr(Timeline, "_enqueue_first", forgets)
    await world.until("2027-03-01")

    assert [one for one in await world.all(Renewal) if one.renewed_at is not None] == []
