"""The catalogue as staff write it: a platform row, which a job copies (decision 0020)."""

from datetime import date
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import func, select

from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services.requirements.seeding import bring, columns_of
from thenga.domains.compliance.tables import (
    CatalogueEntry,
    DocumentType,
    Profile,
    RequirementDefinition,
)
from thenga.domains.compliance.values import conditions
from thenga.domains.compliance.values.validity import ValidityRule
from thenga.domains.identity import public as identity
from thenga.kernel.access import gate
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Duplicate, NotFound, Problem, RuleViolated
from thenga.kernel.values.calendar import local_day, local_midnight

publish_entry = job_stub(
    "compliance.publish_entry", form=Form.QUEUED, key="{entry_id}", as_system=True
)
# On its first day a definition decides anew what applies to every company.
_DECIDE_AGAIN = """
    UPDATE compliance.profile SET next_check_at = least(coalesce(next_check_at, $1), $1)
"""
DEFINITION, DOCUMENT_TYPE = "definition", "document_type"


class ConditionNotUnderstood(Problem):
    """`appliesWhen` or `hardWhen` does not follow the condition format.

    Use `all`, `any` and `not`, and compare `fact`, `answer`, `sphere` or `tender` with `is`, `in`,
    `gt`, `gte` or `exists`, at most 4 levels deep.
    """

    code, status, title = "compliance-condition-invalid", 422, "The condition is not valid"


def is_staff(read: Reader) -> bool:
    """Whether the caller acts as staff of the platform."""
    return read.held_as == HeldAs.PLATFORM


async def demand_as_staff(work: Work, permission: Permission) -> None:
    """Refuse staff who do not hold a further permission, as the entrance of a route would."""
    if work.actor.id is None:
        raise NotFound()
    decided = await work.port(identity.Decisions).check(
        actor=identity.ActorRef(type="user", id=work.actor.id, session_id=work.actor.session_id),
        organization_id=None,
        action=permission,
        resource=identity.ResourceRef(type="compliance.catalogue"),
        channel="http",
        request_id=work.origin.request_id,
    )
    if decided.decision != "allow":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, permission)


async def write_entry(
    work: Work, *, entry_kind: str, content: dict[str, Any], reason: str
) -> CatalogueEntry:
    """Write a dated row of the catalogue. It counts from its day, tomorrow at the earliest."""
    if not is_staff(work) or work.actor.id is None:
        raise NotFound()
    starts = date.fromisoformat(content["effectiveFrom"])
    if starts <= local_day(work.now):
        raise RuleViolated(
            "The catalogue can change from tomorrow at the earliest. Choose a later day.",
            rule="effective-from-tomorrow",
            field="effectiveFrom",
        )
    if entry_kind == DEFINITION:
        _check_definition(content)
    await work.switch_scope(organization_id=OPERATOR)
    entry = CatalogueEntry(
        entry_kind=entry_kind,
        code=content["code"],
        effective_from=starts,
        content=content,
        written_by=work.actor.id,
    )
    try:
        await work.add(entry)
    except asyncpg.UniqueViolationError:
        raise Duplicate(
            "The catalogue already has a row with this code and day. Choose another day.",
            existing=None,
            field="effectiveFrom",
        ) from None
    work.note("compliance.catalogue.publish", ("catalogue_entry", entry.id), {"reason": reason})
    work.enqueue(publish_entry, entry_id=entry.id)
    return entry


def _check_definition(content: dict[str, Any]) -> None:
    for name in ("appliesWhen", "hardWhen"):
        if content.get(name) is not None:
            try:
                conditions.check(content[name], at=name)
            except conditions.ConditionInvalid as error:
                raise ConditionNotUnderstood(str(error)) from None
    try:
        ValidityRule.of_row(content["validity"])
    except (KeyError, ValueError, TypeError):
        raise RuleViolated(
            "`validity` needs one of the kinds in `allowed`.",
            rule="validity-kind",
            field="validity",
            allowed=["no_expiry", "printed", "after_issue", "after_period_end", "yearly"],
        ) from None


async def copy_to_catalogue(work: Work, entry_id: UUID) -> None:
    """Copy a row to the catalogue, as the system login, and count whom it concerns."""
    entry = await work.get(CatalogueEntry, entry_id)
    values = columns_of(entry.content) | {"id": entry.id}
    if entry.entry_kind == DEFINITION:
        await bring(work, RequirementDefinition, values)
    else:
        await bring(work, DocumentType, values)
    if entry.entry_kind == DEFINITION:
        await work.run(_DECIDE_AGAIN, local_midnight(entry.effective_from))
    counted = await work.value(select(func.count()).select_from(Profile.__table__))
    held = await work.lock(CatalogueEntry, entry_id)
    held.affected_organizations = counted or 0
    await work.save(held)


async def find_entry(read: Reader, entry_id: UUID) -> CatalogueEntry | None:
    """A row that staff wrote; nobody else sees it before it is in the catalogue."""
    return await read.find(CatalogueEntry, id=entry_id) if is_staff(read) else None
