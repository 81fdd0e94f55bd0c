"""Requirements, and the catalogue that they come from."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.compliance.api.organizations import check_acting
from thenga.domains.compliance.api.requirement_bodies import ChangeRequirement, CreateRequirement
from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, requirements, summaries
from thenga.domains.compliance.services.requirements import ConditionNotUnderstood, TenderUnknown
from thenga.domains.compliance.services.summaries import Assessments
from thenga.domains.compliance.tables import (
    Applicability,
    CatalogueEntry,
    DocumentType,
    Origin,
    Requirement,
    RequirementDefinition,
)
from thenga.domains.compliance.values.terms import Terms
from thenga.kernel.db import step_up
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import cut
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, RuleViolated
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day

router = make_router("Compliance / Requirements")

RequirementId = Annotated[UUID, Path(alias="requirementId", description="ID of the requirement.")]
State = Literal[
    "met", "provisional", "partially_met", "missing", "expired", "failed", "unknown",
    "not_applicable",
]  # fmt: skip


class BecauseView(View):
    """One reason why a requirement applies or not."""

    kind: Annotated[str, Field(description="`fact`, `answer`, `sphere` or `tender`.")]
    name: Annotated[str, Field(description="Key of the fact, code of the question, or sphere.")]
    outcome: Annotated[str, Field(description="`yes`, `no` or `unknown`.")]
    version: Annotated[int | None, Field(description="Version of the fact that was cited.")]


class RequirementSubjectView(View):
    """Whom a requirement is about."""

    kind: Annotated[str, Field(description="`organization` or `director`.")]
    ref: Annotated[UUID | None, Field(description="ID of the director.")]


class RequirementView(Stored):
    """A requirement, or a row of the catalogue with `origin: catalogue` and `row`."""

    organization_id: Annotated[
        UUID | None, Field(description="Organization. Null for a row of the catalogue.")
    ]
    origin: Annotated[str, Field(description="`catalogue`, `own` or `tender`.")]
    definition_code: Annotated[str | None, Field(description="Code in the catalogue.")]
    title: Annotated[str | None, Field(description="Title.")]
    description: Annotated[str | None, Field(description="Description.")]
    component: Annotated[str | None, Field(description="Component of readiness.")]
    weight: Annotated[int | None, Field(description="Weight within the component.")]
    gate: Annotated[str | None, Field(description="What follows if it is not met.")]
    locked: Annotated[bool, Field(description="Whether tenders cannot loosen it.")]
    proof: Annotated[dict[str, Any] | None, Field(description="What can prove it.")]
    validity: Annotated[dict[str, Any] | None, Field(description="How long a proof is valid.")]
    params: Annotated[dict[str, Any], Field(description="What the tender asks of the proof.")]
    tender_opportunity_id: Annotated[UUID | None, Field(description="Tender that asks for it.")]
    tender_requirement_ref: Annotated[str | None, Field(description="Reference in the tender.")]
    subjects: Annotated[list[RequirementSubjectView], Field(description="Who has to prove it.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person who looks after it.")]
    due_on: Annotated[date | None, Field(description="Day by which it should be met.")]
    ends_on: Annotated[date | None, Field(description="Last day on which it applies.")]
    applicability: Annotated[str, Field(description="Whether it applies.")]
    because: Annotated[list[BecauseView], Field(description="Why it applies or not.")]
    assessment: Annotated[str | None, Field(description="How it stands on the evaluated day.")]
    valid_until: Annotated[date | None, Field(description="Last valid day of its proof.")]
    assurance: Annotated[str | None, Field(description="Who stands behind its proof.")]
    evidence_ids: Annotated[list[UUID], Field(description="Evidence that counts for it.")]
    effective_from: Annotated[
        date | None, Field(description="First day of a row of the catalogue.")
    ]
    source: Annotated[dict[str, Any] | None, Field(description="Where the rule comes from.")]
    row: Annotated[
        dict[str, Any] | None, Field(description="Whole row of the catalogue. Null otherwise.")
    ]
    affected_organizations: Annotated[
        int | None, Field(description="Organizations that a row concerns. Null until counted.")
    ]

    @classmethod
    def of(
        cls, row: Requirement, terms: Terms | None, assessments: Assessments
    ) -> "RequirementView":
        found = assessments.by_requirement.get(row.id)
        shown = row.__dict__ | {
            "title": terms.title if terms else row.title,
            "component": terms.component if terms else row.component,
            "weight": terms.weight if terms else row.weight,
            "gate": terms.gate if terms else row.gate,
            "locked": terms.locked if terms else False,
            "proof": _plain(terms.proof) if terms else row.proof,
            "validity": _plain(terms.validity) if terms else row.validity,
            "subjects": [RequirementSubjectView.model_validate(one) for one in row.subjects],
            "because": [BecauseView.model_validate(one) for one in row.because],
            "assessment": assessments.state_of(row.id).value,
            "valid_until": found.valid_until if found else None,
            "assurance": summaries.assurance_name(found),
            "evidence_ids": list(found.evidence_ids) if found else [],
            "effective_from": None,
            "source": _plain(terms.source) if terms else None,
            "row": None,
            "affected_organizations": None,
        }
        return cls.shown(shown)

    @classmethod
    def of_entry(cls, entry: CatalogueEntry) -> "RequirementView":
        return cls.shown(
            _EMPTY
            | _common(entry)
            | {
                "definition_code": entry.code,
                "title": entry.content["title"],
                "component": entry.content.get("component"),
                "weight": entry.content.get("weight"),
                "gate": entry.content.get("gate"),
                "locked": entry.content.get("locked", False),
                "proof": entry.content.get("proof"),
                "validity": entry.content.get("validity"),
                "effective_from": entry.effective_from,
                "source": entry.content["source"],
                "row": entry.content,
                "affected_organizations": entry.affected_organizations,
            }
        )

    @classmethod
    def of_definition(cls, row: RequirementDefinition) -> "RequirementView":
        return cls.shown(
            _EMPTY
            | _common(row)
            | {
                "definition_code": row.code,
                "title": row.title,
                "component": row.component,
                "weight": row.weight,
                "gate": row.gate,
                "locked": row.locked,
                "proof": row.proof,
                "validity": row.validity,
                "effective_from": row.effective_from,
                "source": row.source,
                "row": {
                    "kind": "definition",
                    "appliesWhen": row.applies_when,
                    "hardWhen": row.hard_when,
                    "spheres": row.spheres,
                    "perSubject": row.per_subject,
                    "recheckDays": row.recheck_days,
                    "minAssurance": row.min_assurance,
                    "neededAt": row.needed_at,
                    "catalogueVersion": row.catalogue_version,
                },
            }
        )

    @classmethod
    def of_document_type(cls, row: DocumentType) -> "RequirementView":
        return cls.shown(
            _EMPTY
            | _common(row)
            | {
                "definition_code": row.code,
                "title": row.title,
                "effective_from": row.effective_from,
                "source": row.source,
                "row": {
                    "kind": "document_type",
                    "class": row.document_class,
                    "mediaTypes": row.media_types,
                    "maxBytes": row.max_bytes,
                    "facts": row.facts,
                    "sealedFields": row.sealed_fields,
                    "catalogueVersion": row.catalogue_version,
                },
            }
        )


_EMPTY: dict[str, Any] = {
    **dict.fromkeys(RequirementView.model_fields),
    "origin": "catalogue",
    "applicability": "undetermined",
    "locked": False,
    "params": {},
    "subjects": [],
    "because": [],
    "evidence_ids": [],
}


def _common(row: CatalogueEntry | RequirementDefinition | DocumentType) -> dict[str, Any]:
    return {
        "id": row.id,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "version": row.version,
    }


def _plain(value: Any) -> dict[str, Any] | None:
    return None if value is None else dict(value)


@router.post(
    "/compliance/requirements",
    status_code=201,
    responses=problems(Duplicate, ConditionNotUnderstood, TenderUnknown, RuleViolated),
)
async def create_requirement(
    body: CreateRequirement, work: Annotated[Work, writes(Permission.REQUIREMENT_CREATE)]
) -> RequirementView:
    """Add a requirement of your own, or one that a tender asks for.

    Staff write the catalogue with `scope: platform`, `catalogue` and `reason`. That needs the
    permission `compliance:requirement:publish` and a fresh proof of identity.
    """
    if body.scope == "platform":
        return RequirementView.of_entry(await _publish(work, body))
    if body.organization_id is None:
        raise RuleViolated(
            "Send `organizationId` of your organization.",
            rule="organization-required",
            field="organizationId",
        )
    check_acting(work, body.organization_id)
    if (body.origin == "tender") != (body.tender_opportunity_id is not None):
        raise RuleViolated(
            "A requirement of a tender names its `tenderOpportunityId`; your own does not.",
            rule="tender-named",
            field="tenderOpportunityId",
        )
    fields = body.fields() | {"origin": Origin(body.origin)}
    row = await requirements.create_requirement(work, fields=fields)
    return await _shown(work, row)


async def _publish(work: Work, body: CreateRequirement) -> CatalogueEntry:
    if not requirements.is_staff(work):
        raise NotFound()
    await documents.demand(work, Permission.REQUIREMENT_PUBLISH)
    step_up.demand(work)
    if body.catalogue is None or body.reason is None:
        raise RuleViolated(
            "Send the row in `catalogue`, and a `reason`.",
            rule="catalogue-and-reason",
            field="catalogue" if body.catalogue is None else "reason",
        )
    return await requirements.write_entry(
        work,
        entry_kind=body.catalogue.kind,
        content=body.catalogue.content(),
        reason=body.reason,
    )


@router.get("/compliance/requirements")
async def list_requirements(
    read: Annotated[Reader, reads(Permission.REQUIREMENT_READ)],
    page: Annotated[Paged, paged("createdAt", "dueOn", "validUntil", default="createdAt")],
    organization_id: Annotated[
        UUID | None,
        Query(alias="organizationId", description="Your organization. It must be your own."),
    ] = None,
    scope: Annotated[
        Literal["organization", "catalogue"],
        Query(description="`catalogue` lists definitions and document types in force."),
    ] = "organization",
    at: Annotated[Day | None, Query(description="Day of the catalogue.")] = None,
    on: Annotated[Day | None, Query(description="Evaluated day. Defaults to today.")] = None,
    origin: Annotated[Origin | None, Query(description="Filter by origin.")] = None,
    component: Annotated[
        Literal[
            "registration",
            "tax",
            "integrity",
            "ownership",
            "labour",
            "standing",
            "sector",
            "tender",
        ]
        | None,
        Query(description="Filter by component."),
    ] = None,  # fmt: skip
    gate: Annotated[
        Literal["hard", "soft", "points"] | None, Query(description="Filter by gate.")
    ] = None,
    assessment: Annotated[State | None, Query(description="Filter by assessment.")] = None,
    applicability: Annotated[
        Applicability | None, Query(description="Filter by applicability.")
    ] = None,
    tender_opportunity_id: Annotated[
        UUID | None, Query(alias="tenderOpportunityId", description="Filter by tender.")
    ] = None,
    owner_user_id: Annotated[
        UUID | None, Query(alias="ownerUserId", description="Filter by owner.")
    ] = None,
) -> PageOf[RequirementView]:
    """List requirements with their assessment on a day, or the catalogue in force on a day."""
    if scope == "catalogue":
        return _page(read, page, await _catalogue(read, at or on))
    if organization_id is None:
        raise NotFound("Name your organization with organizationId.")
    check_acting(read, organization_id)
    wanted = {
        "origin": origin,
        "component": component,
        "gate": gate,
        "assessment": assessment,
        "applicability": applicability,
        "tender_opportunity_id": tender_opportunity_id,
        "owner_user_id": owner_user_id,
    }
    views = await _views(read, await requirements.all_requirements(read), on)
    kept = [
        view
        for view in views
        if all(getattr(view, name) == value for name, value in wanted.items() if value is not None)
    ]
    return _page(read, page, kept)


async def _catalogue(read: Reader, at: date | None) -> list[RequirementView]:
    day = at or local_day(read.now)
    definitions = await requirements.definitions_on(read, day)
    types = await requirements.document_types_on(read, day)
    return [
        *(RequirementView.of_definition(row) for row in definitions.values()),
        *(RequirementView.of_document_type(row) for row in types.values()),
    ]


def _page(read: Reader, page: Paged, views: list[RequirementView]) -> PageOf[RequirementView]:
    place = _PLACES[page.sort]
    ordered = sorted(views, key=place, reverse=page.descending)
    items, cursor = cut(read, page, ordered, place)
    return PageOf[RequirementView](items=items, next_cursor=cursor)


def _by_created(view: RequirementView) -> tuple[str, ...]:
    return _instant(view.created_at), str(view.id)


def _by_due(view: RequirementView) -> tuple[str, ...]:
    return _day(view.due_on), str(view.id)


def _by_validity(view: RequirementView) -> tuple[str, ...]:
    return _day(view.valid_until), str(view.id)


def _day(found: date | None) -> str:
    return "9999-12-31" if found is None else found.isoformat()


def _instant(found: datetime) -> str:
    return found.strftime("%Y-%m-%dT%H:%M:%S.%f")


_PLACES: dict[str, Callable[[RequirementView], tuple[str, ...]]] = {
    "createdAt": _by_created,
    "dueOn": _by_due,
    "validUntil": _by_validity,
}


@router.get("/compliance/requirements/{requirementId}")
async def get_requirement(
    requirement_id: RequirementId,
    read: Annotated[Reader, reads(Permission.REQUIREMENT_READ)],
) -> RequirementView:
    """Get a requirement with its assessment today. Staff also get rows of the catalogue."""
    found = await requirements.find_requirement(read, requirement_id)
    if found is not None:
        return await _shown(read, found)
    entry = await requirements.find_entry(read, requirement_id)
    if entry is None:
        raise NotFound()
    return RequirementView.of_entry(entry)


@router.patch("/compliance/requirements/{requirementId}", responses=problems(RuleViolated))
async def change_requirement(
    requirement_id: RequirementId,
    body: ChangeRequirement,
    work: Annotated[Work, writes(Permission.REQUIREMENT_UPDATE, if_match=True)],
) -> RequirementView:
    """Update the fields you send. Of a row of the catalogue, set only owner and due day."""
    row = await requirements.change_requirement(work, requirement_id, fields=body.fields())
    return await _shown(work, row)


async def _shown(read: Reader, row: Requirement) -> RequirementView:
    (view,) = await _views(read, [row], None)
    return view


async def _views(read: Reader, rows: list[Requirement], on: date | None) -> list[RequirementView]:
    assessments = await summaries.assess_all(read, on)
    definitions = await requirements.definitions_on(read, assessments.on)
    return [
        RequirementView.of(row, requirements.terms_of(row, definitions), assessments)
        for row in rows
    ]
