"""Tenders as other domains ask for them, with the asking organization's own additions."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import select

from thenga.domains.opportunity import public
from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.tables import (
    Attendance,
    Briefing,
    BriefingStatus,
    Deadline,
    Document,
    DocumentPage,
    Requirement,
    RequirementStatus,
    TenderOpportunity,
    TenderStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.calendar import local_day

MOST = 50

Child = TypeVar("Child", Requirement, Briefing, Deadline, Document, Attendance)


@dataclass(frozen=True, slots=True)
class _Children:
    """The rows below some tenders, by the id of their tender."""

    requirements: dict[UUID, list[Requirement]]
    briefings: dict[UUID, list[Briefing]]
    deadlines: dict[UUID, list[Deadline]]
    documents: dict[UUID, list[Document]]
    attendance: dict[UUID, str]  # by briefing


async def describe_tenders(read: Reader, tender_ids: Sequence[UUID]) -> list[public.Tender]:
    """At most 50 published tenders that the organization sees, in one statement a kind of row."""
    ids = list(dict.fromkeys(tender_ids))[:MOST]
    if not ids:
        return []
    found = await read.all(
        select(TenderOpportunity).where(
            among(TenderOpportunity.id, ids), TenderOpportunity.status != TenderStatus.DRAFT
        )
    )
    children = await _children(read, ids)
    return [_tender(read, one, children) for one in found]


async def _children(read: Reader, ids: list[UUID]) -> _Children:
    requirements = select(Requirement).where(
        among(Requirement.tender_opportunity_id, ids),
        Requirement.status == RequirementStatus.ACTIVE,
    )
    briefings = select(Briefing).where(
        among(Briefing.tender_opportunity_id, ids), Briefing.status == BriefingStatus.SCHEDULED
    )
    deadlines = select(Deadline).where(among(Deadline.tender_opportunity_id, ids))
    documents = select(Document).where(among(Document.tender_opportunity_id, ids))
    attended = select(Attendance).where(among(Attendance.tender_opportunity_id, ids))
    in_order = requirements.order_by(Requirement.ordinal, Requirement.id)
    by_date = deadlines.order_by(Deadline.due_at, Deadline.id)
    return _Children(
        requirements=_grouped(await read.all(in_order, limit=25_000)),
        briefings=_grouped(await read.all(briefings)),
        deadlines=_grouped(await read.all(by_date, limit=2500)),
        documents=_grouped(await read.all(documents, limit=25_000)),
        attendance={row.briefing_id: row.state.value for row in await read.all(attended)},
    )


def _grouped(rows: Iterable[Child]) -> dict[UUID, list[Child]]:
    found: dict[UUID, list[Child]] = defaultdict(list)
    for row in rows:
        found[row.tender_opportunity_id].append(row)
    return found


def _tender(read: Reader, one: TenderOpportunity, children: _Children) -> public.Tender:
    briefings = children.briefings[one.id]
    requirements, documents = children.requirements[one.id], children.documents[one.id]
    deadlines = [_deadline(each, read) for each in children.deadlines[one.id]]
    award = [each.due_at for each in deadlines if each.kind == "award_expected"]
    return public.Tender.model_validate(
        _own_fields(one)
        | _terms(one.terms)
        | {
            "status": notices.status_at(one, read.now).value,
            "expected_award_on": local_day(award[0]) if award else None,
            "requirements": [_requirement(one, each) for each in requirements],
            "briefings": [_briefing(each, children.attendance) for each in briefings],
            "deadlines": deadlines,
            "documents": [
                public.TenderDocument(id=each.id, kind=each.document_type, sha256=_hex(each.sha256))
                for each in documents
            ],
        }
    )


def _own_fields(one: TenderOpportunity) -> dict[str, Any]:
    return {
        "id": one.id,
        "version": one.version_number,
        "sequence": one.version,
        "amendment_number": one.amendment_number,
        "material_revision": one.material_revision,
        "requirement_set_version": one.requirement_set_version,
        "visibility": "shared" if one.shared else "private",
        "buyer": {
            "name": one.buyer_name,
            "sphere": one.buyer_sphere,
            "regime": one.buyer_regime,
        },
        "number": one.tender_number,
        "title": one.title,
        "category": one.main_category,
        "closing_at": one.closing_at,
        "closing_precision": one.closing_precision,
        "time_zone": one.time_zone,
    }


def _terms(terms: dict[str, Any]) -> dict[str, Any]:
    return {
        "validity_days": terms.get("validityDays"),
        "preference": _preference(terms.get("preference")),
        "functionality": _functionality(terms.get("functionality")),
        "submission": _submission(terms.get("submission")),
        "forms": [_form(each) for each in terms.get("forms") or []],
    }


def _hex(value: Any) -> str | None:
    return value.hex() if isinstance(value, bytes) else value


def _requirement(tender: TenderOpportunity, one: Requirement) -> public.TenderRequirement:
    cited = one.citation
    return public.TenderRequirement(
        id=one.id,
        version=one.version,
        requirement_class=one.requirement_class,  # type: ignore[arg-type]  # one of its values
        kind=one.criterion_kind,  # type: ignore[arg-type]  # one of its values
        code=one.code,
        gate=one.gate,  # type: ignore[arg-type]  # one of its values
        cure=one.cure,  # type: ignore[arg-type]  # one of its values
        params={name: value for name, value in one.criterion.items() if name != "kind"},
        label=one.title,
        weight=one.points,
        evidence_kinds=one.evidence_kinds,
        citation=None
        if cited is None
        else public.TenderCitation(
            document_id=UUID(str(cited["documentId"])),
            page=cited["page"],
            excerpt=cited["excerpt"],
        ),
        own=one.organization_id != tender.organization_id,
    )


def _briefing(one: Briefing, states: dict[UUID, str]) -> public.TenderBriefing:
    return public.TenderBriefing.model_validate(
        {
            "id": one.id,
            "compulsory": one.compulsory,
            "at": one.starts_at,
            "attendance": states.get(one.id),
            "kind": one.kind,
        }
    )


def _deadline(one: Deadline, read: Reader) -> public.TenderDeadline:
    return public.TenderDeadline.model_validate(
        {
            "id": one.id,
            "kind": one.kind,
            "due_at": one.due_at,
            "time_zone": one.time_zone,
            "state": notices.state_of(one, read.now),
        }
    )


def _preference(given: dict[str, Any] | None) -> dict[str, Any] | None:
    if given is None:
        return None
    return {
        "system": given["system"],
        "contract": given.get("contract", "purchase"),
        "goals": [
            {
                "key": goal["key"],
                "text": goal["text"],
                "points_8020": _number(goal.get("points8020")),
                "points_9010": _number(goal.get("points9010")),
                "proof": goal.get("proof"),
            }
            for goal in given.get("goals") or []
        ],
    }


def _functionality(given: dict[str, Any] | None) -> dict[str, Any] | None:
    if given is None:
        return None
    return {
        "max_points": _number(given["maxPoints"]),
        "threshold_points": _number(given["thresholdPoints"]),
        "parts": [
            {"key": part["key"], "title": part["title"], "points": _number(part["points"])}
            for part in given["parts"]
        ],
    }


def _submission(given: dict[str, Any] | None) -> dict[str, Any] | None:
    if given is None:
        return None
    return {
        "channels": given.get("channels") or [],
        "address": given.get("address"),
        "copies": given.get("copies"),
        "envelopes": given.get("envelopes") or "single",
        "e_signature": given.get("eSignature") or "unknown",
        "issued_forms_only": bool(given.get("issuedFormsOnly")),
        "max_mb": given.get("maxMb"),
    }


def _form(given: dict[str, Any]) -> public.TenderForm:
    return public.TenderForm(
        title=given["title"], code=given.get("code"), edition=given.get("edition")
    )


def _number(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))


async def read_passages(read: Reader, refs: Sequence[public.PassageRef]) -> list[public.Passage]:
    """The texts of at most 20 references; what the organization cannot see is left out."""
    wanted = list(refs)[:20]
    notices_of = [ref.id for ref in wanted if ref.type == "tenderOpportunity"]
    tenders = await read.all(
        select(TenderOpportunity).where(among(TenderOpportunity.id, notices_of))
    )
    known = {one.id: one for one in tenders}
    found = []
    for ref in wanted:
        tender = known.get(ref.id)
        if ref.type == "tenderOpportunity" and tender is not None:
            text = "\n\n".join(
                part
                for part in (
                    tender.title,
                    tender.description,
                    tender.delivery_text,
                    tender.special_conditions,
                )
                if part
            )
            found.append(_passage(ref, tender.version, text, None))
    return [*found, *await _pages(read, wanted)]


async def _pages(read: Reader, refs: Sequence[public.PassageRef]) -> list[public.Passage]:
    wanted = {(ref.id, ref.page): ref for ref in refs if ref.type == "tenderDocument"}
    rows = await read.all(
        select(DocumentPage).where(
            among(DocumentPage.document_id, [document_id for document_id, _ in wanted]),
            among(DocumentPage.number, [page for _, page in wanted if page is not None]),
        )
    )
    return [
        _passage(wanted[row.document_id, row.number], row.version, row.text, row.number)
        for row in rows
        if (row.document_id, row.number) in wanted
    ]


def _passage(ref: public.PassageRef, version: int, text: str, page: int | None) -> public.Passage:
    """At most 20,000 bytes, cut between two characters."""
    cut = text.encode()[:20_000].decode(errors="ignore")
    return public.Passage(ref=ref, version=version, page=page, text=cut)
