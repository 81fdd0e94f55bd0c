"""The set of requirements of a tender: captured by people, cited, versioned (OPP-24, OPP-26)."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, or_, select

from thenga.domains.opportunity import public
from thenga.domains.opportunity.lifecycles import RequirementLifecycle
from thenga.domains.opportunity.services import amendments, documents, notices
from thenga.domains.opportunity.services.requirements.citations import stands_on
from thenga.domains.opportunity.services.requirements.criteria import (
    CriterionInvalid,
    check_criterion,
)
from thenga.domains.opportunity.services.requirements.terms import terms_of
from thenga.domains.opportunity.tables import (
    Briefing,
    Document,
    Requirement,
    RequirementSet,
    RequirementStatus,
    TenderOpportunity,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem, RuleViolated

_MOST = 500  # of a set
_COPIED = (
    *("requirement_class", "points", "title", "text", "criterion", "criterion_kind", "code"),
    *("evidence_kinds", "citation", "gate", "cure", "origin", "ordinal", "since_set"),
)


class CitationNotFound(Problem):
    """The excerpt was not found on the cited page. Copy it from the text of that page."""

    code, status, title = "opportunity-citation-not-found", 422, "The citation was not found"


@dataclass
class OpenSet:
    """The set that a requirement belongs to, locked: the tender's, or the company's own."""

    tender: TenderOpportunity
    own: RequirementSet | None

    @property
    def next_version(self) -> int:
        held = self.tender.requirement_set_version if self.own is None else self.own.set_version
        return held + 1

    @property
    def shared(self) -> bool:
        return self.own is None and self.tender.shared


async def capture(work: Work, tender_id: UUID, fields: dict[str, Any]) -> Requirement:
    """Add a requirement: the keeper to the tender's set, others to a set of their own."""
    await _check(work, tender_id, fields)
    kept = await _lock_set(work, tender_id)
    count = select(func.count(), func.coalesce(func.max(Requirement.ordinal), 0)).where(
        *_in_set(kept.tender, work.organization_id)
    )
    (found,) = await work.records(count)
    if found[0] >= _MOST:
        raise RuleViolated(f"A tender can have at most {_MOST} requirements.", rule="OPP-26")
    version = kept.next_version
    requirement = Requirement(
        organization_id=work.organization_id,
        shared=kept.shared,
        tender_opportunity_id=tender_id,
        ordinal=found[1] + 1,
        since_set=version,
        **_columns(fields),
    )
    await work.add(requirement)
    await _publish(work, kept, version, added=[requirement.id])
    return requirement


async def change(
    work: Work, tender_id: UUID, requirement_id: UUID, fields: dict[str, Any], *, retire: bool
) -> Requirement:
    """Edit or retire a requirement; the set before stays readable by its version."""
    seen = await _own(work, tender_id, requirement_id)
    await _check(work, tender_id, fields)
    kept = await _lock_set(work, tender_id)
    held = await work.lock(Requirement, seen.id)
    version, before = kept.next_version, dict(held.__dict__)
    changed = merge_patch(held, _changed(fields))
    if changed:
        if held.status is not RequirementStatus.ACTIVE:
            RequirementLifecycle.retire(held, at=work.now)
            raise RuleViolated("Only active requirements can be edited.", rule="OPP-26")
        await _archive(work, held, before, version)
        held.since_set = version
    if retire and RequirementLifecycle.retire(held, at=work.now):
        held.until_set = version
    elif not changed:
        return held
    await work.save(held)
    removed = [held.id] if held.status is RequirementStatus.RETIRED else []
    await _publish(work, kept, version, changed=[] if removed else [held.id], removed=removed)
    return held


async def list_all(
    read: Reader,
    tender_id: UUID,
    page: Paged,
    *,
    status: RequirementStatus | None,
    own: bool | None,
    set_version: int | None,
    **filters: str | None,
) -> Slice[Requirement]:
    """The requirements of a tender: its set, and the caller's own."""
    await read.get(TenderOpportunity, tender_id)
    statement = select(Requirement).where(Requirement.tender_opportunity_id == tender_id)
    if set_version is not None:
        statement = statement.where(
            Requirement.since_set <= set_version,
            or_(Requirement.until_set.is_(None), Requirement.until_set > set_version),
        )
    elif status is not None:
        statement = statement.where(Requirement.status == status)
    if own is not None:
        mine = Requirement.organization_id == read.organization_id
        statement = statement.where(mine & ~Requirement.shared if own else Requirement.shared)
    for name, wanted in filters.items():
        if wanted is not None:
            statement = statement.where(Requirement.__table__.c[name] == wanted)
    return await read.page(statement, page, Requirement.ordinal)


