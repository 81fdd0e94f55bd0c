"""Evidence: one proof, linked to every requirement that it serves (CMP-15)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.services import requirements
from thenga.domains.compliance.services.evidence import needs, proofs
from thenga.domains.compliance.services.evidence.fit import LinkFit, fit_of
from thenga.domains.compliance.services.evidence.proofs import Cited, Unlinkable
from thenga.domains.compliance.tables import Evidence, EvidenceLink, Verification
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

MOST_LINKS = 50


@dataclass(frozen=True, slots=True)
class Linked:
    """One link of an evidence with its fit on the evaluated day."""

    requirement_id: UUID
    code: str | None
    fit: LinkFit


@dataclass(frozen=True, slots=True)
class EvidenceDetail:
    """An evidence with its links, its verifications and the chain of what it replaced."""

    evidence: Evidence
    links: list[Linked]
    verifications: list[Verification]
    chain: list[UUID]


async def add_evidence(
    work: Work, cited: Cited, *, requirement_ids: Sequence[UUID], period: str, note: str | None
) -> Evidence:
    """Link a proof to requirements; a proof that is linked already is named in the refusal."""
    await _refuse_duplicate(work, cited, period)
    asked = await _known(work, requirement_ids)
    _check_statement(cited, asked)
    evidence = Evidence(
        id=new_id(),
        organization_id=work.organization_id,
        period=period,
        note=note,
        sha256=cited.sha256,
        valid_until=cited.facts.valid_until,
        linked_by=work.actor.person_id,
        **cited.columns,
    )
    await work.add(evidence)
    await _add_links(work, evidence, list(asked))
    work.publish(public.EvidenceLinked(**await facts(work, evidence)))
    return evidence


async def change_evidence(
    work: Work,
    evidence_id: UUID,
    *,
    added: Sequence[UUID],
    removed: Sequence[UUID],
    fields: dict[str, Any],
) -> Evidence:
    """Link more requirements, unlink others, or change the note."""
    await proofs.readable_evidence(work, evidence_id)
    evidence = await work.lock(Evidence, evidence_id)
    known = (await needs.links_of(work, [evidence.id]))[evidence.id]
    new = [one for one in dict.fromkeys(added) if one not in known]
    gone = [one for one in removed if one in known]
    await _known(work, new)
    if len(known) + len(new) - len(gone) > MOST_LINKS:
        raise Unlinkable(f"A piece of evidence can support at most {MOST_LINKS} requirements.")
    changed = merge_patch(evidence, fields)
    if not new and not gone and not changed:
        return evidence
    await _add_links(work, evidence, new)
    await _remove_links(work, evidence, gone)
    await work.touch(evidence)
    await publish_change(work, evidence)
    return evidence


async def get_detail(read: Reader, evidence_id: UUID) -> EvidenceDetail:
    """One evidence with all that belongs to it."""
    return await detail_of(read, await proofs.readable_evidence(read, evidence_id))


async def detail_of(read: Reader, evidence: Evidence) -> EvidenceDetail:
    """The links with their fit today, the verifications, and what it was before."""
    statement = select(Verification).where(Verification.evidence_id == evidence.id)
    verifications = await read.all(statement.order_by(Verification.id.desc()), limit=100)
    chain: list[UUID] = []
    before = evidence.successor_of
    while before is not None and len(chain) < MOST_LINKS:
        chain.append(before)
        earlier = await read.find(Evidence, id=before)
        before = earlier.successor_of if earlier is not None else None
    links = await linked(read, evidence, on=local_day(read.now))
    return EvidenceDetail(evidence, links, verifications, chain)


async def linked(read: Reader, evidence: Evidence, *, on: date) -> list[Linked]:
    """The fit of each link of an evidence on a day."""
    ids = (await needs.links_of(read, [evidence.id]))[evidence.id]
    asked = await needs.asked_by(read, ids, on=on)
    stated = await proofs.facts_now(read, evidence)
    return [
        Linked(one, asked[one].code, fit_of(stated, asked[one].need, on))
        for one in ids
        if one in asked
    ]


async def add_successor(work: Work, old: Evidence, cited: Cited, *, by: UUID | None) -> Evidence:
    """The same requirements, proven by a newer version; the old one keeps counting (CMP-13)."""
    evidence = Evidence(
        id=new_id(),
        organization_id=old.organization_id,
        period=old.period,
        sha256=cited.sha256,
        valid_until=cited.facts.valid_until,
        successor_of=old.id,
        linked_by=by,
        **cited.columns,
    )
    ids = (await needs.links_of(work, [old.id]))[old.id]
    await work.add(evidence)
    await _add_links(work, evidence, ids)
    told = await facts(work, evidence)
    work.publish(public.EvidenceLinked(successor_of=old.id, **told))
    return evidence


async def publish_change(work: Work, evidence: Evidence, *, reason: str | None = None) -> None:
    """Tell that the status or the links of an evidence changed."""
    work.publish(
        public.EvidenceChanged(
            stale_reason=reason or evidence.stale_reason,
            assurance=evidence.assurance,
            **await facts(work, evidence),
        )
    )


async def facts(read: Reader, evidence: Evidence) -> dict[str, Any]:
    """What every event of an evidence says."""
    ids = (await needs.links_of(read, [evidence.id]))[evidence.id]
    asked = await needs.asked_by(read, ids, on=local_day(read.now))
    codes = {one.code for one in asked.values() if one.code is not None}
    return {
        "organization_id": evidence.organization_id,
        "evidence_id": evidence.id,
        "proof": proofs.told_of(evidence),
        "proof_version": evidence.document_version,
        "status": evidence.status.value,
        "valid_until": evidence.valid_until,
        "requirement_ids": ids,
        "requirement_codes": sorted(codes),
    }


async def _known(read: Reader, requirement_ids: Sequence[UUID]) -> dict[UUID, needs.Asked]:
    wanted = list(dict.fromkeys(requirement_ids))
    asked = await needs.asked_by(read, wanted, on=local_day(read.now))
    if len(asked) < len(wanted):
        raise Unlinkable("One of these requirements does not exist.")
    return {one: asked[one] for one in wanted}


def _check_statement(cited: Cited, asked: Mapping[UUID, needs.Asked]) -> None:
    """A declared statement is one of the catalogue, or one that these requirements accept."""
    code = cited.columns.get("statement_code")
    accepted = {one for each in asked.values() for one in each.need.codes}
    if code and code not in accepted and requirements.statement_questions(code) is None:
        raise Unlinkable(
            f"The catalogue has no statement `{code}`, and none of these requirements accepts it."
        )


async def _refuse_duplicate(read: Reader, cited: Cited, period: str) -> None:
    found = await read.find(
        Evidence,
        proof_key=cited.columns["proof_key"],
        document_version=cited.columns.get("document_version", 0),
        period=period,
    )
    if found is not None:
        raise Duplicate(
            "This proof is already linked. Add requirements to its evidence with PATCH.",
            existing={"id": str(found.id)},
        )


async def _add_links(work: Work, evidence: Evidence, requirement_ids: Sequence[UUID]) -> None:
    for requirement_id in requirement_ids:
        before = await work.find(
            EvidenceLink, evidence_id=evidence.id, requirement_id=requirement_id
        )
        if before is not None:
            link = await work.hold(before)
            link.removed_at, link.linked_by = None, work.actor.person_id
            await work.save(link)
            continue
        await work.add(
            EvidenceLink(
                organization_id=evidence.organization_id,
                evidence_id=evidence.id,
                requirement_id=requirement_id,
                linked_by=work.actor.person_id,
            )
        )


async def _remove_links(work: Work, evidence: Evidence, requirement_ids: Sequence[UUID]) -> None:
    for requirement_id in requirement_ids:
        link = await work.lock_by(
            EvidenceLink, beside=True, evidence_id=evidence.id, requirement_id=requirement_id
        )
        link.removed_at = work.now
        await work.save(link)
