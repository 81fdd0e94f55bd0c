"""Requirements and rows of the catalogue, as a client sees them."""

from datetime import date
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from thenga.domains.compliance.services import summaries
from thenga.domains.compliance.services.summaries import Assessments
from thenga.domains.compliance.tables import (
    CatalogueEntry,
    DocumentType,
    Requirement,
    RequirementDefinition,
)
from thenga.domains.compliance.values.terms import Terms
from thenga.kernel.http.bodies import Stored, View


class BecauseView(View):
    """One reason why a requirement applies or does not apply."""

    kind: Annotated[str, Field(description="`fact`, `answer`, `sphere` or `tender`.")]
    name: Annotated[str, Field(description="Key of the fact, code of the question, or sphere.")]
    outcome: Annotated[str, Field(description="`yes`, `no` or `unknown`.")]
    version: Annotated[int | None, Field(description="Version of the fact that was used.")]


class RequirementSubjectView(View):
    """Subject of a requirement."""

    kind: Annotated[str, Field(description="`organization` or `director`.")]
    ref: Annotated[UUID | None, Field(description="ID of the director.")]


class RequirementView(Stored):
    """A requirement, or a catalogue row with `origin: catalogue` and `row`."""

    organization_id: Annotated[
        UUID | None, Field(description="Organization. Null for a catalogue row.")
    ]
    origin: Annotated[str, Field(description="`catalogue`, `own` or `tender`.")]
    definition_code: Annotated[str | None, Field(description="Catalogue code.")]
    title: Annotated[str | None, Field(description="Title.")]
    description: Annotated[str | None, Field(description="Description.")]
    component: Annotated[str | None, Field(description="Component of readiness.")]
    weight: Annotated[int | None, Field(description="Weight within the component.")]
    gate: Annotated[str | None, Field(description="Effect if it is not met.")]
    locked: Annotated[bool, Field(description="True if tenders cannot relax it.")]
    proof: Annotated[dict[str, Any] | None, Field(description="Accepted proof.")]
    validity: Annotated[dict[str, Any] | None, Field(description="How long a proof is valid.")]
    params: Annotated[dict[str, Any], Field(description="The tender's conditions for the proof.")]
    tender_opportunity_id: Annotated[UUID | None, Field(description="Tender that requires it.")]
    tender_requirement_ref: Annotated[str | None, Field(description="Reference in the tender.")]
    subjects: Annotated[list[RequirementSubjectView], Field(description="Who must prove it.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")]
    due_on: Annotated[date | None, Field(description="Day by which it should be met.")]
    ends_on: Annotated[date | None, Field(description="Last day on which it applies.")]
    applicability: Annotated[str, Field(description="Whether it applies.")]
    because: Annotated[list[BecauseView], Field(description="Why it applies or does not apply.")]
    assessment: Annotated[str | None, Field(description="Assessment on the evaluated day.")]
    valid_until: Annotated[date | None, Field(description="Last valid day of its proof.")]
    assurance: Annotated[str | None, Field(description="How strongly its proof was verified.")]
    evidence_ids: Annotated[list[UUID], Field(description="Counted evidence.")]
    effective_from: Annotated[date | None, Field(description="First day of a catalogue row.")]
    source: Annotated[dict[str, Any] | None, Field(description="Source of the rule.")]
    row: Annotated[
        dict[str, Any] | None,
        Field(description="Complete catalogue row. Null otherwise."),
    ]
    affected_organizations: Annotated[
        int | None,
        Field(description="Number of organizations the row affects. Null until counted."),
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
