"""What the other side said, over a frozen statement, filed by us with its document (CON-44)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.contract.services import awards
from thenga.domains.contract.tables import Confirmation, EvidenceState
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, SamePerson
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.references import Reference

_KEEPER = "compliance"  # the domain that keeps documents and proofs


class ConfirmationMissing(Problem):
    """This needs a confirmation from the buyer.

    Send `confirmation` with at least one document as evidence, the date, and the position of the
    person who confirmed it.
    """

    code, status, title = "contract-confirmation-missing", 422, "A confirmation is missing"


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence that the buyer confirmed something."""

    evidence_refs: Sequence[Reference]
    confirmed_on: date
    by_position: str
    by_name: str | None = None


Subject = tuple[str, UUID, int]  # what is confirmed: its type, its ID and its version


async def confirm(
    work: Work,
    workspace_id: UUID,
    *,
    subject: Subject,
    decision: str,
    statement: dict[str, Any],
    proof: Proof | None,
    author: UUID | None = None,
    alone: bool = False,
) -> Confirmation:
    """File a confirmation. Of what an `author` wrote another person files it, if one is there."""
    if proof is None or not proof.evidence_refs:
        raise ConfirmationMissing()
    _check_day(work, proof)
    self_filed = same_person(work, author)
    if self_filed and not alone:
        raise SamePerson("You prepared this, so someone else must record the confirmation.")
    kind, subject_id, subject_version = subject
    frozen = {"subject": kind, "id": str(subject_id), "decision": decision, **statement}
    return await work.add(
        Confirmation(
            organization_id=work.organization_id,
            workspace_id=workspace_id,
            subject_type=kind,
            subject_id=subject_id,
            subject_version=subject_version,
            decision=decision,
            statement=frozen,
            statement_hash=awards.hash_of(frozen),
            self_filed=self_filed,
            evidence_refs=to_rows(proof.evidence_refs),
            confirmed_on=proof.confirmed_on,
            by_name=proof.by_name,
            by_position=proof.by_position,
            filed_by=work.actor.id,
        )
    )


def _check_day(work: Work, proof: Proof) -> None:
    if proof.confirmed_on > local_day(work.now):
        pointer = "/move/confirmation/confirmedOn"
        raise invalid(pointer, "The date of the confirmation cannot be in the future.", "day")


async def record_reference_state(
    work: Work, reference: tuple[str, UUID], *, is_live: bool, sequence: int
) -> None:
    """Store what Compliance last said of a document or proof; older news changes nothing."""
    kind, reference_id = reference
    state = "live" if is_live else "stale"
    known = await work.find(
        EvidenceState, reference_domain=_KEEPER, reference_type=kind, reference_id=reference_id
    )
    if known is None:
        await work.add(
            EvidenceState(
                organization_id=work.organization_id,
                reference_domain=_KEEPER,
                reference_type=kind,
                reference_id=reference_id,
                state=state,
                sequence=sequence,
            )
        )
        return
    held = await work.hold(known)
    if held.sequence < sequence:
        held.state, held.sequence = state, sequence
        await work.save(held)


async def stale_references(
    read: Reader, references: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The references whose document has expired or does not count any more."""
    ids = [UUID(one["id"]) for one in references if one["domain"] == _KEEPER]
    if not ids:
        return []
    statement = (
        select(EvidenceState)
        .where(among(EvidenceState.reference_id, ids))
        .where(EvidenceState.state == "stale")
    )
    stale = {str(one.reference_id) for one in await read.all(statement)}
    return [one for one in references if one["id"] in stale]


def to_rows(references: Sequence[Reference]) -> list[dict[str, Any]]:
    """References as they are stored."""
    return [one.model_dump(mode="json") for one in references]
