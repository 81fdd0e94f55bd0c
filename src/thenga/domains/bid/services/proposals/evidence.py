"""Evidence that a workspace cites: asked of Compliance once for all rows (BID-16)."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.tables import EvidenceRef
from thenga.domains.compliance import public as compliance
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.ports.asking import asking

MOST_CITED = 200
Resolved = dict[UUID, compliance.ResolvedEvidence]

refresh_matrix = job_stub("bid.refresh_matrix", form=Form.QUEUED, key="{workspace_id}")


async def resolve_evidence(read: Reader, evidence_ids: Iterable[UUID]) -> Resolved | None:
    """What Compliance says of these now; nothing where it is silent."""
    refs = [compliance.EvidenceRef(evidence_id=one) for one in sorted(set(evidence_ids))]
    if not refs:
        return {}
    answered = await asking(
        read,
        compliance.Evidence,
        lambda port: port.resolve(organization_id=read.organization_id, refs=refs[:MOST_CITED]),
        silent=None,
    )
    if answered is None:
        return None
    return {one.ref.evidence_id: one for one in answered}


async def cited(read: Reader, workspace_id: UUID) -> list[EvidenceRef]:
    """Every evidence that a workspace cites, as it was last described."""
    statement = select(EvidenceRef).where(EvidenceRef.workspace_id == workspace_id)
    return await read.all(statement, limit=MOST_CITED)


async def store(
    work: Work, workspace_id: UUID, evidence_ids: Iterable[UUID], resolved: Resolved | None
) -> None:
    """Keep what was said; where nobody answered, what is new is unknown."""
    known = {one.evidence_id: one for one in await cited(work, workspace_id)}
    for evidence_id in sorted(set(evidence_ids)):
        said = None if resolved is None else resolved.get(evidence_id)
        row = known.get(evidence_id)
        if row is None:
            row = EvidenceRef(
                organization_id=work.organization_id,
                workspace_id=workspace_id,
                evidence_id=evidence_id,
            )
            _describe(row, said, work)
            await work.add(row)
        elif said is not None:
            held = await work.hold(row)
            _describe(held, said, work)
            await work.save(held)


def _describe(row: EvidenceRef, said: compliance.ResolvedEvidence | None, work: Work) -> None:
    if said is not None:
        row.state, row.valid_until, row.sha256 = said.state, said.valid_until, said.sha256
        row.proof_version, row.as_of = said.ref.proof_version, work.now


async def citing(read: Reader, evidence_ids: Iterable[UUID]) -> set[UUID]:
    """The workspaces that cite one of these."""
    statement = select(EvidenceRef).where(among(EvidenceRef.evidence_id, list(evidence_ids)))
    return {one.workspace_id for one in await read.all(statement, limit=10_000)}
