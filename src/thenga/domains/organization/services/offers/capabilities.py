"""Capabilities: what the company claims to be able to do, and how far that is proven.

Two axes: whether the claim stands (`status`), and whether it is proven (`verification_status`).
"""

from collections.abc import Iterable
from copy import copy
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement

from thenga.domains.organization import public
from thenga.domains.organization.lifecycles import (
    CapabilityLifecycle,
    CapabilityVerificationLifecycle,
)
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import evidence, records, reference_data
from thenga.domains.organization.services.evidence import Check
from thenga.domains.organization.services.offers import offerings
from thenga.domains.organization.tables import Capability, CapabilityVerification, Outcome
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Problem
from thenga.kernel.values.calendar import local_midnight

SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "title": Capability.title}
_LONGEST = timedelta(days=400)
# What a verifier looked at; a change of it is to be checked again (ORG-6).
_CHECKED = frozenset({"title", "classifications", "cidb", "capacity", "areas"})
_PROVEN = ("verification_status", "verified_until")
_OPEN = (CapabilityVerification.UNDER_REVIEW, CapabilityVerification.VERIFIED)


class EvidenceNotLive(Problem):
    """None of the evidence is known to be there and valid. Attach evidence that Compliance or
    Learning knows, renew what has expired, or wait until it was taken in."""

    code, status, title = "organization-evidence-not-live", 422, "No evidence of it is live"


async def add_capability(work: Work, *, fields: dict[str, Any]) -> Capability:
    """Claim a capability; with evidence it begins as `evidence_attached`."""
    row = Capability(organization_id=work.organization_id, **_normal(fields))
    if row.evidence_refs:
        CapabilityVerificationLifecycle.attach_evidence(row, at=work.now)
    await _check(work, row)
    await records.add(work, row)
    work.publish(public.CapabilityClaimed(**_state(row)))
    return row


async def list_capabilities(
    read: Reader,
    paged: Paged,
    *,
    verification_status: CapabilityVerification | None,
    scheme: str | None,
    code: str | None,
    cidb_class: str | None,
    archived: bool,
) -> Slice[Capability]:
    """The capabilities of the organization."""
    statement = records.kept(Capability, archived=archived)
    if verification_status is not None:
        statement = statement.where(_is_now(verification_status, read.now))
    if scheme is not None:
        held = reference_data.matches(Capability.classifications, scheme, code)
        statement = statement.where(held)
    if cidb_class is not None:
        statement = statement.where(Capability.cidb_class == cidb_class)
    return await read.page(statement, paged, SORTS[paged.sort])


async def change_capability(
    work: Work,
    capability_id: UUID,
    *,
    fields: dict[str, Any],
    request_review: bool = False,
    check: Check | None = None,
) -> Capability:
    """Change the fields named, ask for a review, or write down a check: in one version."""
    await _may(work, capability_id, fields, check)
    row = await _lock(work, capability_id)
    if check is not None:
        return await _judge(work, row, check)
    records.not_archived(row)
    before = copy(row.evidence_refs)
    records.put_record(row, _normal(fields))
    await _check(work, row)
    await _follow(work, row, before)
    if request_review:
        await _review(work, row)
    changed = await evidence.save_check(work, row, *_PROVEN)
    if changed:
        work.publish(public.CapabilityChanged(**_told(row, "updated", changed)))
    return row


async def request_review(work: Work, capability_id: UUID) -> Capability:
    """Hand it to a verifier; some of its evidence must be live (ORG-21)."""
    row = await _lock(work, capability_id)
    if await _review(work, row):
        changed = await evidence.save_check(work, row, *_PROVEN)
        work.publish(public.CapabilityChanged(**_told(row, "request_review", changed)))
    return row


