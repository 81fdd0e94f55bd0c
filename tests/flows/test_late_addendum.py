"""A late addendum reaches a sealed bid: the worker takes it back and tells who must decide."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import select

from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories.identity import Member
from tests.settling import Settle
from thenga.domains.bid.tables import PackStatus, Workspace, WorkspaceStatus
from thenga.domains.notification.tables import Escalation, EscalationStatus, Request
from thenga.domains.opportunity.provider import LocalTenders
from thenga.domains.opportunity.public import Tenders
from thenga.domains.opportunity.services import amendments, notices
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.domains("bid", "opportunity", "notification")

DOMAINS = ("opportunity", "bid", "notification")


@pytest.fixture
def asked_tenders(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that can ask Opportunity, as that of a whole deployment."""
    monkeypatch.setitem(host.bindings._bound, Tenders, LocalTenders(host))


async def sealed_bid(host: Host, owner: Member, of_tender: Any) -> tuple[Workspace, Any]:
    """A bid with an approval and a sealed pack."""
    company = owner.organization_id
    made = await factory.workspace(host, company, owner.user_id, of_tender=of_tender)
    price = await offers.workbook(host, company, made.id)
    await offers.approval(host, company, price, None)
    pack = await offers.pack(host, company, made.id, PackStatus.SEALED)
    work = factory.working(host, company)
    held = await work.lock(Workspace, made.id)
    held.status = WorkspaceStatus.READY
    await work.save(held)
    await work.finish()
    return held, pack


async def amend(host: Host, tender_id: UUID) -> None:
    """The source moves the closing."""
    work = factory.tenders.working(host, OPERATOR)
    held = await notices.keep(work, tender_id)
    assert held.closing_at is not None
    held.closing_at += timedelta(days=7)
    await amendments.amend(work, held, origin="source_diff")
    await work.finish()


async def notified(host: Host, company: UUID, row: Any) -> list[Any]:
    work = requests.working(host, company)
    try:
        return await work.all(select(row).order_by(row.created_at))
    finally:
        await work.close()


@pytest.mark.settles(*DOMAINS)
@pytest.mark.usefixtures("asked_tenders")
@pytest.mark.rule("BID-47")
@pytest.mark.rule("BID-49")
@pytest.mark.rule("NOT-41")
async def test_a_late_addendum_unseals_and_escalates(
    api: httpx2.AsyncClient, host: Host, settle: Settle
) -> None:
    owner = await factory.company(host)
    company = owner.organization_id
    await deliveries.tenant(host, company, sandbox=True)
    tender = await factory.tender(host)
    workspace, pack = await sealed_bid(host, owner, tender)
    path = f"/bids/workspaces/{workspace.id}"

    await amend(host, tender.id)

    async def escalated() -> list[Any] | None:
        return await notified(host, company, Escalation) or None

    (opened,) = await settle(escalated)

    shown = (await api.get(f"{path}?include=approvals,pack,ripples", headers=owner.acting)).json()
    told = [one["type"].split(".")[1] for one in await factory.all_told(host, company)]
    counts = [told.count(one) for one in ("BidReconfirmationRequired", "SubmissionPackUnsealed")]
    (ripple,) = shown["ripples"]
    print(f"ripples=1 reconfirmations={counts[0]} unsealed={counts[1]}")
    assert (shown["status"], shown["pack"]["status"]) == ("preparing", "unsealed")
    assert shown["pack"]["id"] == str(pack.id)
    assert [one["status"] for one in shown["approvals"]] == ["voided"]
    assert shown["reconfirmation"]["required"] is True
    assert counts == [1, 1]
    assert (opened.policy_key, opened.about["id"]) == ("bid.reconfirm", str(workspace.id))

    open_keys = [one["key"] for one in ripple["effects"] if one["handling"] == "open"]
    body = {"amendmentNumber": 1, "decision": "proceed", "acknowledged": open_keys}
    seen = {"If-Match": f'"{shown["version"]}"'}
    done = await api.patch(path, json={"reconfirm": body}, headers=owner.acting | seen)
    assert done.status_code == 200, done.text

    async def resolved() -> bool:
        (found,) = await notified(host, company, Escalation)
        return bool(found.status is EscalationStatus.RESOLVED)

    await settle(resolved)
    topics = {one.topic_code for one in await notified(host, company, Request)}
    faults = [one.errors for one in await notified(host, company, Request) if one.errors]
    assert {"bid.reconfirmation_required", "bid.unsealed"} <= topics
    assert faults == []
