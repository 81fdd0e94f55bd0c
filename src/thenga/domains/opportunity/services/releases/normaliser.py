"""Reads one OCDS release of eTenders with all its faults; pure, so it can be repeated (OPP-7)."""

from datetime import UTC, datetime
from typing import Any

import rfc8785

from thenga.domains.opportunity.services.releases import cleaning, outcomes, places
from thenga.domains.opportunity.services.releases.buyers import regime_of, sphere_of
from thenga.domains.opportunity.services.releases.categories import category_of
from thenga.domains.opportunity.services.releases.cleaning import Rejected, Report
from thenga.domains.opportunity.services.releases.identity import content_hash, cut_number
from thenga.domains.opportunity.services.releases.lists import read_awards, read_documents
from thenga.domains.opportunity.values.feeds import FeedClock
from thenga.domains.opportunity.values.notices import Notice, NoticeBriefing, Reading

VERSION = 1
_TENDER = "/tender"
_METHODS = frozenset({"open", "selective", "limited", "direct"})
_MAIN = frozenset({"goods", "works", "services"})
_MOST_NUMBER, _MOST_TITLE, _MOST_TEXT = 120, 500, 20_000


def normalise(release: Any, clock: FeedClock, *, received_at: datetime) -> Reading:
    """The notice of a release and the report of its repairs, or the finding that rejects it."""
    key, digest = None, None
    report = Report()
    try:
        if not isinstance(release, dict):
            raise Rejected("", "shape_unknown", type(release).__name__)
        key = _ocid(release)
        digest = content_hash(release)
        notice = _notice(release, key, clock, report, received_at)
    except Rejected as rejected:
        return Reading(key, digest, None, (*report.lines, rejected.finding))
    except rfc8785.CanonicalizationError:
        return Reading(key, None, None, (Rejected("", "number_unreadable").finding,))
    return Reading(key, digest, notice, tuple(report.lines))


def _is_plain(key: str) -> bool:
    return key.isascii() and key.isprintable()


def unreadable(release: Any) -> Reading:
    """The reading of a release that no rule of ours expected."""
    key = release.get("ocid") if isinstance(release, dict) else None
    known = key if isinstance(key, str) and _is_plain(key) else None
    return Reading(known, None, None, (Rejected("", "unreadable").finding,))


def _ocid(release: dict[str, Any]) -> str:
    ocid = release.get("ocid")
    if not isinstance(ocid, str) or not 6 <= len(ocid.strip()) <= 120 or not _is_plain(ocid):
        raise Rejected("/ocid", "ocid_missing", ocid)
    return ocid.strip()


def _notice(
    release: dict[str, Any], ocid: str, clock: FeedClock, report: Report, received_at: datetime
) -> Notice:
    tender = cleaning.part(release, "tender", "")
    if not tender:
        raise Rejected(_TENDER, "tender_missing")
    published_on = cleaning.day(release, "date", "", report)
    published = (
        datetime(published_on.year, published_on.month, published_on.day, tzinfo=UTC)
        if published_on
        else None
    )
    clock = clock.on(published)
    sphere = sphere_of(buyer := _buyer(release, tender, report))
    notice = Notice(
        source_key=ocid,
        ocid=ocid,
        source_status=_status(tender),
        buyer_name=buyer,
        buyer_sphere=sphere,
        buyer_regime=regime_of(sphere),
        source_buyer_id=_buyer_id(release, tender, report),
        published_on=published_on,
        time_zone=clock.time_zone,
        language=_language(release, report),
        **_names(tender, report),
        **_times(tender, clock, report),
        **_kind(tender, report),
        **_value(tender, report),
        **_places(tender, report),
        **_contact(tender, report),
        briefing=_briefing(tender, clock, report),
        documents=read_documents(tender, clock, report),
        awards=read_awards(release, report),
    )
    _note_outcome(notice, report, received_at)
    return notice


def _status(tender: dict[str, Any]) -> str:
    found = tender.get("status")
    if found not in outcomes.STATUSES:
        raise Rejected(f"{_TENDER}/status", "status_unknown", found)
    return str(found)


def _buyer(release: dict[str, Any], tender: dict[str, Any], report: Report) -> str:
    for holder, name, pointer in ((release, "buyer", ""), (tender, "procuringEntity", _TENDER)):
        party = cleaning.part(holder, name, pointer)
        found = cleaning.text(party, "name", f"{pointer}/{name}", report, most=300)
        if found is not None:
            return " ".join(found.split())
    raise Rejected("/buyer/name", "buyer_missing")


def _buyer_id(release: dict[str, Any], tender: dict[str, Any], report: Report) -> str | None:
    for holder, name in ((release, "buyer"), (tender, "procuringEntity")):
        party = holder.get(name) or {}
        if found := cleaning.text(party, "id", f"/{name}", report, most=60):
            return found
    return None


def _language(release: dict[str, Any], report: Report) -> str | None:
    found = cleaning.text(release, "language", "", report, most=20)
    if found is None:
        return None
    plain = found[:2].lower()
    if plain != found:
        report.repaired("/language", "language_cleaned", found, plain)
    return plain


