"""Compliance's ports, answered in this process."""

from typing import Literal
from uuid import UUID

from thenga.domains.compliance import public
from thenga.domains.compliance.services import documents, evidence
from thenga.kernel.host import Host
from thenga.kernel.ports.local import Answering


class LocalDocuments(public.Documents):
    """The papers of a company."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Documents)

    async def describe(
        self, *, organization_id: UUID, refs: list[public.DocumentRef]
    ) -> list[public.DocumentCard]:
        async with self._answering.reading(organization_id) as read:
            return await documents.describe(read, refs[:100])

    async def open(
        self,
        *,
        organization_id: UUID,
        document_id: UUID,
        version: int | None,
        purpose: str,
        on_behalf_of: UUID,
        key: str,
    ) -> public.OpenedDocument:
        async with self._answering.working(organization_id) as work:
            return await documents.open_file(
                work, document_id, version=version, purpose=purpose, on_behalf_of=on_behalf_of
            )


class LocalEvidence(public.Evidence):
    """Whether what was relied on still holds."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Evidence)

    async def resolve(
        self, *, organization_id: UUID, refs: list[public.EvidenceRef]
    ) -> list[public.ResolvedEvidence]:
        async with self._answering.reading(organization_id) as read:
            return await evidence.resolve(read, refs[:200])


class LocalAttestations(public.Attestations):
    """What a form may say of the proofs of a company."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Attestations)

    async def describe(
        self,
        *,
        organization_id: UUID,
        codes: list[str],
        purpose: Literal["bid_form", "funding_application"],
    ) -> list[public.Attestation]:
        async with self._answering.working(organization_id) as work:
            return await evidence.describe_attestations(work, codes, purpose=purpose)
