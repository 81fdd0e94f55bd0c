"""A notice that a source sent: a new tender, an amended one, or nothing new (OPP-5, OPP-13)."""

from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.public import BriefingScheduled
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.services.amendments.amending import amend
from thenga.domains.opportunity.services.amendments.moving import end_by_source
from thenga.domains.opportunity.services.releases import VERSION, number_key, status_of
from thenga.domains.opportunity.tables import (
    Briefing,
    BriefingStatus,
    Document,
    Source,
    TenderOpportunity,
    TenderStatus,
)
from thenga.domains.opportunity.values.notices import Notice
from thenga.kernel.db.work import Work

Outcome = Literal["created", "amended", "unchanged"]

_SAME = (
    *("tender_number", "title", "description", "buyer_name", "buyer_sphere", "buyer_regime"),
    *("source_buyer_id", "ocid", "opens_at", "closing_at", "closing_precision", "closing_raw"),
    *("closing_confidence", "time_zone", "method", "method_details", "main_category"),
    *("category_text", "delivery_text", "special_conditions", "source_status"),
)


async def apply_notice(
    work: Work,
    notice: Notice,
    *,
    source: Source,
    record_id: UUID | None,
    backfilled: bool = False,
) -> tuple[Outcome, TenderOpportunity]:
    """Write what a source says of a tender, for the keeper of the source (this work's own).

    Documents of the notice become rows that wait to be fetched.
    """
    tender = await _find(work, notice)
    columns = _columns(notice, source)
    if tender is None:
        return "created", await _create(work, notice, columns, source, record_id, backfilled)
    held = await work.lock(TenderOpportunity, tender.id, beside=True)
    before = held.version
    for name, value in columns.items():
        if name != "published_on" or held.published_on is None:
            setattr(held, name, value)
    held.number_key = number_key(notice.tender_number)
    await _write_briefing(work, held, notice)
    await _write_documents(work, held, notice, source)
    amendment = await amend(
        work,
        held,
        origin="source_diff",
        source_record_id=record_id,
        normaliser_version=VERSION,
    )
    await end_by_source(work, held, TenderStatus(status_of(notice, work.now)))
    changed = amendment is not None or held.version != before
    return ("amended" if changed else "unchanged"), held


async def _find(work: Work, notice: Notice) -> TenderOpportunity | None:
    """The tender of the same ocid, else of the same number and buyer, of this keeper."""
    mine = TenderOpportunity.organization_id == work.organization_id
    if notice.ocid is not None:
        same = TenderOpportunity.ocid == notice.ocid
    else:
        same = (TenderOpportunity.number_key == number_key(notice.tender_number)) & (
            TenderOpportunity.buyer_name == notice.buyer_name
        )
    found = await work.all(select(TenderOpportunity).where(mine, same), limit=1)
    return found[0] if found else None


def _columns(notice: Notice, source: Source) -> dict[str, Any]:
    contact = {
        "name": notice.contact_name,
        "email": notice.contact_email,
        "phone": notice.contact_phone,
    }
    return {name: getattr(notice, name) for name in _SAME} | {
        "classifications": [{"scheme": s, "code": c} for s, c in notice.classifications],
        "value_minor": notice.amount_minor,
        "value_currency": notice.currency if notice.amount_minor is not None else None,
        "provinces": list(notice.provinces),
        "contact": contact if any(contact.values()) else None,
        "published_on": notice.published_on,
        "awards": [_award(one) for one in notice.awards],
        "doubts": list(notice.doubts),
        "primary_source_id": source.id,
        "source_rank": source.rank,
    }


def _award(award: Any) -> dict[str, Any]:
    amount = award.amount_minor
    value = None
    if amount is not None and award.currency is not None:
        value = {"amount": f"{amount // 100}.{amount % 100:02d}", "currency": award.currency}
    return {
        "awardId": award.award_id,
        "status": award.status,
        "date": None if award.awarded_on is None else award.awarded_on.isoformat(),
        "supplierName": award.supplier_name,
        "value": value,
    }


