"""The South African summary."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import documents, summaries
from thenga.domains.compliance.services.summaries import ZaItem
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.values.fields import Day

router = make_router("Compliance / South African context")


class ZaSourceView(View):
    """Source of a state."""

    kind: Annotated[
        str, Field(description="How strongly it was verified: `declared`, `internal` …")
    ]
    name: Annotated[str, Field(description="Document type or statement that proves it.")]
    ref: Annotated[UUID, Field(description="ID of the evidence.")]


class ZaItemView(View):
    """One registration or certificate."""

    code: Annotated[str, Field(description="Code of the registration or certificate.")]
    state: Annotated[str, Field(description="Assessment of the requirement on the day.")]
    detail: Annotated[
        dict[str, Any], Field(description="B-BBEE: level and basis. CIDB: designations.")
    ]
    source: Annotated[
        ZaSourceView | None, Field(description="Source of the state. Null without proof.")
    ]
    as_of: Annotated[date | None, Field(description="Day of the last check, or of issue.")]
    valid_until: Annotated[date | None, Field(description="Last valid day.")]
    confidence: Annotated[
        Decimal | None, Field(description="Confidence from 0 to 1. Null if nothing is known.")
    ]
    rule_mark: Annotated[
        str | None, Field(description="Quality of the rule's source: A, B or unconfirmed.")
    ]

    @classmethod
    def of(cls, item: ZaItem) -> "ZaItemView":
        source = None
        if item.source_kind and item.source_name and item.source_ref:
            source = ZaSourceView(kind=item.source_kind, name=item.source_name, ref=item.source_ref)
        return cls(
            code=item.code,
            state=item.state,
            detail=item.detail,
            source=source,
            as_of=item.as_of,
            valid_until=item.valid_until,
            confidence=item.confidence,
            rule_mark=item.rule_mark,
        )


class ZaFrameView(View):
    """A legal rule in force on the day."""

    key: Annotated[str, Field(description="Key of the rule.")]
    title: Annotated[str, Field(description="Title of the rule.")]
    value: Annotated[str, Field(description="Value of the rule.")]
    effective_from: Annotated[date, Field(description="First day on which it applies.")]
    mark: Annotated[str, Field(description="Quality of the source: A, B or unconfirmed.")]


class ZaContextView(View):
    """The South African summary of an organization."""

    organization_id: Annotated[UUID, Field(description="Organization of the summary.")]
    on: Annotated[date, Field(description="Evaluated day.")]
    items: Annotated[list[ZaItemView], Field(description="Registrations and certificates.")]
    frame: Annotated[list[ZaFrameView], Field(description="Law in force on the day.")]


@router.get("/compliance/za/{organizationId}")
async def get_za_context(
    read: Annotated[Reader, reads(Permission.ZA_CONTEXT_READ)],
    on: Annotated[Day | None, Query(description="Day to evaluate. Defaults to today.")] = None,
) -> ZaContextView:
    """Get the status of each South African registration and certificate, with confidence."""
    found = await summaries.describe(read, await documents.sight_of(read), on)
    return ZaContextView(
        organization_id=read.organization_id,
        on=found.on,
        items=[ZaItemView.of(one) for one in found.items],
        frame=[ZaFrameView.model_validate(one) for one in found.frame],
    )
