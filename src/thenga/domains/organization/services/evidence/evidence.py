"""Evidence: what records refer to, and what is known of it (ORG-21).

Of what other domains keep, their events tell; an identifier that was never told of is `unknown`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select

from thenga.domains.organization.services import reference_data
from thenga.domains.organization.tables import (
    Equipment,
    EvidenceState,
    FleetAsset,
    KnownEvidence,
    PastProject,
    Record,
)
from thenga.domains.organization.tables.assets import Reference
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated
from thenga.kernel.values.calendar import local_day

# Records of the company itself that can be evidence, by the name that references use.
_OWN: dict[str, type[Record]] = {
    "pastProject": PastProject,
    "equipment": Equipment,
    "fleetAsset": FleetAsset,
}
KINDS: Mapping[str, frozenset[str]] = {
    "compliance": frozenset({"evidence", "document"}),
    "learning": frozenset({"certificate"}),
    "contract": frozenset({"contract"}),
    "organization": frozenset(_OWN),
}


@dataclass(frozen=True)
class Known:
    """What is known of a reference today."""

    state: EvidenceState
    verified: bool = False
    valid_until: date | None = None

    @property
    def live(self) -> bool:
        return self.state is EvidenceState.LIVE


UNKNOWN = Known(EvidenceState.UNKNOWN)


async def check_evidence(read: Reader, references: Iterable[Reference]) -> None:
    """Refuse what can be no evidence; a record of one's own must be there."""
    own: dict[str, set[UUID]] = {}
    for one in references:
        if one["type"] not in KINDS.get(one["domain"], ()):
            raise RuleViolated(
                f"A {one['type']} of {one['domain']} is no evidence here.", rule="ORG-21"
            )
        if one["domain"] == "organization":
            own.setdefault(one["type"], set()).add(UUID(one["id"]))
    for kind, ids in own.items():
        if len(await _own_rows(read, kind, ids)) < len(ids):
            raise NotFound()


async def known_evidence(read: Reader, references: Iterable[Reference]) -> dict[str, Known]:
    """What is known of each reference, by its identifier: one statement a domain."""
    wanted = list(references)
    outside = [UUID(one["id"]) for one in wanted if one["domain"] != "organization"]
    found: dict[str, Known] = {}
    if outside:
        rows = await read.all(
            select(KnownEvidence).where(among(KnownEvidence.evidence_id, outside)), limit=10_000
        )
        found |= {str(row.evidence_id): _as_of(row, local_day(read.now)) for row in rows}
    for kind in {one["type"] for one in wanted if one["domain"] == "organization"}:
        ids = {UUID(one["id"]) for one in wanted if one["type"] == kind}
        for row in await _own_rows(read, kind, ids):
            kept = row.archived_at is None
            found[str(row.id)] = Known(EvidenceState.LIVE if kept else EvidenceState.STALE)
    return {one["id"]: found.get(one["id"], UNKNOWN) for one in wanted}


def refers_to(column: ColumnElement[Any], ids: Iterable[UUID]) -> ColumnElement[bool]:
    """Whether a list of references names one of these identifiers."""
    return reference_data.holds(column, "$[*] ? (@.id == $ids[*])", ids=[str(one) for one in ids])


async def record_evidence(
    work: Work,
    *,
    domain: str,
    kind: str,
    evidence_id: UUID,
    version: int,
    state: EvidenceState,
    verified: bool,
    valid_until: date | None,
    proof_id: UUID | None = None,
) -> list[UUID]:
    """Note what another domain told; whose state that changes. What is older changes nothing."""
    key = {"domain": domain, "evidence_type": kind, "evidence_id": evidence_id}
    row = await work.find(KnownEvidence, **key)
    if row is None:
        await work.add(
            KnownEvidence(
                organization_id=work.organization_id,
                domain=domain,
                evidence_type=kind,
                evidence_id=evidence_id,
                proof_id=proof_id,
                source_version=version,
                state=state,
                verified=verified,
                valid_until=valid_until,
            )
        )
        return [evidence_id]
    held = await work.lock(KnownEvidence, row.id)
    if version < held.source_version:
        return []
    held.source_version, held.state, held.verified = version, state, verified
    held.valid_until = valid_until or held.valid_until
    held.proof_id = proof_id or held.proof_id
    await work.save(held)
    return [evidence_id]


async def expire_evidence(work: Work, document_id: UUID, *, version: int) -> list[UUID]:
    """A document ran out: it and all evidence that rests on it are stale."""
    statement = select(KnownEvidence).where(
        or_(KnownEvidence.evidence_id == document_id, KnownEvidence.proof_id == document_id)
    )
    touched = []
    for row in await work.all(statement):
        held = await work.lock(KnownEvidence, row.id)
        if version < held.source_version:
            continue
        held.state = EvidenceState.STALE
        await work.save(held)
        touched.append(held.evidence_id)
    return touched


async def _own_rows(read: Reader, kind: str, ids: Iterable[UUID]) -> list[Record]:
    row = _OWN[kind]
    return await read.all(select(row).where(among(row.id, list(ids))))


def _as_of(row: KnownEvidence, today: date) -> Known:
    """A day that has passed makes stale, also before it was told."""
    over = row.valid_until is not None and row.valid_until < today
    state = EvidenceState.STALE if over and row.state is EvidenceState.LIVE else row.state
    return Known(state, row.verified, row.valid_until)
