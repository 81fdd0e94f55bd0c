"""The company of CMP-28 as rows: thirteen requirements and the proofs that it has."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

from thenga.domains.compliance.services import recomputing
from thenga.domains.compliance.tables import (
    Applicability,
    Assurance,
    Document,
    DocumentVersion,
    Evidence,
    EvidenceLink,
    EvidenceStatus,
    Origin,
    Requirement,
    Verification,
    VerificationStatus,
)
from thenga.domains.compliance.values.validity import Basis
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin as Because
from thenga.kernel.db.work import Work
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

PIN_ENDS = date(2026, 12, 15)
COMPANY: dict[str, Any] = {"kind": "organization", "ref": None}
# Code, type of its proof (None: no proof), and whether it is verified.
VECTOR: tuple[tuple[str, str | None, bool], ...] = (
    ("csd_registration", "csd_report", True),
    ("company_registration", "cipc_certificate", True),
    ("annual_return", None, False),
    ("beneficial_ownership", "bo_confirmation", False),
    ("tax_compliance", "tcs_pin_letter", True),
    ("exclusion_lists", "exclusion_list_printout", True),
    ("bidder_disclosure", "bidder_disclosure", True),
    ("authority_to_sign", "board_resolution", True),
    ("bbbee_status", "bbbee_certificate", False),
    ("coida_good_standing", None, False),
    ("uif_compliance", "uif_certificate", True),
    ("bank_confirmation", "bank_letter", False),
)


@dataclass
class Prover:
    """One company whose proofs are rows, without files."""

    host: Host
    organization_id: UUID

    def work(self) -> Work:
        scope = Scope(actor=SYSTEM, organization_id=self.organization_id)
        return Work(self.host, "compliance", scope, Because("factory", "factory", "factory"))

    async def build(self, *, without: str | None = None) -> dict[str, UUID]:
        """The whole vector, perhaps without one proof; the requirements by code."""
        found: dict[str, UUID] = {}
        work = self.work()
        for code, type_code, is_verified in VECTOR:
            row = await self._requirement(work, code, [COMPANY])
            found[code] = row.id
            if type_code is not None and code != without:
                ends = PIN_ENDS if code == "tax_compliance" else None
                await self.prove(work, row.id, type_code, is_verified=is_verified, ends=ends)
        director, other = uuid4(), uuid4()
        row = await self._requirement(work, "director_identity", [_director(director)])
        row = await work.hold(row)
        row.subjects = [_director(director), _director(other)]
        await work.save(row)
        await self.prove(work, row.id, "certified_id_copy", of_director=director)
        found["director_identity"] = row.id
        await recomputing.mark_due(work)
        await work.finish()
        return found

    async def _requirement(self, work: Work, code: str, subjects: list[Any]) -> Requirement:
        return await work.add(
            Requirement(
                organization_id=self.organization_id,
                origin=Origin.CATALOGUE,
                definition_code=code,
                params={},
                subjects=subjects,
                applicability=Applicability.APPLICABLE,
                because=[],
            )
        )

    async def prove(
        self,
        work: Work,
        requirement_id: UUID,
        type_code: str,
        *,
        is_verified: bool = True,
        ends: date | None = None,
        of_director: UUID | None = None,
    ) -> Evidence:
        """A proof that was issued today, verified today by a colleague where it is."""
        today = local_day(work.now)
        is_declared = type_code == "bidder_disclosure"
        document_id = (
            None if is_declared else await self._document(work, type_code, today, ends, of_director)
        )
        check = new_id() if is_verified else None
        evidence = await work.add(
            Evidence(
                organization_id=self.organization_id,
                proof_kind="declaration" if is_declared else "document",
                proof_key=f"{type_code}/{document_id or uuid4()}",
                document_id=document_id,
                document_version=0 if is_declared else 1,
                statement_code=type_code if is_declared else None,
                sha256="0" * 64,
                assurance=Assurance.INTERNAL if is_verified else Assurance.DECLARED,
                status=EvidenceStatus.VERIFIED if is_verified else EvidenceStatus.SUBMITTED,
                valid_until=ends,
                verified_until=today + timedelta(days=180) if is_verified else None,
                latest_verification_id=check,
            )
        )
        if check is not None:
            await self.check(work, evidence.id, check, VerificationStatus.VERIFIED)
        await work.add(
            EvidenceLink(
                organization_id=self.organization_id,
                evidence_id=evidence.id,
                requirement_id=requirement_id,
            )
        )
        return evidence

    async def check(
        self,
        work: Work,
        evidence_id: UUID,
        check: UUID,
        status: VerificationStatus,
        reason: str | None = None,
    ) -> None:
        """A decided verification."""
        await work.add(
            Verification(
                id=check,
                organization_id=self.organization_id,
                evidence_id=evidence_id,
                method="manual",
                requested_from="internal",
                status=status,
                evidence_sha256="0" * 64,
                evidence_version=1,
                assurance="internal",
                reason_code=reason,
                checked_at=work.now,
            )
        )

    async def _document(
        self, work: Work, type_code: str, today: date, ends: date | None, director: UUID | None
    ) -> UUID:
        basis = None if ends is None else Basis.PRINTED
        paper = await work.add(
            Document(
                organization_id=self.organization_id,
                document_type_code=type_code,
                document_class="ordinary",
                subject_kind="organization" if director is None else "director",
                subject_ref=director,
                current_version=1,
                expires_on=ends,
                valid_until=ends,
                valid_basis=basis,
                next_check_at=work.now if ends else None,
            )
        )
        await work.add(
            DocumentVersion(
                organization_id=self.organization_id,
                document_id=paper.id,
                number=1,
                issued_on=today,
                expires_on=ends,
                valid_until=ends,
                valid_basis=basis,
                attributes={},
                content_status=ContentStatus.CLEAN,
            )
        )
        return paper.id

    async def doubt(self, code_requirement: UUID, reason: str = "source_down") -> None:
        """The check of the only proof of a requirement ends without an answer."""
        work = self.work()
        link = await work.find(EvidenceLink, requirement_id=code_requirement)
        assert link is not None
        evidence = await work.lock(Evidence, link.evidence_id)
        check = new_id()
        evidence.status, evidence.assurance = EvidenceStatus.SUBMITTED, Assurance.DECLARED
        evidence.latest_verification_id = check
        await work.save(evidence)
        await self.check(work, evidence.id, check, VerificationStatus.INCONCLUSIVE, reason)
        await recomputing.mark_due(work)
        await work.finish()


def _director(ref: UUID) -> dict[str, Any]:
    return {"kind": "director", "ref": str(ref)}
