"""Rows of Compliance as its services would leave them, without a scanner or a worker."""

from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from tests.factories import compliance_rows
from tests.factories.identity import Person
from thenga.domains.compliance.tables import (
    AiSuggestion,
    Applicability,
    Origin,
    Profile,
    Requirement,
    Risk,
    TrackedTender,
)
from thenga.kernel.access import origin as origins
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host


def working(host: Host, organization_id: UUID) -> Work:
    origin = origins.Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "compliance", Scope(SYSTEM, organization_id), origin)


async def profile(host: Host, organization_id: UUID) -> Profile:
    """The profile of a company; the one that is there, if there is one."""
    work = working(host, organization_id)
    try:
        found = await work.find(Profile, organization_id=organization_id)
        if found is None:
            found = await work.add(
                Profile(
                    organization_id=organization_id,
                    spheres=["national"],
                    answers={},
                    fact_basis=[],
                    facts_missing=[],
                )
            )
        await work.finish()
    finally:
        await work.close()
    return found


async def requirement(host: Host, organization_id: UUID, **fields: Any) -> Requirement:
    """An own requirement that a CSD report proves."""
    known: dict[str, Any] = {
        "origin": Origin.OWN,
        "title": f"A report {uuid4().hex[:12]}",
        "component": "registration",
        "weight": 2,
        "gate": "soft",
        "proof": {"documentTypes": ["csd_report"]},
        "params": {},
        "subjects": [{"kind": "organization", "ref": None}],
        "applicability": Applicability.APPLICABLE,
        "because": [],
    }
    return await _added(
        host, organization_id, Requirement(organization_id=organization_id, **known | fields)
    )


async def tracked_tender(host: Host, organization_id: UUID) -> TrackedTender:
    """A tender that a company watches."""
    row = TrackedTender(
        organization_id=organization_id, tender_opportunity_id=uuid4(), interest="matched", terms=[]
    )
    return await _added(host, organization_id, row)


async def risk(host: Host, organization_id: UUID, **fields: Any) -> Risk:
    """A risk that a rule has raised."""
    known: dict[str, Any] = {
        "rule_code": "gate_expiring",
        "subject": uuid4().hex,
        "title": "Tax compliance status expires soon",
        "category": "tax",
        "likelihood": 4,
        "impact": 4,
        "score": 16,
        "level": "critical",
        "actions": [],
    }
    return await _added(
        host, organization_id, Risk(organization_id=organization_id, **known | fields)
    )


async def suggestion(host: Host, organization_id: UUID, who: Person) -> AiSuggestion:
    """What a machine read out of a paper."""
    found = await compliance_rows.document(host, organization_id, who.user_id)
    proposed = {"issuedOn": "2026-10-01"}
    work = working(host, organization_id)
    now = work.now
    await work.close()
    row = AiSuggestion(
        organization_id=organization_id,
        key=uuid4().hex,
        kind="document_facts",
        target_type="document",
        target_id=found.id,
        base_version=1,
        proposed=proposed,
        proposed_hash=sha256(repr(proposed).encode()).hexdigest(),
        confidence="0.9",
        sources=[{"documentId": str(found.id), "version": 1, "page": 1, "excerpt": "1 October"}],
        produced_by={"name": "read_certificate", "version": "1"},
        expires_at=now + timedelta(days=60),
    )
    return await _added(host, organization_id, row)


async def _added(host: Host, organization_id: UUID, row: Any) -> Any:
    work = working(host, organization_id)
    await work.add(row)
    await work.finish()
    return row
