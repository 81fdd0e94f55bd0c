"""Fleet assets: vehicles and the papers that they need on the road."""

from contextlib import suppress
from datetime import date, timedelta
from uuid import uuid4

import httpx2
import pytest

from tests import sweeps
from tests.domains.organization.offering import Folder, move_clock, sandbox, told, told_types
from tests.factories import identity as people
from tests.planting import plant
from tests.suites import clocks
from thenga.domains.organization.services.assets import expiries
from thenga.domains.organization.services.assets.expiries import Expiry, ExpiryState
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

VEHICLE = {"name": "Tipper 10 m3", "licenceExpiresOn": "2199-12-31"}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def fleet(api: httpx2.AsyncClient, owner: people.Member) -> Folder:
    return Folder(api, owner, "fleet-assets")


async def test_vehicle_plate_and_number_are_normalized(fleet: Folder):
    made = await fleet.made(
        **VEHICLE,
        registrationNumber="ca 123-456",
        vin="aav zzz 6 szeu 000001",
        vehicleType="tipper",
        payloadKg=10_000,
        seats=2,
        roadworthyExpiresOn="2199-06-30",
    )
    read = await fleet.get(f"/{made['id']}")

    assert read.json() == made
    assert (made["registrationNumber"], made["vin"]) == ("CA123-456", "AAVZZZ6SZEU000001")
    assert made["nextExpiry"] == "2199-06-30"
    assert made["expiryState"] == {
        "licence": "valid",
        "roadworthy": "valid",
        "operatingLicence": "not_given",
        "insurance": "not_given",
    }


@pytest.mark.parametrize("vin", ["AAVZZZ6SZEU00000", "AAVZZZ6SZEO000001", "IAVZZZ6SZEU000001"])
async def test_a_number_that_cannot_be_a_vin_is_refused(fleet: Folder, vin: str):
    answer = await fleet.add(**VEHICLE, registrationNumber="CA 1", vin=vin)

    assert (answer.status_code, answer.json()["code"]) == (422, "organization-vin-invalid")


async def test_plate_is_unique_until_its_vehicle_retires(
    fleet: Folder, api: httpx2.AsyncClient, host: Host
):
    other = Folder(api, await people.member(host, uuid4(), role="owner"), "fleet-assets")
    first = await fleet.made(**VEHICLE, registrationNumber="ND 100 200")

    twice = await fleet.add(**VEHICLE, registrationNumber="nd100 200")
    elsewhere = await other.add(**VEHICLE, registrationNumber="ND100200")
    await fleet.post(f"{first['id']}/retire")
    later = await fleet.add(**VEHICLE, registrationNumber="ND100200")

    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert (elsewhere.status_code, later.status_code) == (201, 201)


async def test_moves_follow_the_table_and_each_is_told_once(
    fleet: Folder, host: Host, owner: people.Member
):
    made = await fleet.made(**VEHICLE, registrationNumber="GP 1")
    verbs = ["assign", "assign", "release", "maintain", "return", "retire"]

    answers = [await fleet.post(f"{made['id']}/{verb}") for verb in verbs]
    after = await fleet.post(f"{made['id']}/assign")
    events = [one["data"] for one in await told(host, owner.organization_id)]

    assert [a.json()["status"] for a in answers] == [
        *("in_use", "in_use", "available", "maintenance", "available", "retired")
    ]
    assert (after.status_code, after.json()["allowed"]) == (409, [])
    assert [e["change"] for e in events] == [
        *("added", "assign", "release", "maintain", "return", "retire")
    ]
    assert [e["recordVersion"] for e in events] == [1, 2, 3, 4, 5, 6]


async def test_filters_find_vehicles_by_type_state_and_papers(fleet: Folder, host: Host):
    today = local_day(host.now())
    soon, past = today + timedelta(days=10), today - timedelta(days=5)
    long_ago = today - timedelta(days=60)
    tipper = await fleet.made(**VEHICLE, registrationNumber="GP 1", vehicleType="tipper")
    bus = await fleet.made(**VEHICLE | {"licenceExpiresOn": str(soon)}, registrationNumber="GP 2")
    van = await fleet.made(**VEHICLE | {"licenceExpiresOn": str(past)}, registrationNumber="GP 3")
    old = await fleet.made(**VEHICLE, registrationNumber="GP 4", roadworthyExpiresOn=str(long_ago))
    await fleet.post(f"{bus['id']}/assign")

    assert await fleet.ids(vehicleType="tipper") == [tipper["id"]]
    assert await fleet.ids(status="in_use") == [bus["id"]]
    assert await fleet.ids(expiryState="expiring") == [bus["id"]]
    assert await fleet.ids(expiryState="in_grace") == [van["id"]]
    assert await fleet.ids(expiryState="expired") == [old["id"]]
    assert await fleet.ids(expiryState="valid") == [tipper["id"], old["id"]]
    assert len(await fleet.ids(expiryState="not_given")) == 4
    assert await fleet.ids(expiresBefore=str(soon + timedelta(days=1))) == [bus["id"]]
    assert (await fleet.ids(sort="nextExpiry"))[0] == bus["id"]


