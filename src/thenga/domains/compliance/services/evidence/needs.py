"""What requirements ask of a proof on a day, from the definition in force and the tender's row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.services import requirements
from thenga.domains.compliance.services.evidence.fit import Need
from thenga.domains.compliance.tables import EvidenceLink, Requirement, RequirementDefinition
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among

_LIMITS = ("affidavitMaxTurnover",)  # of the catalogue, beside the parameters of a tender


@dataclass(frozen=True, slots=True)
class Asked:
    """A requirement, its code, and what it asks of a proof."""

    requirement: Requirement
    need: Need

    @property
    def code(self) -> str | None:
        return self.requirement.definition_code


async def asked_by(read: Reader, requirement_ids: Sequence[UUID], *, on: date) -> dict[UUID, Asked]:
    """What each of these requirements asks; those of others are not there."""
    if not requirement_ids:
        return {}
    statement = select(Requirement).where(among(Requirement.id, requirement_ids))
    rows = await read.all(statement)
    definitions = await requirements.definitions_on(read, on)
    return {
        row.id: Asked(row, need_of(row, definitions.get(row.definition_code or ""))) for row in rows
    }


def need_of(row: Requirement, definition: RequirementDefinition | None) -> Need:
    """What a requirement asks of a proof; free text names no proof and is left to a person."""
    proof = row.proof or (definition.proof if definition is not None else {})
    return Need(
        codes=proof_codes(proof),
        subjects=_subjects(row),
        params=row.params | {n: proof[n] for n in _LIMITS if n in proof},
    )


def proof_codes(proof: Mapping[str, Any]) -> frozenset[str]:
    """Document types, statements and kinds of references that can prove it."""
    declared = [proof["declaration"]] if proof.get("declaration") else []
    lists = ("documentTypes", "declarations", "reference")
    return frozenset([*declared, *(code for name in lists for code in proof.get(name) or ())])


async def links_of(read: Reader, evidence_ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    """The requirements of each evidence, in the order in which they were linked."""
    found: dict[UUID, list[UUID]] = {one: [] for one in evidence_ids}
    if found:
        statement = select(EvidenceLink).where(
            among(EvidenceLink.evidence_id, evidence_ids), EvidenceLink.removed_at.is_(None)
        )
        for link in await read.all(statement.order_by(EvidenceLink.id), limit=10_000):
            found[link.evidence_id].append(link.requirement_id)
    return found


def _subjects(row: Requirement) -> tuple[tuple[str, UUID | None], ...]:
    named = tuple(
        (str(one["kind"]), UUID(str(one["ref"])) if one.get("ref") else None)
        for one in row.subjects
    )
    return named or (("organization", None),)