async def _create(
    work: Work,
    notice: Notice,
    columns: dict[str, Any],
    source: Source,
    record_id: UUID | None,
    backfilled: bool,
) -> TenderOpportunity:
    visibility = "shared" if source.shared else "private"
    tender = notices.new_tender(work.organization_id, columns | {"visibility": visibility})
    await work.add(tender)
    await work.hold(tender)
    await _write_briefing(work, tender, notice)
    await _write_documents(work, tender, notice, source)
    tender.status = TenderStatus(status_of(notice, work.now))
    await notices.bring_out(
        work,
        tender,
        basis="source",
        source_record_id=record_id,
        normaliser_version=VERSION,
        backfilled=backfilled,
    )
    return tender


async def _write_briefing(work: Work, tender: TenderOpportunity, notice: Notice) -> None:
    """The one briefing that a notice of a feed can name; a new time moves it."""
    told = notice.briefing
    if told is None:
        return  # what vanishes from a feed is not gone (OPP-6)
    kept = Briefing.organization_id == tender.organization_id
    statement = select(Briefing).where(
        Briefing.tender_opportunity_id == tender.id, kept, Briefing.note.is_(None)
    )
    known = await work.all(statement.order_by(Briefing.id), limit=1)
    if not known:
        briefing = Briefing(
            organization_id=tender.organization_id,
            shared=tender.shared,
            tender_opportunity_id=tender.id,
            starts_at=told.starts_at,
            time_zone=tender.time_zone,
            venue=told.venue,
            compulsory=told.compulsory,
            moved_from=[],
            doubts=[],
        )
        await work.add(briefing)
        if tender.version_number:
            tell_briefing(work, tender, briefing, before=None)
        return
    briefing = await work.hold(known[0])
    before = briefing.starts_at
    if before != told.starts_at:
        briefing.moved_from = [*briefing.moved_from, before.isoformat()]
        briefing.starts_at = told.starts_at
    briefing.venue, briefing.compulsory = told.venue, told.compulsory
    if work.changes(briefing):
        await work.save(briefing)
        tell_briefing(work, tender, briefing, before=before if before != told.starts_at else None)


def tell_briefing(
    work: Work, tender: TenderOpportunity, briefing: Briefing, *, before: Any
) -> None:
    """A briefing was scheduled, moved or cancelled; `before` is the time that held until now."""
    event = BriefingScheduled(
        organization_id=None if briefing.shared else briefing.organization_id,
        briefing_id=briefing.id,
        tender_opportunity_id=tender.id,
        kind=briefing.kind,  # type: ignore[arg-type]  # the column holds no other
        starts_at=briefing.starts_at,
        time_zone=briefing.time_zone,
        compulsory=briefing.compulsory,
        state="cancelled" if briefing.status is BriefingStatus.CANCELLED else "scheduled",
        previous_starts_at=before,
        label=notices.label_of(tender),
    )
    notices.tell(work, event, shared=briefing.shared)


async def _write_documents(
    work: Work, tender: TenderOpportunity, notice: Notice, source: Source
) -> None:
    """New links become documents that wait to be fetched; known ones stay as they are."""
    kept = Document.organization_id == tender.organization_id
    statement = select(Document.url).where(Document.tender_opportunity_id == tender.id, kept)
    known = set(await work.values(statement))
    for one in notice.documents:
        if one.url in known:
            continue
        known.add(one.url)
        await work.add(
            Document(
                organization_id=tender.organization_id,
                shared=tender.shared,
                tender_opportunity_id=tender.id,
                title=one.title[:300],
                url=one.url,
                document_type=one.document_type,
                language=notice.language,
                source_id=source.id,
                source_document_id=one.source_id,
                next_check_at=work.now,
            )
        )
