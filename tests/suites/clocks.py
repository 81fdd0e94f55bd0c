"""What time should have done in an organization, and what it did."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import httpx2
import orjson
from dateutil.relativedelta import relativedelta

from tests.factories import identity
from thenga import topology
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

STEPS = (60, 30, 14, 7, 0)  # days left at which an expiry is told
# Days from now on which the certificates of each machine run out.
MACHINES: tuple[tuple[int, ...], ...] = ((90,), (90, 200), (399, 61, 61), (425,), (500,), ())
# Days after which a member's role ends; none for an owner, whose role stays.
ROLES = (100, 399, 500)
_RHYTHM = timedelta(milliseconds=200)
_USUAL = timedelta(seconds=10)  # between two sweeps, as most of them are declared
_HOUSEKEEPING = timedelta(minutes=10)  # jobs that come less often

# By domain, what finds the rows whose time has come.
_SWEEPS = {
    "organization": "find_to_tell_expiry",
    "identity": "find_to_end_assignment",
    "billing": "find_to_move_subscription",
}
_MORE_SWEEPS = 3

Effect = tuple[str, str, str]  # what it is about, what happened, and the step


@dataclass(frozen=True)
class Place:
    """An organization with machines and members for whom time will do something."""

    owner: identity.Member
    machines: dict[str, tuple[int, ...]]
    members: dict[str, tuple[int, identity.Member]]  # by role assignment
    today: date
    subscription: str | None = None  # a plan by the month, bought today

    @property
    def id(self) -> UUID:
        return self.owner.organization_id


def expected(place: Place, moved_days: int) -> Counter[Effect]:
    """Each effect that the days bring, once."""
    made: Counter[Effect] = Counter()
    for machine, days in place.machines.items():
        for kind, ends in zip(KINDS, days, strict=False):
            for left in STEPS:
                if 0 < ends - left <= moved_days:
                    made[machine, kind, f"{place.today + timedelta(ends)} {left}"] += 1
    for assignment, (valid_days, _) in place.members.items():
        if valid_days <= moved_days:
            made[assignment, "role", "expired"] += 1
    if place.subscription is not None:
        for day in renewals(place.today, moved_days):
            made[place.subscription, "renewed", str(day)] += 1
    return made


def renewals(bought_on: date, moved_days: int) -> list[date]:
    """The first days of the months that follow, counted from the first one (BIL-6)."""
    starts = [bought_on + relativedelta(months=n) for n in range(1, moved_days // 28 + 1)]
    return [day for day in starts if day <= bought_on + timedelta(days=moved_days)]


KINDS = ("calibration", "load_test", "inspection")


@dataclass
class Told:
    """What was told, compared with what should have been."""

    effects: int
    doubled: int
    missing: int
    out_of_order: int


async def told(host: Host, place: Place, wanted: Counter[Effect]) -> Told:
    """The effects in the order of each aggregate's own events."""
    seen: Counter[Effect] = Counter()
    last: dict[str, str] = {}
    out_of_order = 0
    for envelope in await _envelopes(host, place.id):
        effect, due = _effect(envelope)
        if effect is None:
            continue
        seen[effect] += 1
        out_of_order += due < last.get(effect[0], "")
        last[effect[0]] = due
    return Told(
        effects=seen.total(),
        doubled=(seen - wanted).total(),
        missing=(wanted - seen).total(),
        out_of_order=out_of_order,
    )


async def _envelopes(host: Host, organization_id: UUID) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for domain in ("identity", "organization", "billing"):
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            rows = await connection.fetch(
                f"SELECT envelope FROM {domain}.outbox WHERE organization_id = $1 "
                f"ORDER BY position",
                organization_id,
            )
        found += [orjson.loads(row["envelope"]) for row in rows]
    return found


def _effect(envelope: dict[str, Any]) -> tuple[Effect | None, str]:
    data = envelope["data"]
    if envelope["type"] == "organization.ExpiryApproaching.v1":
        step = f"{data['on']} {data['daysLeft']}"
        return (data["recordId"], data["kind"], step), data["dueAt"]
    if envelope["type"] == "identity.RoleAssignmentChanged.v1" and data["status"] != "active":
        return (data["roleAssignmentId"], "role", data["status"]), data["validTo"]
    if envelope["type"] == "billing.SubscriptionChanged.v1" and data["change"] == "renewed":
        starts = data["period"]["start"]
        return (data["subscriptionId"], "renewed", starts), starts
    return None, ""


async def settle(host: Host, place: Place, wanted: Counter[Effect], *, seconds: float) -> Told:
    """Wait until nothing is missing, something comes twice, or time is up; then for more sweeps."""

    async def decided() -> bool:
        found = await told(host, place, wanted)
        return found.missing == 0 or found.doubled > 0

    with suppress(TimeoutError):
        await until(decided, seconds=seconds, pause=0.3)
    before = await _sweeps(host, place)

    async def swept() -> bool:
        now = await _sweeps(host, place)
        return all(now[name] >= before[name] + _MORE_SWEEPS for name in before)

    await until(swept)
    return await told(host, place, wanted)


