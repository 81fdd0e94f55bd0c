"""Tenders that people capture, and how one is published (OPP-16)."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.opportunity.services import tenants
from thenga.domains.opportunity.services.notices import deadlines, documenting, indexing, telling
from thenga.domains.opportunity.services.notices.clock import set_times
from thenga.domains.opportunity.services.releases import closes_at, number_key
from thenga.domains.opportunity.tables import TenderOpportunity, TenderStatus, Visibility
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, Forbidden, Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

MOST_CAPTURES = 5000  # an organization
_ALIKE = 10


class OpportunityNotKeeper(Problem):
    """Only the organization that manages this tender can change it.

    Add your own deadlines, requirements and documents instead; only you will see them.
    """

    code, status = "opportunity-not-keeper", 403
    title = "Another organization manages this tender"


class OpportunityClosingInPast(Problem):
    """The closing date must be in the future. Send a later `closingAt`."""

    code, status, title = "opportunity-closing-in-past", 422, "The closing date has passed"
    members = extensions(closingAt=(str, "Closing date that was sent."))


class OpportunityIncomplete(Problem):
    """A published tender needs more fields. Set those in `missing`, then publish again."""

    code, status = "opportunity-incomplete", 422
    title = "Required fields are missing"
    members = extensions(missing=(list[str], "Fields to set."))


async def keep(work: Work, tender_id: UUID) -> TenderOpportunity:
    """The tender, locked, for its keeper; others are refused."""
    seen = await work.get(TenderOpportunity, tender_id)
    if seen.organization_id != work.organization_id:
        raise OpportunityNotKeeper()
    return await work.lock(TenderOpportunity, tender_id)


async def create(work: Work, fields: dict[str, Any]) -> TenderOpportunity:
    """A draft that only its keeper sees."""
    await check_platform_fields(work, fields)
    check_closing(work, fields.get("closing_at"), fields.get("closing_precision", "minute"))
    count = select(func.count()).where(TenderOpportunity.organization_id == work.organization_id)
    if work.organization_id != OPERATOR and (await work.value(count) or 0) >= MOST_CAPTURES:
        raise RuleViolated(
            f"An organization can capture at most {MOST_CAPTURES} tenders.",
            rule="OPP-18",
            limit=MOST_CAPTURES,
        )
    tender = new_tender(work.organization_id, fields)
    await set_times(work, tender)
    await work.add(tender)
    await indexing.index(work, tender)
    return tender


def new_tender(keeper: UUID, fields: dict[str, Any]) -> TenderOpportunity:
    """A tender with what was sent, and nothing published yet."""
    lists: dict[str, Any] = {"classifications": [], "provinces": [], "doubts": []}
    made = lists | {"terms": {}, "awards": [], "conflicts": []} | columns_of(fields)
    return TenderOpportunity(
        organization_id=keeper, number_key=number_key(made["tender_number"]), **made
    )


def columns_of(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of the wire as columns: the value in two, the buyer in four."""
    made = {name: one for name, one in fields.items() if name not in ("value", "buyer")}
    if "value" in fields:
        value: Money | None = fields["value"]
        made["value_minor"] = None if value is None else value.minor
        made["value_currency"] = None if value is None else value.currency
    if "buyer" in fields:
        made |= fields["buyer"]
    if "closing_at" in made and "closing_confidence" not in fields:
        made["closing_confidence"] = "unknown" if made["closing_at"] is None else "stated"
    return made


def check_closing(work: Work, closing_at: datetime | None, precision: str) -> None:
    """Refuse a closing that has passed."""
    if closing_at is not None and closes_at(closing_at, precision) <= work.now:
        raise OpportunityClosingInPast(closingAt=closing_at.isoformat())


async def check_platform_fields(
    work: Work, fields: dict[str, Any], *, tender_id: UUID | None = None
) -> None:
    """Refuse what only the platform sets, and an ocid that another tender has (OPP-16)."""
    if fields.get("visibility") == Visibility.SHARED:
        _check_may_share(work)
    ocid = fields.get("ocid")
    if ocid is None:
        return
    if not tenants.may_share(work):
        raise Forbidden("Only the platform can give a tender an ocid.")
    found = await work.value(
        select(TenderOpportunity.id).where(
            TenderOpportunity.ocid == ocid,
            TenderOpportunity.shared | (TenderOpportunity.organization_id == work.organization_id),
            TenderOpportunity.id != tender_id,
        )
    )
    if found is not None:
        raise Duplicate(field="ocid", existing={"id": str(found)})