async def withdraw_capability(work: Work, capability_id: UUID) -> Capability:
    """Take the claim back."""
    row = await _lock(work, capability_id)
    if CapabilityLifecycle.withdraw(row, at=work.now):
        row.next_check_at = None
        changed = await evidence.save_check(work, row, *_PROVEN)
        work.publish(public.CapabilityChanged(**_told(row, "withdraw", changed)))
    return row


async def verify_capability(work: Work, capability_id: UUID, check: Check) -> Capability:
    """Write down what somebody else found (ORG-6, ORG-21)."""
    return await _judge(work, await _lock(work, capability_id), check)


async def archive_capability(work: Work, capability_id: UUID) -> None:
    """Take it out of the lists; the record stays readable."""
    row = await work.lock(Capability, capability_id)
    row.next_check_at = None
    changed = await records.archive(work, row)
    if changed:
        work.publish(public.CapabilityChanged(**_told(row, "archived", changed)))


async def recheck_capabilities(work: Work, evidence_ids: Iterable[UUID]) -> None:
    """Evidence changed: what is verified without any that is live lapses, once (ORG-21)."""
    ids = list(evidence_ids)
    if not ids:
        return
    statement = records.kept(Capability, archived=False).where(
        Capability.verification_status == CapabilityVerification.VERIFIED,
        evidence.refers_to(Capability.evidence_refs, ids),
    )
    for found in await work.all(statement):
        row = await work.lock(Capability, found.id)
        if row.verification_status is CapabilityVerification.VERIFIED and not await _live(
            work, row
        ):
            await _lapse(work, row)


async def lapse_due(work: Work, capability_id: UUID) -> None:
    """Its time is over: it was `lapsed` on reading already, now it is told."""
    row = await work.lock(Capability, capability_id)
    if row.next_check_at is not None and row.next_check_at <= work.now:
        await _lapse(work, row)


def as_of(row: Capability, now: datetime) -> Capability:
    """The capability as it is now; a time that is over lapses it before any job has run."""
    if not _is_over(row, now):
        return row
    shown = copy(row)
    shown.verification_status = CapabilityVerification.LAPSED
    return shown


async def _lapse(work: Work, row: Capability) -> None:
    row.next_check_at = None
    if CapabilityVerificationLifecycle.lapse(row, at=work.now):
        await evidence.end_check(work, row)
        await evidence.save_check(work, row, *_PROVEN)
        work.publish(public.CapabilityLapsed(**_state(row)))


async def _lock(work: Work, capability_id: UUID) -> Capability:
    row = await work.lock(Capability, capability_id)
    if _is_over(row, work.now):
        row.verification_status, row.next_check_at = CapabilityVerification.LAPSED, None
    return row


async def _may(
    work: Work, capability_id: UUID, fields: dict[str, Any], check: Check | None
) -> None:
    """A check is written by verifiers only, and they write nothing else (ORG-6)."""
    if work.held_as == HeldAs.PLATFORM and (fields or check is None):
        pointer = f"/{records.wire_name(next(iter(fields), 'request_review'))}"
        raise records.forbidden(pointer, "Verifiers set the block `verification` only.")
    if check is not None:
        await records.demand(
            work,
            Permission.CAPABILITY_VERIFY,
            pointer="/verification",
            type="capability",
            id=capability_id,
        )


async def _follow(work: Work, row: Capability, before: list[dict[str, str]]) -> None:
    """What a change of the claim or its evidence means for what was proven."""
    move = _consequence(row, before, set(work.changes(row)))
    if move is not None:
        move(row, at=work.now)
    if (
        row.verification_status is not CapabilityVerification.VERIFIED
        and row.verified_until is not None
    ):
        row.verified_until = row.next_check_at = None
        await evidence.end_check(work, row)