def _names(tender: dict[str, Any], report: Report) -> dict[str, Any]:
    """Number and title: the portal writes the number as title and the title as description."""
    number = cleaning.text(tender, "title", _TENDER, report, most=_MOST_NUMBER)
    if number is None:
        raise Rejected(f"{_TENDER}/title", "number_missing", tender.get("title"))
    number = " ".join(number.split())
    described = cleaning.text(tender, "description", _TENDER, report, most=_MOST_TEXT)
    if described is None:
        report.doubtful(f"{_TENDER}/description", "title_missing", after=number)
        return {"tender_number": number, "title": number}
    report.repaired(f"{_TENDER}/title", "number_in_title", number)
    title = " ".join(described.split())
    if (rest := cut_number(title, number)) is not None:
        report.repaired(f"{_TENDER}/description", "number_prefix_cut", title, rest)
        title = rest
    if len(title) <= _MOST_TITLE:
        return {"tender_number": number, "title": title}
    return {"tender_number": number, "title": title[:_MOST_TITLE], "description": described}


def _times(tender: dict[str, Any], clock: FeedClock, report: Report) -> dict[str, Any]:
    period = cleaning.part(tender, "tenderPeriod", _TENDER)
    pointer = f"{_TENDER}/tenderPeriod"
    opens = cleaning.time(period, "startDate", pointer, report, clock)
    closes = cleaning.time(period, "endDate", pointer, report, clock)
    if closes is None:
        report.missing(f"{pointer}/endDate", "closing_missing", period.get("endDate"))
        return {"opens_at": opens.at if opens else None}
    return {
        "opens_at": opens.at if opens else None,
        "closing_at": closes.at,
        "closing_precision": "minute" if closes.has_time else "day",
        "closing_raw": str(period["endDate"])[:60],
        "closing_confidence": "derived" if closes.is_relocalised else "stated",
    }


def _kind(tender: dict[str, Any], report: Report) -> dict[str, Any]:
    method = tender.get("procurementMethod")
    main = tender.get("mainProcurementCategory")
    text = cleaning.text(tender, "category", _TENDER, report, most=200)
    codes: tuple[tuple[str, str], ...] = ()
    if text is None:
        report.missing(f"{_TENDER}/category", "category_empty", tender.get("category"))
    elif (known := category_of(text)) is None or not known.unspsc:
        report.missing(f"{_TENDER}/category", "category_unmapped", text)
    else:
        codes = tuple(("UNSPSC", code) for code in known.unspsc)
    return {
        "method": method if method in _METHODS else None,
        "method_details": cleaning.text(
            tender, "procurementMethodDetails", _TENDER, report, most=200
        ),
        "main_category": main if main in _MAIN else None,
        "category_text": text,
        "classifications": codes,
        "special_conditions": cleaning.text(
            tender, "specialConditions", _TENDER, report, most=_MOST_TEXT
        ),
    }


def _value(tender: dict[str, Any], report: Report) -> dict[str, Any]:
    found = cleaning.money(cleaning.part(tender, "value", _TENDER), f"{_TENDER}/value", report)
    return {} if found is None else {"amount_minor": found[0], "currency": found[1]}


def _places(tender: dict[str, Any], report: Report) -> dict[str, Any]:
    province = cleaning.text(tender, "province", _TENDER, report, most=100)
    delivery = cleaning.text(tender, "deliveryLocation", _TENDER, report, most=1000)
    stated = places.province_code(province) if province else None
    if province and stated is None and province.casefold() not in places.NATIONAL:
        report.doubtful(f"{_TENDER}/province", "province_unknown", province)
    named = places.provinces_in(delivery) if delivery else ()
    if stated and named and stated not in named:
        report.doubtful(f"{_TENDER}/province", "province_conflict", stated, ", ".join(named))
    return {
        "provinces": tuple(dict.fromkeys(code for code in (stated, *named) if code)),
        "delivery_text": delivery,
    }


def _contact(tender: dict[str, Any], report: Report) -> dict[str, Any]:
    person = cleaning.part(tender, "contactPerson", _TENDER)
    pointer = f"{_TENDER}/contactPerson"
    return {
        "contact_name": cleaning.text(person, "name", pointer, report, most=200),
        "contact_email": cleaning.text(person, "email", pointer, report, most=254),
        "contact_phone": cleaning.text(person, "telephoneNumber", pointer, report, most=60),
    }


def _briefing(tender: dict[str, Any], clock: FeedClock, report: Report) -> NoticeBriefing | None:
    session = cleaning.part(tender, "briefingSession", _TENDER)
    pointer = f"{_TENDER}/briefingSession"
    at = cleaning.time(session, "date", pointer, report, clock)
    venue = cleaning.text(session, "venue", pointer, report, most=500)
    if session.get("isSession") is not True:
        return None
    if at is None:
        report.missing(f"{pointer}/date", "briefing_without_date", session.get("date"))
        return None
    return NoticeBriefing(at.at, session.get("compulsory") is True, venue)


def _note_outcome(notice: Notice, report: Report, received_at: datetime) -> None:
    if notice.documents:
        report.missing(f"{_TENDER}/documents", "needs_in_documents")
    if notice.source_status == "active" and outcomes.is_over(notice, received_at):
        report.doubtful(f"{_TENDER}/status", "status_overrun", "active", "closed")
    if notice.source_status == "complete" and not outcomes.has_award(notice):
        report.missing("/awards", "award_unknown")
