"""Claims with evidence, told of by Compliance over the real mesh, and checked by verifiers."""

from datetime import date
from typing import Any
from uuid import UUID

import httpx2

from tests.domains.organization.offering import (
    Folder,
    tell,
    told_types,
)
from tests.factories import identity as people
from tests.settling import Settle
from thenga.domains.compliance import public as compliance
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

GB = {"scheme": "cidb", "code": "GB"}
CLAIM: dict[str, Any] = {"title": "Building of clinics", "classifications": [GB]}
GRADING = {"designation": "5GB", "crsNumber": "10012345", "validUntil": "2199-12-31"}
FOUND = {"outcome": "verified", "method": "document", "source": {"reference": "register 12"}}


def reference(evidence_id: UUID, kind: str = "evidence", domain: str = "compliance") -> dict:
    return {"domain": domain, "type": kind, "id": str(evidence_id)}


def verified(
    owner: people.Member, evidence_id: UUID, document_id: UUID, until: date | None = None
) -> compliance.EvidenceVerified:
    proof = compliance.Proof(domain="compliance", type="document", id=document_id)
    return compliance.EvidenceVerified(
        organization_id=owner.organization_id,
        evidence_id=evidence_id,
        proof=proof,
        proof_version=1,
        status="verified",
        assurance="internal",
        valid_until=until,
    )


def expired(owner: people.Member, document_id: UUID, version: int = 1):
    return compliance.DocumentExpired(
        organization_id=owner.organization_id,
        document_id=document_id,
        document_version=version,
        document_type_code="cidb_certificate",
        valid_until=date(2026, 1, 31),
    )


async def state_of(claims: Folder, capability_id: str) -> list[str]:
    shown = (await claims.get(f"/{capability_id}")).json()
    return [one["state"] for one in shown["evidenceState"]]


async def is_live(claims: Folder, capability_id: str) -> bool:
    return await state_of(claims, capability_id) == ["live"]


async def check(
    claims: Folder, who: people.Person, capability_id: str, **more: Any
) -> httpx2.Response:
    path = f"{claims.path}/{capability_id}/verify"
    return await claims.api.post(path, json=FOUND | more, headers=who.headers)


async def lapses(host: Host, owner: people.Member) -> int:
    return (await told_types(host, owner.organization_id)).count("CapabilityLapsed")


async def proven(
    host: Host, settle: Settle, claims: Folder, curator: people.Person
) -> tuple[str, UUID]:
    """A verified capability, and the document that its evidence rests on."""
    evidence_id, document_id = new_id(), new_id()
    made = await claims.made(**CLAIM, cidb=GRADING, evidenceRefs=[reference(evidence_id)])
    owner = claims.owner
    await tell(host, verified(owner, evidence_id, document_id), owner.organization_id)
    await settle(lambda: is_live(claims, made["id"]))
    await claims.post(f"{made['id']}/request-review")
    answer = await check(claims, curator, made["id"])
    assert answer.status_code == 200, answer.text
    return made["id"], document_id


async def lapsed(claims: Folder, capability_id: str) -> bool:
    shown = (await claims.get(f"/{capability_id}")).json()
    return shown["verificationStatus"] == "lapsed"


async def tell_and_wait(host: Host, settle: Settle, claims: Folder) -> None:
    """All that was told before is done when what is told now is known: one stream, one order."""
    evidence_id = new_id()
    made = await claims.made(title="Marker", classifications=[GB])
    await claims.patch(made["id"], evidenceRefs=[reference(evidence_id)])
    await tell(host, verified(claims.owner, evidence_id, new_id()), claims.owner.organization_id)
    await settle(lambda: is_live(claims, made["id"]))
    await claims.delete(made["id"])
    async with host.engines.connection("organization", "organization_system") as connection:
        await connection.execute(
            "DELETE FROM organization.outbox WHERE aggregate = $1", f"capability/{made['id']}"
        )
