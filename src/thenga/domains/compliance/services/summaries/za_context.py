"""The South African summary: what is known of each register and paper, and how sure (CMP-40)."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.services import requirements
from thenga.domains.compliance.services.documents import Sight
from thenga.domains.compliance.services.summaries.assessments import (
    Assessments,
    assess_all,
    assurance_name,
)
from thenga.domains.compliance.tables import Origin, Requirement
from thenga.domains.compliance.values.confidence import confidence
from thenga.kernel.db.reader import Reader

ITEMS = {
    "csd": "csd_registration",
    "taxCompliance": "tax_compliance",
    "bbbee": "bbbee_status",
    "cipc": "company_registration",
    "annualReturn": "annual_return",
    "beneficialOwnership": "beneficial_ownership",
    "vat": "vat_registration",
    "coida": "coida_good_standing",
    "uif": "uif_compliance",
    "cidb": "cidb_registration",
    "bank": "bank_confirmation",
    "municipalAccount": "municipal_account",
    "bidderDisclosure": "bidder_disclosure",
    "restrictedSuppliers": "exclusion_lists",
    "tenderDefaulters": "exclusion_lists",
}
_SWORN = "bbbee_affidavit"


@dataclass(frozen=True, slots=True)
class ZaItem:
    """One register or paper on the day."""

    code: str
    state: str
    detail: dict[str, Any]
    source_kind: str | None
    source_name: str | None
    source_ref: UUID | None
    as_of: date | None
    valid_until: date | None
    confidence: Decimal | None
    rule_mark: str | None


@dataclass(frozen=True, slots=True)
class ZaContext:
    """All items of one day, and the law in force on it."""

    on: date
    items: list[ZaItem]
    frame: list[dict[str, Any]]


async def describe(read: Reader, sight: Sight, on: date | None = None) -> ZaContext:
    """The summary of the acting company on a day, as far as the caller may read its documents."""
    assessments = await assess_all(read, sight, on)
    statement = select(Requirement).where(Requirement.origin == Origin.CATALOGUE)
    by_code = {row.definition_code: row for row in await read.all(statement)}
    items = [_item(name, by_code.get(code), code, assessments) for name, code in ITEMS.items()]
    return ZaContext(assessments.on, items, _frame(assessments.on))


def _item(name: str, row: Requirement | None, code: str, assessments: Assessments) -> ZaItem:
    definition = assessments.company.definition(code, assessments.on)
    mark = None if definition is None else definition.source.get("mark")
    if row is None:
        return ZaItem(name, "unknown", {}, None, None, None, None, None, None, mark)
    found = assessments.by_requirement.get(row.id)
    proof = assessments.proof_of(row.id)
    kind = assurance_name(found) if proof is not None else None
    checked = None
    if proof is not None:
        checked = proof.checked_on or proof.facts.issued_on
    age = max(0, (assessments.on - checked).days) if checked is not None else 0
    recheck = None if definition is None else definition.recheck_days
    return ZaItem(
        code=name,
        state=assessments.state_of(row.id).value,
        detail={} if proof is None else _detail(name, proof.facts.code, proof.facts.attributes),
        source_kind=kind,
        source_name=None if proof is None else proof.facts.code,
        source_ref=None if proof is None else proof.evidence_id,
        as_of=checked,
        valid_until=None if found is None else found.valid_until,
        confidence=confidence(kind, age_days=age, recheck_days=recheck),
        rule_mark=mark,
    )


def _detail(name: str, proof_code: str, attributes: Any) -> dict[str, Any]:
    """B-BBEE shows the level and whether it was sworn; CIDB its designations. Nothing else."""
    if name == "bbbee":
        basis = "sworn" if proof_code == _SWORN else "measured"
        return {"level": attributes.get("level"), "basis": basis}
    if name == "cidb":
        return {"designations": attributes.get("designations") or []}
    return {}


def _frame(on: date) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = requirements.declared("frame")
    return [row for row in rows if date.fromisoformat(row["effectiveFrom"]) <= on]
