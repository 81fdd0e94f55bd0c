"""The lists of a release: documents, which the portal calls `basic`, and awards (OPP-7)."""

import re
from typing import Any

from thenga.domains.opportunity.services.releases import cleaning
from thenga.domains.opportunity.services.releases.cleaning import Report
from thenga.domains.opportunity.values.feeds import FeedClock
from thenga.domains.opportunity.values.notices import NoticeAward, NoticeDocument

_MOST_DOCUMENTS = 500
_MOST_URL = 2000
_AWARD_STATUSES = frozenset({"pending", "active", "cancelled", "unsuccessful"})
_MOST_AWARDS = 50
_TYPES = (
    (re.compile(r"addend|erratum|corrigend", re.I), "addendum"),
    (re.compile(r"\bboq\b|bills? of quantit", re.I), "billOfQuantity"),
    (re.compile(r"clarif|questions and answers", re.I), "clarifications"),
    (
        re.compile(r"terms of reference|\btor\b|specification|drawing", re.I),
        "technicalSpecifications",
    ),
    (re.compile(r"evaluation criteria|functionality", re.I), "evaluationCriteria"),
    (re.compile(r"advert|notice|invitation", re.I), "tenderNotice"),
)


def read_documents(
    tender: dict[str, Any], clock: FeedClock, report: Report
) -> tuple[NoticeDocument, ...]:
    """The documents of a release in its order; one without an address cannot be fetched."""
    found = []
    for place, document in enumerate(
        cleaning.items(tender, "documents", "/tender")[:_MOST_DOCUMENTS]
    ):
        pointer = f"/tender/documents/{place}"
        url = cleaning.text(document, "url", pointer, report, most=_MOST_URL)
        if url is None:
            report.missing(f"{pointer}/url", "document_without_address")
            continue
        title = cleaning.text(document, "title", pointer, report, most=300) or "Tender document"
        at = cleaning.time(document, "datePublished", pointer, report, clock)
        source_id = cleaning.text(document, "id", pointer, report, most=120) or url
        kind = document_type(title)
        found.append(NoticeDocument(source_id, title, url, kind, at.at if at else None))
    return tuple(found)


def document_type(title: str) -> str:
    """What a document is, by its title."""
    return next((kind for known, kind in _TYPES if known.search(title)), "biddingDocuments")


def read_awards(release: dict[str, Any], report: Report) -> tuple[NoticeAward, ...]:
    """The awards of a release, at most 50."""
    found = cleaning.items(release, "awards", "")[:_MOST_AWARDS]
    return tuple(_award(award, f"/awards/{place}", report) for place, award in enumerate(found))


def _award(award: dict[str, Any], pointer: str, report: Report) -> NoticeAward:
    suppliers = cleaning.items(award, "suppliers", pointer)
    names = [
        cleaning.text(supplier, "name", f"{pointer}/suppliers/{place}", report, most=300)
        for place, supplier in enumerate(suppliers)
    ]
    supplier_name = next((name for name in names if name), None)
    value = cleaning.money(cleaning.part(award, "value", pointer), f"{pointer}/value", report)
    if supplier_name is None or value is None:
        report.missing(pointer, "award_unknown")
    status = award.get("status")
    return NoticeAward(
        award_id=cleaning.text(award, "id", pointer, report, most=120) or pointer,
        status=str(status) if status in _AWARD_STATUSES else "active",
        awarded_on=cleaning.day(award, "date", pointer, report),
        supplier_name=supplier_name,
        amount_minor=value[0] if value else None,
        currency=value[1] if value else None,
    )