def _check_may_share(work: Work) -> None:
    if not tenants.may_share(work):
        raise Forbidden("Only the platform can share tenders with everyone.")


async def possible_duplicates(read: Reader, tender: TenderOpportunity) -> list[UUID]:
    """Other tenders of the same buyer with the same number (OPP-14); never merged by themselves."""
    visible = TenderOpportunity.shared | (TenderOpportunity.organization_id == read.organization_id)
    statement = select(TenderOpportunity.id).where(
        TenderOpportunity.number_key == tender.number_key,
        func.lower(TenderOpportunity.buyer_name) == tender.buyer_name.lower(),
        TenderOpportunity.id != tender.id,
        visible,
    )
    return await read.values(statement.order_by(TenderOpportunity.id), limit=_ALIKE)


async def publish(
    work: Work, tender: TenderOpportunity, *, visibility: Literal["private", "shared"] | None = None
) -> bool:
    """Publish a draft that its keeper has locked; False if it was published already."""
    if tender.status is not TenderStatus.DRAFT:
        return False
    if visibility is not None:
        tender.visibility = Visibility(visibility)
    if tender.visibility == Visibility.SHARED:
        _check_may_share(work)
    _check_complete(tender)
    check_closing(work, tender.closing_at, tender.closing_precision)
    is_planned = tender.opens_at is not None and tender.opens_at > work.now
    tender.status = TenderStatus.PLANNED if is_planned else TenderStatus.OPEN
    await bring_out(work, tender, basis="captured")
    return True


async def bring_out(
    work: Work,
    tender: TenderOpportunity,
    *,
    basis: str,
    source_record_id: UUID | None = None,
    normaliser_version: int | None = None,
    backfilled: bool = False,
) -> None:
    """Make the first version of a tender that has its status, with dates, search and event."""
    tender.shared = tender.visibility == Visibility.SHARED
    tender.published_at = work.now
    tender.published_on = tender.published_on or local_day(work.now)
    tender.version_number = tender.material_revision = tender.match_revision = 1
    await set_times(work, tender)
    await work.save(tender)
    if tender.shared:
        await _share_children(work, tender)
    await deadlines.refresh_deadlines(work, tender, basis=basis)
    document = await documenting.document_of(work, tender)
    await documenting.add_version(
        work,
        tender,
        document,
        source_record_id=source_record_id,
        normaliser_version=normaliser_version,
    )
    await indexing.index(work, tender)
    await telling.tell_published(work, tender, backfilled=backfilled)


_SHARE = (
    "UPDATE opportunity.briefing SET shared = true WHERE tender_opportunity_id = $1 "
    "AND organization_id = $2 AND NOT shared",
    "UPDATE opportunity.deadline SET shared = true WHERE tender_opportunity_id = $1 "
    "AND organization_id = $2 AND NOT shared",
    "UPDATE opportunity.document SET shared = true WHERE tender_opportunity_id = $1 "
    "AND organization_id = $2 AND NOT shared",
    "UPDATE opportunity.document_page SET shared = true WHERE tender_opportunity_id = $1 "
    "AND organization_id = $2 AND NOT shared",
    "UPDATE opportunity.requirement SET shared = true WHERE tender_opportunity_id = $1 "
    "AND organization_id = $2 AND NOT shared",
)


async def _share_children(work: Work, tender: TenderOpportunity) -> None:
    """What the keeper added to the draft is seen by everybody from now on."""
    for statement in _SHARE:
        await work.run(statement, tender.id, tender.organization_id)


def _check_complete(tender: TenderOpportunity) -> None:
    missing = [
        name
        for name, value in (
            ("title", tender.title),
            ("tenderNumber", tender.tender_number),
            ("buyer", tender.buyer_name),
            ("closingAt", tender.closing_at or tender.opens_at),
        )
        if not value
    ]
    if missing:
        raise OpportunityIncomplete(missing=missing)
