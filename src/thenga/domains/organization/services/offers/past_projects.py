"""Past projects: what the company has done, for whom, and what proves it (ORG-23)."""

from collections.abc import Iterable
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.organization import public
from thenga.domains.organization.lifecycles import (
    PastProjectLifecycle,
    PastProjectVerificationLifecycle,
)
from thenga.domains.organization.services import evidence, records, reference_data
from thenga.domains.organization.services.evidence import Check
from thenga.domains.organization.services.offers import capabilities
from thenga.domains.organization.tables import (
    ClientReference,
    ClientReferenceStatus,
    Outcome,
    PastProject,
    PastProjectStatus,
    PastProjectVerification,
    Verification,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "title": PastProject.title}
_ONCE = "A project for this client under this contract number is recorded already."
# What a verifier looked at; a change of it is to be checked again (ORG-6).
_CHECKED = frozenset(
    {
        *("title", "client_name", "contract_number", "value_minor", "value_currency"),
        *("started_on", "completed_on", "role", "share_percent"),
    }
)
_PROVEN = ("verification_status", "verified_by")
_STRONG_ENOUGH = ("strong", "medium")


async def add_past_project(work: Work, *, fields: dict[str, Any], publish: bool) -> PastProject:
    """Record a project; a draft, or published at once."""
    values = records.split_amount(fields, "value")
    row = PastProject(id=new_id(), organization_id=work.organization_id, **values)
    await _check(work, row)
    if publish:
        PastProjectLifecycle.publish(row, at=work.now)
    await _settle(work, row)
    with records.once(_ONCE, field="contractNumber"):
        given = await records.add(work, row)
    work.publish(public.PastProjectChanged(**_told(row, "added", given)))
    return row


async def list_past_projects(
    read: Reader,
    paged: Paged,
    *,
    status: PastProjectStatus | None,
    verification_status: PastProjectVerification | None,
    client_type: str | None,
    province: str | None,
    value_min: int | None,
    value_max: int | None,
    completed_after: date | None,
    archived: bool,
) -> Slice[PastProject]:
    """The past projects of the organization; values are asked in minor units."""
    statement = records.kept(PastProject, archived=archived)
    if status is not None:
        statement = statement.where(PastProject.status == status)
    if verification_status is not None:
        statement = statement.where(PastProject.verification_status == verification_status)
    if client_type is not None:
        statement = statement.where(PastProject.client_type == client_type)
    if province is not None:
        statement = statement.where(PastProject.province == province)
    if value_min is not None:
        statement = statement.where(PastProject.value_minor >= value_min)
    if value_max is not None:
        statement = statement.where(PastProject.value_minor <= value_max)
    if completed_after is not None:
        statement = statement.where(PastProject.completed_on > completed_after)
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_past_project(
    work: Work, past_project_id: UUID, *, fields: dict[str, Any]
) -> PastProject:
    """Change the fields named; what was checked of it before is to be checked again."""
    row = await work.lock(PastProject, past_project_id)
    records.not_archived(row)
    records.put_record(row, records.split_amount(fields, "value"))
    await _check(work, row)
    if _CHECKED & work.changes(row).keys():
        await evidence.end_check(work, row)
        if row.verification_status in (
            PastProjectVerification.PENDING,
            PastProjectVerification.FAILED,
        ):
            PastProjectVerificationLifecycle.lose(row, at=work.now)
    await _settle(work, row)
    with records.once(_ONCE, field="contractNumber"):
        changed = await evidence.save_check(work, row, *_PROVEN)
    if changed:
        work.publish(public.PastProjectChanged(**_told(row, "updated", changed)))
    return row


async def publish_past_project(work: Work, past_project_id: UUID) -> PastProject:
    """Show a project; it says when it was completed and what it was worth."""
    row = await work.lock(PastProject, past_project_id)
    if PastProjectLifecycle.publish(row, at=work.now):
        changed = await evidence.save_check(work, row, *_PROVEN)
        work.publish(public.PastProjectChanged(**_told(row, "publish", changed)))
    return row


async def archive_past_project(work: Work, past_project_id: UUID) -> PastProject:
    """Take a published project out of the lists; a repeat changes nothing."""
    row = await work.lock(PastProject, past_project_id)
    if PastProjectLifecycle.archive(row, at=work.now):
        await _put_away(work, row)
    return row


