"""Categories and listings, made by the services."""

from typing import Any
from uuid import UUID

from tests.factories import held
from tests.factories import supplier as suppliers
from tests.factories.notification_deliveries import with_ports
from thenga.domains.marketplace.reactions import reactions
from thenga.domains.marketplace.schemas.categories import CreateCategory
from thenga.domains.marketplace.schemas.listings import CreateListing, ModerateListing
from thenga.domains.marketplace.services import categories, listings, moderation
from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.tables.listings import Listing, ListingVersion
from thenga.domains.supplier.public import Suppliers
from thenga.domains.supplier.services import suppliers as supplier_services
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope, Event
from thenga.kernel.ports.binding import Unbound
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

_ORIGIN = Origin(action="factory", request_id="factory", correlation_id="factory")
CONTENT: dict[str, Any] = {
    "title": "Concrete pipe culverts, supplied and laid",
    "summary": "Culverts up to 900 mm for municipal roads, laid by our own team.",
    "description": "Pipes to SANS 677. We survey, excavate, lay and backfill.",
    "classifications": ["30", "721410"],
    "areas": {"provinces": ["GP", "NW"], "municipalities": ["EKU"]},
    "keywords": ["stormwater", "culvert"],
    "pricing": {"model": "from", "amount": {"amount": "1450.00", "currency": "ZAR"}, "unit": "m"},
    "leadTimeDays": 14,
    "minimumOrder": "20 m",
}


def working(host: Host, organization_id: UUID) -> Work:
    return Work(host, "marketplace", Scope(actor=SYSTEM, organization_id=organization_id), _ORIGIN)


def answered(host: Host) -> Host:
    """The same host, with ports where walks have none: a listing asks Supplier and Identity."""
    try:
        host.bindings.of(Suppliers)
    except Unbound:
        return with_ports(host)
    return host


def moderating(host: Host, person: UUID | None = None) -> Work:
    """A unit of work of a moderator, as the entrance opens it."""
    actor = Actor(kind=ActorKind.USER, id=person or new_id())
    scope = Scope(actor=actor, organization_id=OPERATOR, platform=True)
    work = Work(host, "marketplace", scope, _ORIGIN)
    work.held_as = "platform"
    return work


async def category(host: Host, **body: Any) -> Category:
    """A category with a code of its own, or what `body` says."""
    given = {"code": f"pipes-{new_id().hex[-12:]}", "names": {"en": "Pipes and culverts"}} | body
    work = working(host, OPERATOR)
    made = await categories.create_category(work, CreateCategory.model_validate(given))
    await work.finish()
    return made


async def provider(host: Host, organization_id: UUID, plan: str = "enterprise") -> UUID:
    """Make an organization an own supplier with a plan; the supplier."""
    work = suppliers.working(host, organization_id)
    known = await supplier_services.own_supplier(work)
    await work.close()
    if known is not None:
        return known.id
    await held.subscribed(host, organization_id, plan)
    return (await suppliers.supplier(host, organization_id, **suppliers.OWN, name=None)).id


async def content(host: Host, **fields: Any) -> dict[str, Any]:
    """What a listing says, in a category of its own, under a title of its own."""
    found = CONTENT | {"title": f"Pipe culverts {new_id().hex[-12:]}"} | fields
    if "categoryIds" not in found:
        found["categoryIds"] = [str((await category(host)).id)]
    return found


async def listing(
    host: Host,
    organization_id: UUID,
    *,
    submit: bool = True,
    visibility: str = "tenants",
    **said: Any,
) -> Listing:
    """A listing that waits for its first review, or a draft."""
    await provider(host, organization_id)
    given = {
        "kind": "service",
        "content": await content(host, **said),
        "submit": submit,
        "visibility": visibility,
    }
    work = working(answered(host), organization_id)
    try:
        made = await listings.create_listing(work, CreateListing.model_validate(given))
        await work.finish()
    finally:  # a refusal must not leave the provider locked
        await work.close()
    return made


async def published(host: Host, organization_id: UUID, **said: Any) -> Listing:
    """A listing that a moderator published."""
    made = await listing(host, organization_id, **said)
    return await decide(host, made, "publish")


async def decide(host: Host, made: Listing, decision: str, *codes: str) -> Listing:
    """What a moderator decides about the open version, or about the live one."""
    reading = working(host, made.organization_id)
    number = made.open_version or made.live_version
    version = await reading.find(ListingVersion, listing_id=made.id, number=number)
    await reading.close()
    assert version is not None
    given = {
        "versionNumber": version.number,
        "contentHash": version.content_hash,
        "decision": decision,
        "reasonCodes": list(codes) or ["in_order"],
    }
    work = moderating(answered(host))
    decided = await moderation.moderate(work, made.id, ModerateListing.model_validate(given))
    await work.finish()
    return decided


async def hear(host: Host, organization_id: UUID, event: Event, *, sequence: int = 1) -> None:
    """React to an event of another domain, as the consumer would."""
    work = working(host, organization_id)
    work.envelope = Envelope(
        id=new_id(),
        type=event.type,
        source=f"/{event.domain()}",
        subject=event.aggregate,
        time=work.now,
        organizationid=organization_id,
        sequence=sequence,
        data=event.model_dump(mode="json", by_alias=True),
    )
    for reaction in reactions.all:
        if reaction.event_type == event.type:
            await reaction.handle(work, work.envelope)
    await work.finish()
