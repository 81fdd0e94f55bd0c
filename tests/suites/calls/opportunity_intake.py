"""Calls of Opportunity: sources, runs, documents and requirements."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import held
from tests.factories import opportunity as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent, of_person
from thenga.domains.opportunity.services import documents, requirements
from thenga.domains.opportunity.tables import Source, SourceState, SourceStatus
from thenga.kernel.files import contents
from thenga.kernel.process.host import Host

_AT = "tenderOpportunityId"
_SETTINGS = {"pageSize": 1000, "windowDays": 7, "trailDays": 90}
_NOTED: dict[str, Any] = {
    "class": "informational",
    "title": "Bids are valid for 90 days",
    "criterion": {"kind": "validity", "days": 90},
}


async def _creating(host: Host, who: Person, organization_id: UUID) -> Sent:
    await held.granted_once(host, organization_id, "opportunity.sources")
    body = {
        "name": f"Bulletin {uuid4().hex[:12]}",
        "kind": "manual",
        "licence": "Public notice",
        "attribution": "Government Tender Bulletin",
    }
    return Sent({}, lambda _: body)


async def _source(host: Host, organization_id: UUID) -> Source:
    """An active source that takes uploads."""
    work = factory.working(host, organization_id)
    name = f"Uploads {uuid4().hex[:12]}"
    made = await work.add(
        Source(
            organization_id=organization_id,
            name=name,
            name_key=name.casefold(),
            kind="ocds_upload",
            settings=_SETTINGS,
            clock_fault="wall_time_as_utc",
            cadence_seconds=3600,
            document_hosts=[],
            rank=70,
            licence="Public notice",
            attribution="Test",
            status=SourceStatus.ACTIVE,
        )
    )
    await work.add(SourceState(id=made.id, organization_id=organization_id))
    await work.finish()
    return made


def _on_source(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await _source(host, organization_id)
        return Sent({"sourceId": made.id}, lambda _: given)

    return sent


async def _adding(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host, organization_id)
    return Sent({_AT: made.id}, lambda _: {"title": f"Addendum {uuid4().hex[:6]}"})


def _on_document(*, clean: bool = False, content: bool = False) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.tender(host, organization_id)
        work = factory.working(host, organization_id)
        fields = {"title": "Specification.txt", "url": None}
        document, _ = await documents.add(work, made.id, fields, fetch=False)
        if clean:
            kept = await host.files.put(
                f"opportunity/clean/{organization_id}", _chunks(), most_bytes=1000
            )
            await work.hold(document)
            document.object_key, document.sha256 = kept.key, kept.sha256
            document.size, document.media_type = kept.size, kept.media_type
            document.content_status = contents.ContentStatus.CLEAN
            await work.save(document)
        await work.finish()
        ids = {_AT: made.id, "documentId": document.id}
        return Sent(ids, lambda _: b"A specification." if content else None)  # type: ignore[arg-type,return-value]  # bytes

    return sent


async def _chunks() -> Any:
    yield b"A specification."


async def _capturing(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.tender(host, organization_id)
    return Sent({_AT: made.id}, lambda _: _NOTED)


def _on_requirement(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.tender(host, organization_id)
        work = factory.working(host, organization_id)
        fields = {
            "requirement_class": "informational",
            "title": "Bids are valid for 60 days",
            "criterion": {"kind": "validity", "days": 60},
            "evidence_kinds": [],
        }
        captured = await requirements.capture(work, made.id, fields)
        await work.finish()
        return Sent({_AT: made.id, "requirementId": captured.id}, lambda _: given)

    return sent


MAKERS: dict[str, Maker] = {
    "create_source": _creating,
    "list_sources": of_person,
    "get_source": _on_source(),
    "change_source": _on_source({"licence": "ODC PDDL"}),
    "start_run": _on_source({"mode": "upload", "releases": [{"ocid": "ocds-test-1"}]}),
    "add_tender_document": _adding,
    "get_tender_document": _on_document(),
    "replace_tender_document_content": _on_document(content=True),
    "get_tender_document_content": _on_document(clean=True),
    "list_tender_requirements": _on_requirement(),
    "get_tender_requirement": _on_requirement(),
    "create_tender_requirement": _capturing,
    "change_tender_requirement": _on_requirement({"title": "Bids are valid for 120 days"}),
}
