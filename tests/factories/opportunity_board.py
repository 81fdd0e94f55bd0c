"""Shared tenders, companies with a match profile, and the system's side of matching."""

import json
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import select

from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga.domains.opportunity.services import board, notices, tenants
from thenga.domains.opportunity.services.matching import ProfileFeatures
from thenga.domains.opportunity.tables import (
    Briefing,
    MatchProfile,
    Qualification,
    Requirement,
    SavedOpportunity,
    TenderOpportunity,
    Watchlist,
)
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

R = TypeVar("R", bound=Row)
ORIGIN = Origin(action="factory", request_id="factory", correlation_id="factory")


def working(host: Host, organization_id: UUID | None = None, *, system: bool = False) -> Work:
    login = "opportunity_system" if system else None
    return Work(host, "opportunity", Scope(SYSTEM, organization_id), ORIGIN, login=login)


async def company(
    host: Host, features: ProfileFeatures | None = None, *, organization_id: UUID | None = None
) -> UUID:
    """An organization that is known, with what matching reads of it."""
    made = organization_id or uuid4()
    await known(host, made)
    work = working(host, made)
    await work.add(
        MatchProfile(
            organization_id=made,
            features=(features or ProfileFeatures()).to_row(),
            preferences={},
            blockers=[],
            fact_refs=[],
            revision=1,
        )
    )
    await work.finish()
    return made


async def owner_of(host: Host, organization_id: UUID) -> Member:
    return await people.member(host, organization_id, role="owner")


async def shared_tender(
    host: Host, *, closes_in: timedelta = timedelta(days=23), **fields: Any
) -> TenderOpportunity:
    """A tender of the platform that everybody sees."""
    work = working(host, OPERATOR)
    closing: datetime = work.now + closes_in
    given: dict[str, Any] = {
        "tender_number": f"SCM {uuid4().hex[:12]}/2026",
        "title": "Repair of the road to the school",
        "buyer": {"buyer_name": "Department of Works", "buyer_sphere": "provincial"},
        "closing_at": closing,
        "provinces": ["KZN"],
        "method": "open",
        "classifications": [{"scheme": "unspsc", "code": "72141100"}],
        "visibility": "shared",
    }
    tender = await notices.create(work, given | fields)
    held = await work.hold(tender)
    await notices.publish(work, held)
    await work.save(held)
    await work.finish()
    return await get(host, TenderOpportunity, tender.id, OPERATOR)


async def requirement(
    host: Host, tender: TenderOpportunity, criterion: dict[str, Any], **fields: Any
) -> Requirement:
    """A shared requirement of a tender."""
    work = working(host, tender.organization_id)
    row = Requirement(
        organization_id=tender.organization_id,
        shared=tender.shared,
        tender_opportunity_id=tender.id,
        criterion=criterion,
        criterion_kind=criterion["kind"],
        **{
            "requirement_class": "mandatory",
            "title": criterion["kind"],
            "evidence_kinds": [],
            "gate": "hard",
            "ordinal": 1,
            "since_set": 1,
        }
        | fields,
    )
    await work.add(row)
    await work.finish()
    return row


async def briefing(host: Host, tender: TenderOpportunity, starts_at: datetime) -> Briefing:
    """A compulsory briefing of a shared tender."""
    work = working(host, tender.organization_id)
    row = Briefing(
        organization_id=tender.organization_id,
        shared=tender.shared,
        tender_opportunity_id=tender.id,
        starts_at=starts_at,
        compulsory=True,
        moved_from=[],
        doubts=[],
    )
    await work.add(row)
    await work.finish()
    return row


async def get(host: Host, row: type[R], row_id: UUID, organization_id: UUID) -> R:
    work = working(host, organization_id)
    try:
        return await work.get(row, row_id)
    finally:
        await work.close()


async def rows(host: Host, row: type[R], organization_id: UUID, **columns: Any) -> list[R]:
    """The rows of an organization with these values."""
    work = working(host, organization_id)
    chosen = [row.__table__.c[name] == value for name, value in columns.items()]
    try:
        return await work.all(select(row).where(*chosen).order_by(row.__table__.c.id))
    finally:
        await work.close()


async def told(host: Host, organization_id: UUID, kind: str) -> list[dict[str, Any]]:
    """The data of events of one type that were published for an organization, in order."""
    async with host.engines.connection("opportunity", "opportunity_system") as connection:
        found = await connection.fetch(
            "SELECT envelope FROM opportunity.outbox WHERE organization_id = $1 ORDER BY id",
            organization_id,
        )
    envelopes = [json.loads(one[0]) for one in found]
    return [one for one in envelopes if one["type"] == f"opportunity.{kind}.v1"]


async def percolated(host: Host, tender: TenderOpportunity) -> int:
    """Record which watchlists a shared tender fits, as the system does."""
    work = working(host, system=True)
    count = await board.percolate(work, tender)
    await work.finish()
    return count


async def alerted(host: Host, organization_id: UUID, tender: TenderOpportunity) -> None:
    """Tell a company of a tender, as its job does."""
    work = working(host, organization_id)
    await board.alert_company(work, tender.id, tender.material_revision)
    await work.finish()


async def room_for_watchlists(host: Host, organization_id: UUID, count: int) -> None:
    """A plan with room for so many watchlists."""
    await held.granted(host, organization_id, "opportunity.watchlists", count)


async def known(host: Host, organization_id: UUID) -> None:
    """An organization that Opportunity was told of."""
    work = working(host, organization_id)
    await tenants.TENANTS.know(work, organization_type="company", sandbox=False)
    await work.finish()


async def watchlist(host: Host, organization_id: UUID, **fields: Any) -> Watchlist:
    """A watchlist that everybody in the organization sees."""
    name = f"Roads {uuid4().hex[:12]}"
    work = working(host, organization_id)
    given: dict[str, Any] = {
        "name": name,
        "name_key": name.casefold(),
        "filters": {"province": "KZN"},
        "province": "KZN",
        "alert_on": ["published"],
        "is_shared": True,
    }
    made = await work.add(Watchlist(organization_id=organization_id, **given | fields))
    await work.finish()
    return made


async def saved(host: Host, organization_id: UUID, tender_id: UUID) -> SavedOpportunity:
    """A tender on the board of an organization."""
    work = working(host, organization_id)
    made = await board.save(work, tender_id, {})
    await work.finish()
    return made


async def qualification(host: Host, organization_id: UUID, tender_id: UUID) -> Qualification:
    """A draft of a qualification."""
    work = working(host, organization_id)
    made = await work.add(
        Qualification(
            organization_id=organization_id,
            tender_opportunity_id=tender_id,
            revision=1,
            answers=[],
            self_scores={},
            criteria=[],
            inputs={},
            stale_reasons=[],
        )
    )
    await work.finish()
    return made
