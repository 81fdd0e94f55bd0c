"""Routes of the probe: one of each kind of entrance, mounted beside the real domains."""

import asyncio
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query
from fastapi import Path as InPath
from sqlalchemy import select

from tests.probe import Thing, ThingChanged, ThingMade
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.errors import Conflict, Unauthenticated
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import SignedCall, reads, signed, uploads, writes
from thenga.kernel.values.fields import text, whole

SECRET = b"a secret that both sides know"


class Permission(StrEnum):
    READ = "probe:thing:read"
    MAKE = "probe:thing:make"
    SEAL = "probe:thing:seal"


class MakeThing(Body):
    name: Annotated[str, text(1, 80)]
    amount: Annotated[int, whole(0, 1000)] = 0


class ThingView(Stored):
    name: str
    amount: int
    password: Annotated[str | None, SHOWN_ONCE] = None


class Counted(View):
    count: int


class Shelf(View):
    """All that an organization has: what it counts moves without its version."""

    version: int
    count: int


class Scheme:
    """A provider that signs the raw body with HMAC-SHA-256."""

    async def verify(
        self, host: Any, path: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> SignedCall:
        right = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(right.encode(), headers.get("signature", "").encode()):
            raise Unauthenticated("The signature is not right.")
        return SignedCall(headers["event-id"], UUID(headers["for-organization"]))


router = make_router("Probe")
ThingId = Annotated[UUID, InPath(alias="thingId")]
OrganizationId = Annotated[UUID, InPath(alias="organizationId")]
BASE = "/probe/{organizationId}/things"


async def _make(work: Work, name: str, amount: int = 0) -> Thing:
    thing = await work.add(Thing(organization_id=work.organization_id, name=name, amount=amount))
    work.publish(ThingMade(organization_id=work.organization_id, thing_id=thing.id))
    return thing


def view(thing: Thing, password: str | None = None) -> ThingView:
    return ThingView.shown({**thing.__dict__, "password": password})


async def make_thing(
    organization_id: OrganizationId,
    body: MakeThing,
    work: Annotated[Work, writes(Permission.MAKE)],
) -> ThingView:
    """Make a thing; its password is shown once."""
    return view(await _make(work, body.name, body.amount), password="canary-shown-once")


async def get_thing(
    organization_id: OrganizationId,
    thing_id: ThingId,
    read: Annotated[Reader, reads(Permission.READ)],
) -> ThingView:
    """One thing."""
    return view(await read.get(Thing, thing_id))


@dataclass(frozen=True)
class ThingFilters:
    """Query parameters that several routes share."""

    name: Annotated[str | None, Query(), text(1, 80)] = None
    least: Annotated[int, Query(alias="amountFrom", ge=0)] = 0


async def get_shelf(
    read: Annotated[Reader, reads(Permission.READ)], filters: Annotated[ThingFilters, Depends()]
) -> Shelf:
    """One address that shows each organization its own."""
    found = select(Thing).where(Thing.amount >= filters.least)
    if filters.name is not None:
        found = found.where(Thing.name == filters.name)
    return Shelf(version=1, count=len(await read.all(found)))


async def change_thing(
    organization_id: OrganizationId,
    thing_id: ThingId,
    body: MakeThing,
    work: Annotated[Work, writes(Permission.MAKE, if_match=True)],
) -> ThingView:
    """Change a thing; the version read must be named."""
    thing = await work.lock(Thing, thing_id)
    thing.amount = body.amount
    await work.save(thing)
    work.publish(
        ThingChanged(organization_id=work.organization_id, thing_id=thing.id, amount=thing.amount)
    )
    return view(thing)


async def seal_thing(
    organization_id: OrganizationId,
    thing_id: ThingId,
    work: Annotated[Work, writes(Permission.SEAL)],
) -> ThingView:
    """Seal a thing, which only a person may."""
    return view(await work.lock(Thing, thing_id))


_LIVES = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"


async def break_commit(
    organization_id: OrganizationId, work: Annotated[Work, writes(Permission.MAKE)]
) -> ThingView:
    """Make a thing and lose the connection before the commit."""
    thing = await _make(work, "never seen")
    (session,) = await work.query("SELECT pg_backend_pid() AS pid")
    await work.run("SELECT set_config('idle_in_transaction_session_timeout', '1', true)")
    # A busy server ends the session when it gets to it, so this waits for the end itself.
    async with work.host.engines.connection("probe", "probe") as other, asyncio.timeout(30):
        while await other.fetchval(_LIVES, session["pid"]):
            await asyncio.sleep(0.01)
    return view(thing)


async def forget_to_save(
    organization_id: OrganizationId,
    thing_id: ThingId,
    work: Annotated[Work, writes(Permission.MAKE)],
) -> ThingView:
    """Change a locked row and forget to save it."""
    thing = await work.lock(Thing, thing_id)
    thing.amount += 1
    return view(thing)


async def refuse_and_keep(
    organization_id: OrganizationId, work: Annotated[Work, writes(Permission.MAKE)]
) -> ThingView:
    """Refuse, and keep what was done."""
    await _make(work, "kept")
    raise Conflict("refused").keeping()


async def upload(
    organization_id: OrganizationId, work: Annotated[Work, uploads(Permission.MAKE)]
) -> Counted:
    """Count the bytes of an upload as they come."""
    assert work.upload is not None
    count = 0
    async for part in work.upload:
        count += len(part)
    return Counted(count=count)


async def call_back(work: Annotated[Work, signed(Scheme())]) -> Counted:
    """A provider's callback: one thing for each event."""
    await _make(work, "called back")
    return Counted(count=1)


for path, function, method, status in (
    (BASE, make_thing, "POST", 201),
    (f"{BASE}/{{thingId}}", get_thing, "GET", 200),
    ("/probe/shelf", get_shelf, "GET", 200),
    (f"{BASE}/{{thingId}}", change_thing, "PATCH", 200),
    (f"{BASE}/{{thingId}}/seal", seal_thing, "POST", 200),
    (f"{BASE}/break", break_commit, "POST", 200),
    (f"{BASE}/{{thingId}}/forget", forget_to_save, "POST", 200),
    (f"{BASE}/keep", refuse_and_keep, "POST", 200),
    (f"{BASE}/upload", upload, "POST", 200),
    ("/probe/callbacks", call_back, "POST", 200),
):
    function.__domain__ = "probe"  # type: ignore[attr-defined]  # a domain's module says it itself
    router.add_api_route(path, function, methods=[method], status_code=status)

DOMAIN = Domain(
    name="probe",
    home=Path(__file__).parent,
    routers=(router,),
    permissions=(
        Granted(Permission.READ, "Read things", (Audience.TENANT,), ("viewer",)),
        Granted(Permission.MAKE, "Make things", (Audience.TENANT,)),
        Granted(Permission.SEAL, "Seal things", (Audience.TENANT,), people_only=True),
    ),
    events=(ThingMade, ThingChanged),
)