async def get(read: Reader, tender_id: UUID, requirement_id: UUID) -> Requirement:
    """A requirement of this tender."""
    found = await read.get(Requirement, requirement_id)
    if found.tender_opportunity_id != tender_id:
        raise NotFound()
    return found


async def _own(work: Work, tender_id: UUID, requirement_id: UUID) -> Requirement:
    found = await get(work, tender_id, requirement_id)
    if found.organization_id != work.organization_id:
        raise notices.OpportunityNotKeeper()
    return found


async def _check(work: Work, tender_id: UUID, fields: dict[str, Any]) -> None:
    """Numbers that fit together, a briefing of this tender, a citation that stands on its page."""
    criterion = fields.get("criterion")
    if criterion is not None:
        check_criterion(criterion)
        if criterion["kind"] == "briefing":
            await _check_briefing(work, tender_id, UUID(criterion["briefingId"]))
    citation = fields.get("citation")
    if citation is None:
        return
    document = await work.find(Document, id=UUID(citation["documentId"]))
    if document is None or document.tender_opportunity_id != tender_id:
        raise CitationNotFound()
    page = await documents.find_page(work, document.id, citation["page"])
    if page is None or not stands_on(page.text, citation["excerpt"]):
        raise CitationNotFound()


async def _check_briefing(work: Work, tender_id: UUID, briefing_id: UUID) -> None:
    briefing = await work.find(Briefing, id=briefing_id)
    if briefing is None or briefing.tender_opportunity_id != tender_id:
        raise CriterionInvalid("This tender has no such briefing.", rule="briefing_known")


async def _lock_set(work: Work, tender_id: UUID) -> OpenSet:
    tender = await work.get(TenderOpportunity, tender_id)
    if tender.organization_id == work.organization_id:
        return OpenSet(await work.lock(TenderOpportunity, tender_id, beside=True), None)
    own = await work.find(RequirementSet, tender_opportunity_id=tender_id)
    if own is None:
        own = await work.add(
            RequirementSet(organization_id=work.organization_id, tender_opportunity_id=tender_id)
        )
    return OpenSet(tender, await work.hold(own))


def _in_set(tender: TenderOpportunity, organization_id: UUID) -> tuple[Any, ...]:
    return (
        Requirement.tender_opportunity_id == tender.id,
        Requirement.organization_id == organization_id,
    )


def _columns(fields: dict[str, Any]) -> dict[str, Any]:
    made = _changed(fields)
    is_hard = made["requirement_class"] == "mandatory"
    made["gate"] = made.get("gate") or ("hard" if is_hard else "soft")
    return made


def _changed(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as columns, with what is read from the criterion."""
    made = dict(fields)
    if made.get("criterion") is not None:
        made["criterion_kind"] = made["criterion"]["kind"]
        made["code"] = made["criterion"].get("requirementCode")
    return made


async def _archive(work: Work, held: Requirement, before: dict[str, Any], version: int) -> None:
    """Keep the wording that the sets up to now had, as a superseded row of its own."""
    old = Requirement(
        organization_id=held.organization_id,
        shared=held.shared,
        tender_opportunity_id=held.tender_opportunity_id,
        status=RequirementStatus.SUPERSEDED,
        until_set=version,
        replaces_id=held.replaces_id,
        **{name: before[name] for name in _COPIED},
    )
    await work.add(old)
    held.replaces_id = old.id


async def _publish(
    work: Work,
    kept: OpenSet,
    version: int,
    *,
    added: list[UUID] | None = None,
    changed: list[UUID] | None = None,
    removed: list[UUID] | None = None,
) -> None:
    """Raise the version of the set, read the terms anew, and tell of it once."""
    tender, own = kept.tender, kept.own
    if own is None:
        tender.requirement_set_version = version
        tender.terms = terms_of(await _criteria(work, tender))
        await work.save(tender)
        await amendments.amend(work, tender, origin="buyer")
    else:
        own.set_version = version
        await work.save(own)
    event = public.TenderRequirementsChanged(
        organization_id=None if kept.shared else work.organization_id,
        requirement_set_id=tender.id if own is None else own.id,
        tender_opportunity_id=tender.id,
        requirement_set_version=version,
        shared=kept.shared,
        added=added or [],
        changed=changed or [],
        removed=removed or [],
    )
    notices.tell(work, event, shared=kept.shared)


async def _criteria(work: Work, tender: TenderOpportunity) -> list[dict[str, Any]]:
    statement = (
        select(Requirement)
        .where(*_in_set(tender, tender.organization_id))
        .where(Requirement.status == RequirementStatus.ACTIVE)
        .order_by(Requirement.ordinal)
    )
    return [one.criterion for one in await work.all(statement)]