async def test_archived_vehicle_is_unlisted_and_keeps_versions(
    fleet: Folder, host: Host, owner: people.Member
):
    made = await fleet.made(**VEHICLE, registrationNumber="GP 1")
    await fleet.patch(made["id"], seats=3)
    gone = await fleet.delete(made["id"])

    versions = (await fleet.get(f"/{made['id']}/versions", sort="version")).json()["items"]
    first = (await fleet.get(f"/{made['id']}/versions/1")).json()

    assert gone.status_code == 204
    assert await fleet.ids() == []
    assert await fleet.ids(archived="true") == [made["id"]]
    assert [v["changedFields"] for v in versions[1:]] == [["seats"], ["archivedAt"]]
    assert (first["snapshot"]["seats"], first["recordType"]) == (None, "fleetAsset")
    assert (await fleet.patch(made["id"], seats=4)).status_code == 409
    assert await told_types(host, owner.organization_id) == ["FleetAssetChanged"] * 3


TABLE = [
    ("2026-10-31", "valid"),
    ("2026-11-01", "expiring"),
    ("2026-12-31", "expiring"),
    ("2027-01-01", "in_grace"),
    ("2027-01-21", "in_grace"),
    ("2027-01-22", "expired"),
]


def wrong_states(kind: str) -> int:
    """How many days of the table of ORG-22 show another state."""
    paper = Expiry(kind, date(2026, 12, 31))
    return sum(
        expiries.state_on(paper, date.fromisoformat(today)) != state for today, state in TABLE
    )


@pytest.mark.rule("ORG-22")
def test_a_licence_is_in_grace_for_twenty_one_days():
    print(f"expiry_vectors={len(TABLE)} failed={wrong_states('licence')}")
    assert wrong_states("licence") == 0
    # The same day read from the filter and from the record.
    for today, state in TABLE:
        first, last = expiries.days_in(ExpiryState(state), date.fromisoformat(today), 21)
        assert first <= date(2026, 12, 31) <= last


@pytest.mark.rule("ORG-22")
def test_a_planted_grace_for_every_paper_or_for_none_is_found(monkeypatch: pytest.MonkeyPatch):
    plant(monkeypatch, expiries, "GRACE_DAYS", {})

    assert wrong_states("licence") == 2
    assert wrong_states("roadworthy") == 2


async def steps_told(host: Host, owner: people.Member, vehicle: str) -> list[tuple[str, int]]:
    return [
        (one["data"]["kind"], one["data"]["daysLeft"])
        for one in await told(host, owner.organization_id)
        if one["type"] == "organization.ExpiryApproaching.v1" and one["data"]["recordId"] == vehicle
    ]


EACH_STEP = [
    *(("licence", left) for left in (60, 30, 14, 7, 0, -21)),
    *(("insurance", left) for left in (60, 30, 14, 7, 0)),
]


@pytest.mark.rule("ORG-22")
@pytest.mark.usefixtures("nothing_waits")
async def test_sandbox_advance_publishes_each_expiry_step_once(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    before = {39: "valid", 40: "expiring", 100: "expiring", 101: "in_grace", 121: "in_grace"}
    at, shown = 0, {}
    async with clocks.running([MeshSide(host, clocks.quick())]):
        owner = await sandbox(api, host)
        fleet = Folder(api, owner, "fleet-assets")
        licence = local_day(host.now()) + timedelta(days=100)
        made = await fleet.made(
            name="Tipper",
            registrationNumber="GP 22",
            licenceExpiresOn=str(licence),
            insuranceExpiresOn=str(licence + timedelta(days=200)),
        )
        for day in (*before, 122):
            await move_clock(api, host, owner, to=day, by=day - at)
            at = day
            state = (await fleet.get(f"/{made['id']}")).json()["expiryState"]
            shown[day] = (state["licence"], state["roadworthy"])
        # Read right before any sweep has run: nothing was told so far.
        assert await steps_told(host, owner, made["id"]) == []
        await move_clock(api, host, owner, to=400, by=400 - at)
        async with clocks.running([JobSide(host, clocks.quick_of("organization"))]):
            told_now = await settled(host, owner, made["id"])

    expected = {day: (state, "not_given") for day, state in before.items()}
    assert shown == expected | {122: ("expired", "not_given")}
    print(
        f"expiry_steps={len(told_now)} doubled={len(told_now) - len(set(told_now))} "
        f"missing={len(set(EACH_STEP) - set(told_now))}"
    )
    assert sorted(told_now) == sorted(EACH_STEP)


async def settled(host: Host, owner: people.Member, vehicle: str) -> list[tuple[str, int]]:
    """What was told when all should have been, and two sweeps later."""

    async def enough() -> bool:
        return len(await steps_told(host, owner, vehicle)) >= len(EACH_STEP)

    with suppress(TimeoutError):
        await clocks.until(enough)
    await sweeps.after_sweeps(host, "organization", owner.organization_id)
    return await steps_told(host, owner, vehicle)
