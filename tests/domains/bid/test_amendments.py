"""Amendments: one ripple, one decision (BID-49, BID-50)."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import bid as factory
from tests.factories import bid_offer as offer
from tests.factories.identity import Member
from thenga.domains.bid.services import amendments
from thenga.domains.bid.tables import (
    MatrixRow,
    PackStatus,
    Plan,
    Ripple,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.opportunity.public import Tender, Tenders
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host

CLOSING = datetime(2027, 4, 1, 9, tzinfo=UTC)
MOVED = datetime(2027, 4, 8, 9, tzinfo=UTC)


class Amended:
    """A bid whose tender changes as a test says."""

    def __init__(self, bound: Host, patch: pytest.MonkeyPatch, owner: Member) -> None:
        self.bound, self.patch, self.owner = bound, patch, owner
        self.workspace: Workspace
        self.tender: Tender

    def becomes(self, **changes: Any) -> None:
        """Let Opportunity describe the tender with these changes."""
        self.tender = self.tender.model_copy(update=changes)

        async def ask(shape: Any, arguments: Any) -> object:
            return [self.tender]

        self.patch.setitem(self.bound.bindings._bound, Tenders, stand_in(Tenders, ask))

    async def apply(self, number: int, event_id: UUID, *, material: bool = True) -> None:
        work = factory.working(self.bound, self.owner.organization_id)
        try:
            await amendments.apply(
                work,
                self.workspace.id,
                amendment_number=number,
                material=material,
                event_id=event_id,
            )
            await work.finish()
        finally:
            await work.close()


@pytest.fixture
async def amended(
    host: Host, seeded: None, bound: Host, monkeypatch: pytest.MonkeyPatch, clock: Time
) -> Amended:
    clock.set(datetime(2027, 3, 1, 8, tzinfo=UTC))
    owner = await factory.company(host)
    tender = await factory.tender(host, closing_at=CLOSING)
    await factory.tenders.requirement(host, tender, {"kind": "free"}, title="Method")
    made = Amended(bound, monkeypatch, owner)
    made.workspace = await factory.workspace(
        host, owner.organization_id, owner.user_id, of_tender=tender
    )
    made.tender = await factory.described(host, owner.organization_id, tender.id)
    return made


async def with_status(
    host: Host, workspace: Workspace, status: WorkspaceStatus, **columns: Any
) -> None:
    """Bring a workspace into a state, without any of its moves."""
    work = factory.working(host, workspace.organization_id)
    held = await work.lock(Workspace, workspace.id)
    held.status = status
    for name, value in columns.items():
        setattr(held, name, value)
    await work.touch(held)
    await work.finish()


async def reconfirm(
    api: httpx2.AsyncClient, who: Member, workspace_id: UUID, **body: Any
) -> httpx2.Response:
    path = f"/bids/workspaces/{workspace_id}"
    version = (await api.get(path, headers=who.acting)).json()["version"]
    return await api.patch(path, json=body, headers=who.acting | {"If-Match": f'"{version}"'})


@pytest.mark.rule("BID-49")
@pytest.mark.rule("BID-50")
async def test_an_amendment_ripples_once_and_asks_for_a_decision(
    api: httpx2.AsyncClient, host: Host, amended: Amended
) -> None:
    owner, company = amended.owner, amended.owner.organization_id
    (row,) = await factory.rows(host, MatrixRow, company)
    path = f"/bids/workspaces/{amended.workspace.id}/compliance-matrix"
    answer = {"rows": {str(row.requirement_id): {"response": "partial"}}}
    await api.patch(path, json=answer, headers=owner.acting | {"If-Match": '"1"'})
    requirement = amended.tender.requirements[0]
    newer = requirement.model_copy(update={"version": requirement.version + 1})
    added = requirement.model_copy(update={"id": uuid4(), "label": "Two references"})
    event_id = uuid4()

    amended.becomes(closing_at=MOVED, amendment_number=2, requirements=[newer, added])
    for number in (2, 2, 2, 1):
        await amended.apply(number, event_id)

    (ripple,) = await factory.rows(host, Ripple, company)
    told = await factory.told(host, company, "BidReconfirmationRequired")
    open_keys = [one["key"] for one in ripple.effects if one["handling"] == "open"]
    shown = (await api.get(f"/bids/workspaces/{amended.workspace.id}", headers=owner.acting)).json()
    plan = (await api.get(f"{path.rsplit('/', 1)[0]}/plan", headers=owner.acting)).json()
    due = {one["key"]: one["dueAt"] for one in plan["milestones"]}
    rows = (await api.get(path, headers=owner.acting)).json()["rows"]
    print(f"ripples=1 reconfirmations={len(told)} effects={len(ripple.effects)}")
    assert (ripple.causation_event_id, len(told)) == (event_id, 1)
    assert open_keys == [f"requirement:{newer.id}", f"requirement:{added.id}"]
    assert (shown["reconfirmation"]["amendmentNumber"], shown["closingAt"]) == (
        2,
        "2027-04-08T09:00:00Z",
    )
    assert {one["state"] for one in rows} == {"stale", "gap"}
    assert (plan["revision"], due["prices_checked"]) == (2, "2027-03-31T14:00:00Z")
    assert (due["forms_signed"], due["pack_sealed"], due["delivered"]) == (
        "2027-04-02T14:00:00Z",
        "2027-04-06T14:00:00Z",
        "2027-04-07T14:00:00Z",
    )

    older = {"amendmentNumber": 1, "decision": "proceed", "acknowledged": open_keys}
    wrong = await reconfirm(api, owner, amended.workspace.id, reconfirm=older)
    some = older | {"amendmentNumber": 2, "acknowledged": open_keys[:1]}
    partly = await reconfirm(api, owner, amended.workspace.id, reconfirm=some)
    whole = older | {"amendmentNumber": 2}
    done = await reconfirm(api, owner, amended.workspace.id, reconfirm=whole)

    assert (wrong.status_code, wrong.json()["code"]) == (409, "bid-newer-amendment")
    assert (partly.status_code, partly.json()["keys"]) == (409, open_keys[1:])
    assert (done.status_code, done.json()["reconfirmation"]["required"]) == (200, False), done.text
    (ripple,) = await factory.rows(host, Ripple, company)
    assert {one["handling"] for one in ripple.effects} == {"automatic", "acknowledged"}
    assert (ripple.decision, ripple.decided_by) == ("proceed", owner.user_id)


@pytest.mark.rule("BID-49")
async def test_a_minor_amendment_is_only_listed(
    api: httpx2.AsyncClient, host: Host, amended: Amended
) -> None:
    company = amended.owner.organization_id

    amended.becomes(amendment_number=1)
    await amended.apply(1, uuid4(), material=False)

    path = f"/bids/workspaces/{amended.workspace.id}?include=ripples"
    shown = (await api.get(path, headers=amended.owner.acting)).json()
    assert shown["reconfirmation"]["required"] is False
    assert [one["material"] for one in shown["ripples"]] == [False]
    assert len(await factory.told(host, company, "BidAmendmentNoted")) == 1
    assert await factory.told(host, company, "BidReconfirmationRequired") == []
    assert len(await factory.rows(host, Plan, company)) == 1


@pytest.mark.rule("BID-49")
async def test_a_lapsed_bid_revives_and_a_submitted_one_stays(
    api: httpx2.AsyncClient, host: Host, amended: Amended, clock: Time
) -> None:
    company, owner = amended.owner.organization_id, amended.owner
    tender = amended.tender
    clock.set(CLOSING)
    work = factory.working(host, company)
    await factory.workspaces.lapse(work, amended.workspace.id)
    await work.finish()

    amended.becomes(closing_at=MOVED, amendment_number=1)
    await amended.apply(1, uuid4())
    revived = await factory.get(host, Workspace, amended.workspace.id, company)
    submitted = await factory.workspace(host, company, owner.user_id)
    await with_status(host, submitted, WorkspaceStatus.SUBMITTED)
    amended.workspace = submitted
    amended.becomes(id=submitted.tender_opportunity_id, amendment_number=3)
    await amended.apply(3, uuid4())
    kept = await factory.get(host, Workspace, submitted.id, company)

    assert (revived.status, revived.gate_at) == (WorkspaceStatus.PREPARING, MOVED)
    assert (kept.status, kept.reconfirm_amendment) == (WorkspaceStatus.SUBMITTED, 3)
    assert tender.closing_at == CLOSING


@pytest.mark.rule("BID-39")
@pytest.mark.rule("BID-47")
@pytest.mark.rule("BID-49")
async def test_a_material_amendment_unseals_and_voids(
    api: httpx2.AsyncClient, host: Host, amended: Amended
) -> None:
    company, workspace_id = amended.owner.organization_id, amended.workspace.id
    price = await offer.workbook(host, company, workspace_id)
    approval = await offer.approval(host, company, price, None)
    pack = await offer.pack(host, company, workspace_id, PackStatus.SEALED)
    await with_status(host, amended.workspace, WorkspaceStatus.READY)

    amended.becomes(closing_at=MOVED, amendment_number=2)
    for _ in range(3):
        await amended.apply(2, uuid4())

    path = f"/bids/workspaces/{workspace_id}?include=approvals,pack,ripples"
    shown = (await api.get(path, headers=amended.owner.acting)).json()
    sealed = await api.post(
        f"/bids/submission-packs/{pack.id}/seal",
        json={"manifestSha256": "c" * 64},
        headers=amended.owner.acting,
    )
    told = [one["type"].split(".")[1] for one in await factory.all_told(host, company)]
    unsealed, voided = told.count("SubmissionPackUnsealed"), told.count("ApprovalVoided")
    print(f"ripples={len(shown['ripples'])} unsealed={unsealed} voided={voided}")
    assert (shown["status"], shown["pack"]["status"]) == ("preparing", "unsealed")
    assert [one["status"] for one in shown["approvals"]] == ["voided"]
    assert (unsealed, voided, told.count("BidReconfirmationRequired")) == (1, 1, 1)
    keys = {one["key"] for one in shown["ripples"][0]["effects"]}
    assert {f"approval:{approval.id}", f"pack:{pack.id}", "closing"} <= keys
    assert sealed.status_code == 409, sealed.text


@pytest.mark.rule("BID-49")
async def test_a_ripple_keyed_by_delivery_would_be_found(host: Host, amended: Amended) -> None:
    """Planted: every delivery counts as a newer amendment."""
    company = amended.owner.organization_id
    amended.becomes(closing_at=MOVED, amendment_number=1)

    await amended.apply(1, uuid4())
    await with_status(host, amended.workspace, WorkspaceStatus.PREPARING, amendment_number=0)
    with pytest.raises(Exception, match="ripple_"):
        await amended.apply(1, uuid4())

    assert len(await factory.rows(host, Ripple, company)) == 1
