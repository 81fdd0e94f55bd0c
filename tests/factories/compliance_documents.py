"""A company that files its papers: members, real PDFs, requirements, and time that passes."""

import io
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx2
from pypdf import PdfWriter
from sqlalchemy import select

from tests.factories import identity as people
from tests.factories.identity import Member
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.compliance.tables import Applicability, Origin, Requirement
from thenga.kernel.access import origin as origins
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

DOCUMENTS = "/compliance/documents"
EVIDENCE = "/compliance/evidence"
VERIFICATIONS = "/compliance/verifications"


def pdf(*, pages: int = 1, mark: str = "", password: str | None = None) -> bytes:
    """A real PDF; `mark` makes its bytes differ."""
    writer = PdfWriter()
    for _ in range(pages):
        writer.add_blank_page(width=200, height=200)
    writer.add_metadata({"/Title": mark or "Certificate"})
    if password is not None:
        writer.encrypt(password)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


@dataclass
class Office:
    """One company; its jobs are done by `settle`, as a worker would."""

    api: httpx2.AsyncClient
    host: Host
    clock: Clock
    organization_id: UUID = field(default_factory=uuid4)

    def __post_init__(self) -> None:
        self.timeline = Timeline(
            *(self.host, self.clock, topology.load(["compliance"]), self.organization_id)
        )

    async def member(self, role: str = "compliance_officer") -> Member:
        return await people.member(self.host, self.organization_id, role=role)

    async def settle(self) -> None:
        await self.timeline.settle()

    async def add(self, who: Member, type_code: str = "csd_report", **more: Any) -> httpx2.Response:
        body = {
            "organizationId": str(self.organization_id),
            "documentTypeCode": type_code,
            "fileName": "paper.pdf",
        }
        return await self.api.post(DOCUMENTS, json=body | more, headers=who.acting)

    async def put(
        self, who: Member, document_id: str, content: bytes, **headers: str
    ) -> httpx2.Response:
        path = f"{DOCUMENTS}/{document_id}/content"
        return await self.api.put(path, content=content, headers=who.acting | headers)

    async def get(self, who: Member, document_id: str) -> Any:
        return (await self.api.get(f"{DOCUMENTS}/{document_id}", headers=who.acting)).json()

    async def clean(self, who: Member, type_code: str = "csd_report", **more: Any) -> Any:
        """A document whose first version was found clean."""
        made = (await self.add(who, type_code, **more)).json()
        await self.put(who, made["id"], pdf(mark=made["id"]))
        await self.settle()
        return await self.get(who, made["id"])

    async def renew(self, who: Member, document: Any, content: bytes) -> httpx2.Response:
        return await self.put(
            who, document["id"], content, **{"If-Match": f'"{document["version"]}"'}
        )

    async def patch(self, who: Member, document_id: str, **fields: Any) -> httpx2.Response:
        path = f"{DOCUMENTS}/{document_id}"
        return await self.api.patch(path, json=fields, headers=who.acting)

    async def requirement(
        self, code: str | None = "csd_registration", *, tender: bool = False, **params: Any
    ) -> UUID:
        """A requirement of the catalogue, or of a tender with its parameters."""
        work = self.work()
        row = Requirement(
            organization_id=self.organization_id,
            origin=Origin.TENDER if tender else Origin.CATALOGUE if code else Origin.OWN,
            definition_code=code,
            tender_opportunity_id=uuid4() if tender else None,
            title=None if code else "A visit to the site",
            params=params,
            subjects=[{"kind": "organization", "ref": None}],
            applicability=Applicability.APPLICABLE,
            because=[],
        )
        await work.add(row)
        await work.finish()
        return row.id

    async def link(self, who: Member, document: Any, *requirements: UUID) -> httpx2.Response:
        body = {
            "organizationId": str(self.organization_id),
            "documentId": document["id"],
            "requirementIds": [str(one) for one in requirements],
        }
        return await self.api.post(EVIDENCE, json=body, headers=who.acting)

    async def evidence(self, who: Member, evidence_id: str) -> Any:
        return (await self.api.get(f"{EVIDENCE}/{evidence_id}", headers=who.acting)).json()

    async def ask(self, who: Member, evidence_id: str, **more: Any) -> httpx2.Response:
        body = {
            "organizationId": str(self.organization_id),
            "evidenceId": evidence_id,
            "method": "manual",
        }
        return await self.api.post(VERIFICATIONS, json=body | more, headers=who.acting)

    async def decide(
        self, headers: dict[str, str], verification_id: str, **body: Any
    ) -> httpx2.Response:
        path = f"{VERIFICATIONS}/{verification_id}/decide"
        return await self.api.post(path, json=body, headers=headers)

    async def events(self, name: str) -> list[Any]:
        """What this company was told of under that name, in order."""
        text = (
            "SELECT envelope FROM compliance.outbox "
            "WHERE organization_id = $1 AND mesh_subject LIKE $2 ORDER BY position"
        )
        async with self.host.engines.connection("compliance", "compliance_system") as link:
            found = await link.fetch(text, self.organization_id, f"thenga.compliance.{name}.%")
        return [json.loads(one["envelope"])["data"] for one in found]

    def work(self) -> Work:
        scope = Scope(actor=SYSTEM, organization_id=self.organization_id)
        return Work(self.host, "compliance", scope, _ORIGIN)

    async def rows(self, row: Any, **columns: Any) -> list[Any]:
        work = self.work()
        table = row.__table__
        chosen = [table.c[name] == value for name, value in columns.items()]
        try:
            return await work.all(select(row).where(*chosen).order_by(table.c.id))
        finally:
            await work.close()


_ORIGIN = origins.Origin(action="factory", request_id="factory", correlation_id="factory")
