"""The whole document of a tender, as versions keep it and amendments compare it."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity.tables import (
    Briefing,
    Document,
    Requirement,
    RequirementStatus,
    TenderOpportunity,
    TenderVersion,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money

# The fields of a notice by the names of the wire.
FIELDS = {
    "tenderNumber": "tender_number",
    "title": "title",
    "description": "description",
    "ocid": "ocid",
    "opensAt": "opens_at",
    "closingAt": "closing_at",
    "closingPrecision": "closing_precision",
    "timeZone": "time_zone",
    "method": "method",
    "methodDetails": "method_details",
    "mainCategory": "main_category",
    "categoryText": "category_text",
    "classifications": "classifications",
    "provinces": "provinces",
    "municipalityCode": "municipality_code",
    "deliveryText": "delivery_text",
    "specialConditions": "special_conditions",
    "contact": "contact",
}
_BUYER = {
    "name": "buyer_name",
    "sphere": "buyer_sphere",
    "regime": "buyer_regime",
    "sourceBuyerId": "source_buyer_id",
}


async def document_of(read: Reader, tender: TenderOpportunity) -> dict[str, Any]:
    """The notice with the briefings, documents and requirements of its keeper."""
    made: dict[str, Any] = {
        name: _plain(getattr(tender, column)) for name, column in FIELDS.items()
    }
    made["buyer"] = {name: getattr(tender, column) for name, column in _BUYER.items()}
    value = value_of(tender)
    made["value"] = None if value is None else {"amount": value.amount, "currency": value.currency}
    made["terms"] = tender.terms
    made["briefings"] = {
        str(one.id): {
            "kind": one.kind,
            "startsAt": _plain(one.starts_at),
            "venue": one.venue,
            "compulsory": one.compulsory,
            "status": str(one.status),
        }
        for one in await _kept(read, Briefing, tender)
    }
    made["documents"] = {
        str(one.id): {
            "title": one.title,
            "documentType": one.document_type,
            "url": one.url,
            "sha256": one.sha256,
        }
        for one in await _kept(read, Document, tender)
        if one.superseded_by is None
    }
    made["requirements"] = {
        str(one.id): {
            "class": one.requirement_class,
            "criterion": one.criterion,
            "title": one.title,
            "points": None if one.points is None else str(one.points),
        }
        for one in await _kept(read, Requirement, tender)
        if one.status is RequirementStatus.ACTIVE
    }
    return made


async def add_version(
    work: Work,
    tender: TenderOpportunity,
    document: dict[str, Any],
    *,
    source_record_id: UUID | None,
    normaliser_version: int | None,
) -> None:
    """Keep the document under the number that the tender has now."""
    await work.add(
        TenderVersion(
            organization_id=tender.organization_id,
            shared=tender.shared,
            tender_opportunity_id=tender.id,
            number=tender.version_number,
            document=document,
            source_record_id=source_record_id,
            normaliser_version=normaliser_version,
        )
    )


async def version_of(read: Reader, tender: TenderOpportunity) -> TenderVersion | None:
    """The newest version."""
    return await read.find(
        TenderVersion, tender_opportunity_id=tender.id, number=tender.version_number
    )


def value_of(tender: TenderOpportunity) -> Money | None:
    """The estimated value, where the notice says one."""
    if tender.value_minor is None or tender.value_currency is None:
        return None
    return Money(tender.value_minor, tender.value_currency)


async def _kept(read: Reader, row: Any, tender: TenderOpportunity) -> list[Any]:
    mine = row.organization_id == tender.organization_id
    statement = select(row).where(row.tender_opportunity_id == tender.id, mine).order_by(row.id)
    return await read.all(statement)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else value