async def _sweeps(host: Host, place: Place) -> dict[str, int]:
    """How often the sweeps that find what is due in such an organization have been done."""
    found = {}
    for domain, sweep in _SWEEPS.items():
        if domain == "billing" and place.subscription is None:
            continue
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            found[domain] = await connection.fetchval(
                f"SELECT count(*) FROM {domain}.inbox WHERE consumer = $1", f"job {sweep}"
            )
    return found


async def until(
    look: Callable[[], Awaitable[bool]], *, seconds: float = 180, pause: float = 0.05
) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await look():
                return
            await asyncio.sleep(pause)


async def furnish(api: httpx2.AsyncClient, host: Host, mode: str) -> Place:
    """Found it over HTTP, wait for its owner's rights, and put machines and members in."""
    founder = await identity.person(host)
    profile = {"legalName": "Mokoena Plant Hire", "legalForm": "private_company"}
    body = {"organizationType": "enterprise", "mode": mode, "profile": profile}
    founded = await api.post("/organizations", json=body, headers=founder.headers)
    made = UUID(founded.json()["id"])
    path = f"/organizations/{made}/equipment"

    async def owned() -> bool:
        return (await api.get(path, headers=founder.headers)).status_code == 200

    await until(owned)
    today = local_day(host.now())
    machines = {}
    for days in MACHINES:
        added = await api.post(path, json=_machine(today, days), headers=founder.headers)
        machines[added.json()["id"]] = days
    members = {}
    for valid_days in ROLES:
        valid = timedelta(days=valid_days)
        member = await identity.member(host, made, role="viewer", valid_for=valid)
        members[await _assignment(host, member)] = (valid_days, member)
    person = (founder.user_id, founder.session_id, founder.token, founder.refresh_token)
    return Place(identity.Member(*person, made, made), machines, members, today)


def _machine(today: date, days: tuple[int, ...]) -> dict[str, Any]:
    expiries = [
        {"kind": kind, "expiresOn": str(today + timedelta(ends))}
        for kind, ends in zip(KINDS, days, strict=False)
    ]
    return {"name": "Digger", "quantity": 1, "expiries": expiries}


async def _assignment(host: Host, member: identity.Member) -> str:
    async with host.engines.connection("identity", "identity_system") as connection:
        return str(
            await connection.fetchval(
                "SELECT id FROM identity.role_assignment WHERE membership_id = $1",
                member.membership_id,
            )
        )


async def written_status(host: Host, assignment: str) -> str:
    """What the row says, whatever time has made of it."""
    async with host.engines.connection("identity", "identity_system") as connection:
        return str(
            await connection.fetchval(
                "SELECT status FROM identity.role_assignment WHERE id = $1", UUID(assignment)
            )
        )


async def ahead_in(host: Host, domain: str, organization_id: UUID) -> timedelta | None:
    """How far a domain knows the organization's clock to be ahead."""
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        found: timedelta | None = await connection.fetchval(
            f"SELECT ahead FROM {domain}.clock_offset WHERE organization_id = $1", organization_id
        )
    return found


def quick(*only: str, at_most: timedelta = _HOUSEKEEPING) -> list[Domain]:
    """The domains, with sweeps that come every moment instead of every ten seconds.

    With names, the other sweeps stay away, and so does what other tests have left behind. Jobs
    that are declared to come less often than `at_most` (they verify and delete) stay away too.
    """

    def rhythm(name: str, declared: timedelta) -> timedelta | None:
        return _RHYTHM if name in only or (not only and declared <= at_most) else None

    return [_with_rhythms(domain, rhythm) for domain in topology.load(topology.DOMAINS)]


def in_proportion(rhythm: timedelta) -> list[Domain]:
    """The domains with all their sweeps but housekeeping. What comes every ten seconds or more
    often comes in this rhythm, what comes every minute at a sixth of it, and so on."""

    def scaled(_: str, declared: timedelta) -> timedelta | None:
        return max(rhythm, declared * (rhythm / _USUAL)) if declared <= _HOUSEKEEPING else None

    return [_with_rhythms(domain, scaled) for domain in topology.load(topology.DOMAINS)]


def quick_of(name: str, *only: str) -> list[Domain]:
    """One domain with quick sweeps: others may have much to do for what other tests left."""
    return [domain for domain in quick(*only, at_most=timedelta.max) if domain.name == name]


def _with_rhythms(domain: Domain, rhythm: Callable[[str, timedelta], timedelta | None]) -> Domain:
    jobs = Jobs(domain.name)
    declared = domain.jobs.declared if domain.jobs else {}
    for name, job in declared.items():
        jobs.declared[name] = replace(job, rhythm=job.rhythm and rhythm(name, job.rhythm))
    return replace(domain, jobs=jobs)


@asynccontextmanager
async def running(sides: Sequence[MeshSide | JobSide]) -> AsyncIterator[None]:
    """A worker's sides while the block lasts."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(side.run(stop)) for side in sides]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)