async def delete_past_project(work: Work, past_project_id: UUID) -> None:
    """As `archive`, from every state."""
    row = await work.lock(PastProject, past_project_id)
    if row.status is PastProjectStatus.PUBLISHED:
        PastProjectLifecycle.archive(row, at=work.now)
    await _put_away(work, row)


async def verify_past_project(work: Work, past_project_id: UUID, check: Check) -> PastProject:
    """Write down what somebody else found (ORG-6)."""
    row = await work.lock(PastProject, past_project_id)
    records.not_archived(row)
    await evidence.only_others(work, row)
    if check.outcome is Outcome.FAILED:
        PastProjectVerificationLifecycle.fail(row, at=work.now)
    await evidence.write_check(work, row, check)
    await _settle(work, row)
    await work.touch(row)  # also a check without a result is told of
    work.publish(public.PastProjectChanged(**_told(row, "verify", ["verificationStatus"])))
    return row


async def recheck_past_projects(work: Work, evidence_ids: Iterable[UUID]) -> None:
    """Evidence changed: what it proves or proved is judged again (ORG-23)."""
    ids = list(evidence_ids)
    if not ids:
        return
    statement = records.kept(PastProject, archived=False).where(
        evidence.refers_to(PastProject.evidence_refs, ids)
    )
    for found in await work.all(statement):
        row = await work.lock(PastProject, found.id)
        await _settle(work, row)
        changed = await evidence.save_check(work, row, *_PROVEN)
        if changed:
            work.publish(public.PastProjectChanged(**_told(row, "verify", changed)))


async def _put_away(work: Work, row: PastProject) -> None:
    changed = await records.archive(work, row)
    if changed:
        work.publish(public.PastProjectChanged(**_told(row, "archive", changed)))
        await capabilities.recheck_capabilities(work, [row.id])


async def _settle(work: Work, row: PastProject) -> None:
    """Verified while something proves it, unverified when nothing does any more (ORG-23)."""
    proven = await _proofs(work, row)
    if proven != row.verified_by:
        row.verified_by = proven
    if proven and row.verification_status in (
        PastProjectVerification.UNVERIFIED,
        PastProjectVerification.PENDING,
    ):
        PastProjectVerificationLifecycle.verify(row, at=work.now)
    elif not proven and row.verification_status is PastProjectVerification.VERIFIED:
        PastProjectVerificationLifecycle.lose(row, at=work.now)


async def _proofs(read: Reader, row: PastProject) -> list[dict[str, Any]]:
    """Live verified evidence, checks that still hold, clients who confirmed."""
    known = await evidence.known_evidence(read, row.evidence_refs)
    found: list[dict[str, Any]] = [
        {"kind": "evidence", "reference": one}
        for one in row.evidence_refs
        if known[one["id"]].live and known[one["id"]].verified
    ]
    checked = select(Verification).where(
        Verification.record_id == row.id,
        Verification.outcome == Outcome.VERIFIED,
        Verification.ended_at.is_(None),
    )
    found += [_proof("check", "verification", one.id) for one in await read.all(checked)]
    confirmed = select(ClientReference).where(
        ClientReference.past_project_id == row.id,
        ClientReference.status == ClientReferenceStatus.CONFIRMED,
        among(ClientReference.strength, _STRONG_ENOUGH),
    )
    for one in await read.all(confirmed):
        found.append(_proof("client_reference", "clientReference", one.id))
    return found


def _proof(kind: str, type_: str, id_: UUID) -> dict[str, Any]:
    return {"kind": kind, "reference": {"domain": "organization", "type": type_, "id": str(id_)}}


async def _check(read: Reader, row: PastProject) -> None:
    """What must hold of every project."""
    if row.completed_on is not None and row.completed_on < row.started_on:
        raise RuleViolated("A project is completed after it was started.", rule="ORG-23")
    if row.role == "joint_venture" and row.share_percent is None:
        raise RuleViolated("Say which share of the joint venture was yours.", rule="ORG-23")
    if row.contract_ref is not None and row.contract_ref["domain"] != "contract":
        raise RuleViolated("`contractRef` refers to a contract kept here.", rule="ORG-23")
    if row.municipality_code is not None:
        today = local_day(read.now)
        code = row.municipality_code
        await reference_data.check_municipality(read, code, province=row.province, on=today)
    await reference_data.check_classification(read, row.classifications)
    await evidence.check_evidence(read, row.evidence_refs)


def _told(row: PastProject, change: str, fields: list[str]) -> dict[str, Any]:
    return records.change_event(row, change, fields) | {
        "status": row.status,
        "verification_status": row.verification_status,
    }