def _consequence(row: Capability, before: list[dict[str, str]], changed: set[str]) -> Move | None:
    moves, status = CapabilityVerificationLifecycle, row.verification_status
    if not row.evidence_refs:
        return None if status is CapabilityVerification.CLAIMED else moves.detach_evidence
    if status in _OPEN:
        lost = any(one not in row.evidence_refs for one in before)
        return moves.reopen if lost or changed & _CHECKED else None
    waits = status is not CapabilityVerification.EVIDENCE_ATTACHED
    return moves.attach_evidence if waits and row.evidence_refs != before else None


async def _review(work: Work, row: Capability) -> bool:
    moved = CapabilityVerificationLifecycle.request_review(row, at=work.now)
    if moved and not await _live(work, row):
        raise EvidenceNotLive()
    return moved


async def _judge(work: Work, row: Capability, check: Check) -> Capability:
    await evidence.only_others(work, row)
    moves = CapabilityVerificationLifecycle
    if check.outcome is Outcome.VERIFIED:
        moves.verify(row, at=work.now)
        ends = await _ends(work, row)
        written = await evidence.write_check(work, row, check)
        row.verified_until = row.next_check_at = min(ends, written.valid_until or ends)
        await evidence.save_check(work, row, *_PROVEN)
        work.publish(public.CapabilityVerified(**_state(row)))
        return row
    if check.outcome is Outcome.FAILED:
        moves.reject(row, at=work.now)
    await evidence.write_check(work, row, check)
    await work.touch(row)  # also a check without a result is told of
    work.publish(public.CapabilityChanged(**_told(row, "verify", ["verificationStatus"])))
    return row


async def _ends(work: Work, row: Capability) -> datetime:
    """Until when it is proven: the earliest of evidence, grading and 400 days (ORG-21)."""
    live = await _live(work, row)
    if not live:
        raise EvidenceNotLive()
    days = [one.valid_until for one in live if one.valid_until is not None]
    if row.cidb is not None and row.cidb["valid_until"] is not None:
        days.append(date.fromisoformat(row.cidb["valid_until"]))
    over = [local_midnight(day + timedelta(days=1)) for day in days]
    return min([work.now + _LONGEST, *over])


async def _live(read: Reader, row: Capability) -> list[evidence.Known]:
    known = await evidence.known_evidence(read, row.evidence_refs)
    return [one for one in known.values() if one.live]


async def _check(read: Reader, row: Capability) -> None:
    await reference_data.check_classification(read, row.classifications)
    await offerings.check_areas(read, row.areas)
    await evidence.check_evidence(read, row.evidence_refs)


def _normal(fields: dict[str, Any]) -> dict[str, Any]:
    """The grading in the register's own form, and its class in a column of its own."""
    if fields.get("cidb") is None:
        return fields | {"cidb_class": None} if "cidb" in fields else fields
    designation = reference_data.parse_cidb(fields["cidb"]["designation"])
    held = fields["cidb"] | {"designation": str(designation)}
    return fields | {"cidb": held, "cidb_class": designation.works}


def _is_over(row: Capability, now: datetime) -> bool:
    ends = row.verified_until
    return (
        row.verification_status is CapabilityVerification.VERIFIED
        and ends is not None
        and ends <= now
    )


def _is_now(status: CapabilityVerification, now: datetime) -> ColumnElement[bool]:
    written = Capability.verification_status
    over = Capability.verified_until <= now
    if status is CapabilityVerification.VERIFIED:
        return (written == status) & ~over
    if status is CapabilityVerification.LAPSED:
        return (written == status) | ((written == CapabilityVerification.VERIFIED) & over)
    return written == status


def _state(row: Capability) -> dict[str, Any]:
    return {
        "organization_id": row.organization_id,
        "capability_id": row.id,
        "verification_status": row.verification_status,
        "classifications": [public.Classified(**one) for one in row.classifications],
        "cidb_designation": None if row.cidb is None else row.cidb["designation"],
        "verified_until": row.verified_until,
    }


def _told(row: Capability, change: str, fields: list[str]) -> dict[str, Any]:
    return _state(row) | {"change": change, "changed_fields": fields, "status": row.status}
