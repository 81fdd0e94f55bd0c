"""Own requirements and those of tenders; rows of the catalogue follow from the profile."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.compliance.services import recomputing
from thenga.domains.compliance.services.requirements.catalogue import definitions_on
from thenga.domains.compliance.services.requirements.telling import tell_requirement
from thenga.domains.compliance.tables import (
    Applicability,
    Origin,
    Requirement,
    RequirementDefinition,
    TrackedTender,
)
from thenga.domains.compliance.values.terms import loosened
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, Problem, RuleViolated
from thenga.kernel.values.calendar import local_day

_OF_CATALOGUE = frozenset({"owner_user_id", "due_on"})  # what a company may set on these rows


class TenderUnknown(Problem):
    """Compliance does not track this tender. Wait for a match, or open a bid on it first."""

    code, status, title = "compliance-tender-unknown", 422, "This tender is not tracked"


async def create_requirement(work: Work, *, fields: dict[str, Any]) -> Requirement:
    """Add an own requirement, or one of a tender (CMP-5)."""
    definitions = await definitions_on(work, local_day(work.now))
    row = Requirement(
        organization_id=work.organization_id,
        subjects=[{"kind": "organization", "ref": None}],
        applicability=Applicability.APPLICABLE,
        because=[],
        **fields,
    )
    if row.origin is Origin.TENDER:
        await _check_tender(work, row)
        await _check_once(work, row)
    check_terms(row, definitions)
    if row.definition_code is not None:
        of_catalogue = await work.find(
            Requirement,
            organization_id=work.organization_id,
            origin=Origin.CATALOGUE,
            definition_code=row.definition_code,
        )
        if of_catalogue is not None:
            row.subjects = of_catalogue.subjects
    try:
        await work.add(row)
    except asyncpg.UniqueViolationError:
        raise _duplicate(None) from None
    await recomputing.mark_due(work)
    tell_requirement(work, row)
    return row


async def change_requirement(
    work: Work, requirement_id: UUID, *, fields: dict[str, Any]
) -> Requirement:
    """Change a requirement. Of a row of the catalogue only owner and due day can be set."""
    definitions = await definitions_on(work, local_day(work.now))
    held = await work.lock(Requirement, requirement_id)
    fixed = sorted(set(fields) - _OF_CATALOGUE) if held.origin is Origin.CATALOGUE else []
    if fixed:
        raise RuleViolated(
            "This requirement comes from the catalogue. You can change only `ownerUserId` and "
            "`dueOn`.",
            rule="catalogue-decides",
            field=fixed[0],
        )
    if not merge_patch(held, fields):
        return held
    check_terms(held, definitions)
    await work.save(held)
    await recomputing.mark_due(work)
    tell_requirement(work, held)
    return held


async def get_requirement(read: Reader, requirement_id: UUID) -> Requirement:
    """One requirement of the acting company."""
    found = await find_requirement(read, requirement_id)
    if found is None:
        raise NotFound()
    return found


async def find_requirement(read: Reader, requirement_id: UUID) -> Requirement | None:
    """One requirement of the acting company, or None."""
    if not read.has_organization:
        return None
    return await read.find(Requirement, organization_id=read.organization_id, id=requirement_id)


async def all_requirements(read: Reader) -> list[Requirement]:
    """Every requirement of the acting company."""
    statement = select(Requirement).where(Requirement.organization_id == read.organization_id)
    return await read.all(statement.order_by(Requirement.id), limit=5000)


def check_terms(row: Requirement, definitions: Mapping[str, RequirementDefinition]) -> None:
    """A row has a known code or a title of its own, and loosens nothing that is locked."""
    code = row.definition_code
    if code is None:
        if row.title is None:
            raise RuleViolated(
                "Send a `title`, or the `definitionCode` of a catalogue requirement.",
                rule="title-or-code",
                field="title",
            )
        return
    definition = definitions.get(code)
    if definition is None:
        raise RuleViolated(
            "The catalogue has no requirement with this code.",
            rule="definition-unknown",
            field="definitionCode",
        )
    field = loosened(
        locked=definition.locked,
        gate=definition.gate,
        wanted_gate=row.gate,
        params=row.params,
    )
    if field is not None:
        raise RuleViolated(
            f"{definition.title} is required by law. A tender can make it stricter, not looser.",
            rule="locked-requirement",
            field=field,
        )


async def _check_tender(work: Work, row: Requirement) -> None:
    found = await work.find(
        TrackedTender,
        organization_id=work.organization_id,
        tender_opportunity_id=row.tender_opportunity_id,
    )
    if found is None:
        raise TenderUnknown()


async def _check_once(work: Work, row: Requirement) -> None:
    named = (
        {"tender_requirement_ref": row.tender_requirement_ref}
        if row.tender_requirement_ref is not None
        else {"definition_code": row.definition_code}
    )
    if None in named.values():
        return
    found = await work.find(
        Requirement,
        organization_id=work.organization_id,
        origin=Origin.TENDER,
        tender_opportunity_id=row.tender_opportunity_id,
        **named,
    )
    if found is not None:
        raise _duplicate(found)


def _duplicate(known: Requirement | None) -> Duplicate:
    return Duplicate(
        "The tender already has this requirement. Change that one.",
        existing=None if known is None else {"id": str(known.id)},
        field="tenderRequirementRef",
    )
