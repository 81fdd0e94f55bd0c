"""Calls of Bid: forms, prices, approvals, packs and files."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories import identity as people
from tests.factories.compliance_documents import pdf
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Maker, Sent, of_person
from thenga.domains.bid.tables import BidFile, FormStatus, PackStatus, Workspace
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.process.host import Host

_AT = "workspaceId"
_FIRST = {"If-Match": '"1"'}


def _on_workspace(given: Callable[[], Body] = lambda: None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.workspace(host, organization_id, who.user_id)
        body = given()
        return Sent({_AT: made.id}, lambda _: body)

    return sent


def _on_part(
    name: str,
    make: Callable[[Host, Person, Workspace], Awaitable[UUID]],
    given: Callable[[], Body] = lambda: None,
    **headers: str,
) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        workspace = await factory.workspace(host, organization_id, who.user_id)
        part_id = await make(host, who, workspace)
        body = given()
        return Sent({name: part_id}, lambda _: body, headers=dict(headers))

    return sent


async def _form(host: Host, who: Person, held: Workspace) -> UUID:
    return (await offers.form(host, held.organization_id, held.id)).id


async def _signing(host: Host, who: Person, organization_id: UUID) -> Sent:
    held = await factory.workspace(host, organization_id, who.user_id)
    await offers.known_company(host, organization_id, who.user_id)
    await offers.signatory(host, organization_id, who.user_id)
    made = await offers.form(host, organization_id, held.id, status=FormStatus.COMPLETED)
    body = {"method": "electronic", "capacity": "Director", "renderingSha256": "a" * 64}
    return Sent({"formId": made.id}, lambda _: body, headers=_FIRST)


async def _workbook_of(host: Host, who: Person, held: Workspace) -> UUID:
    await offers.workbook(host, held.organization_id, held.id)
    return held.id


async def _approval(host: Host, who: Person, held: Workspace) -> UUID:
    made = await offers.workbook(host, held.organization_id, held.id)
    return (await offers.approval(host, held.organization_id, made, None)).id


async def _requesting(host: Host, who: Person, organization_id: UUID) -> Sent:
    held = await factory.workspace(host, organization_id, who.user_id)
    await people.member(host, organization_id, role="approver")
    made = await offers.workbook(host, organization_id, held.id)
    body = {"kind": "price", "subjectId": str(made.id)}
    return Sent({_AT: held.id}, lambda _: body)


async def _deciding(host: Host, who: Person, organization_id: UUID) -> Sent:
    held = await factory.workspace(host, organization_id, who.user_id)
    made = await offers.workbook(host, organization_id, held.id)
    asked = await offers.approval(host, organization_id, made, None)
    body = {"decision": "approve", "subjectSha256": made.content_sha256}
    return Sent({"approvalId": asked.id}, lambda _: body)


async def _pack(host: Host, who: Person, held: Workspace) -> UUID:
    return (await offers.pack(host, held.organization_id, held.id)).id


async def _sealed(host: Host, who: Person, organization_id: UUID) -> Sent:
    held = await factory.workspace(host, organization_id, who.user_id)
    made = await offers.pack(host, organization_id, held.id, status=PackStatus.SEALED)
    return Sent({"packId": made.id}, lambda _: {"manifestSha256": "c" * 64})


async def _submitting(host: Host, who: Person, organization_id: UUID) -> Sent:
    held = await factory.workspace(host, organization_id, who.user_id, status="ready")
    made = await offers.pack(host, organization_id, held.id, status=PackStatus.SEALED)
    assert made.sealed_at is not None
    body = {
        "channel": "box",
        "submittedAt": made.sealed_at.isoformat().replace("+00:00", "Z"),
        "receiptReference": "R 1",
    }
    return Sent({"packId": made.id}, lambda _: body)


async def _file(host: Host, who: Person, held: Workspace) -> UUID:
    return (await offers.clean_file(host, held.organization_id, held.id)).id


async def _awaited(host: Host, who: Person, organization_id: UUID) -> Sent:
    held = await factory.workspace(host, organization_id, who.user_id)
    work = factory.working(host, organization_id)
    made = BidFile(
        organization_id=organization_id,
        workspace_id=held.id,
        name="scan.pdf",
        purpose="other",
        content_status=ContentStatus.AWAITING_CONTENT,
    )
    await work.add(made)
    await work.finish()
    return Sent({"fileId": made.id}, lambda _: pdf(mark=str(made.id)))


def _answer() -> dict[str, Any]:
    return {"answers": {"2.2.1": {"value": f"A cousin {uuid4().hex}"}}}


def _price() -> dict[str, Any]:
    return {"items": {"1": {"description": uuid4().hex, "quantity": "1", "unitRate": "2.50"}}}


MAKERS: dict[str, Maker] = {
    "list_form_definitions": of_person,
    "add_sbd_forms": _on_workspace(lambda: {"forms": [{"formCode": "SBD 4"}]}),
    "get_sbd_form": _on_part("formId", _form),
    "change_sbd_form": _on_part("formId", _form, _answer, **_FIRST),
    "sign_sbd_form": _signing,
    "create_workbook": _on_workspace(_price),
    "get_workbook": _on_part(_AT, _workbook_of),
    "change_workbook": _on_part(_AT, _workbook_of, _price, **_FIRST),
    "create_bid_approval": _requesting,
    "get_bid_approval": _on_part("approvalId", _approval),
    "decide_bid_approval": _deciding,
    "create_pack": _on_workspace(dict),
    "get_pack": _on_part("packId", _pack),
    "change_pack": _on_part(
        "packId", _pack, lambda: {"checklist": {"copies": {"done": True}}}, **_FIRST
    ),
    "seal_pack": _sealed,
    "submit_pack": _submitting,
    "add_bid_file": _on_workspace(lambda: {"name": f"{uuid4().hex}.pdf", "purpose": "attachment"}),
    "replace_bid_file_content": _awaited,
    "get_bid_file": _on_part("fileId", _file),
    "get_bid_file_content": _on_part("fileId", _file),
}
