"""Bids: tasks, approvals, amendments and outcomes are told to those whom they concern."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories.notification_requests import Office

from thenga.domains.bid import public as bid
from thenga.domains.notification.reactions import reactions
from thenga.domains.notification.tables import Escalation, Request, RequestStatus
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

DUE = datetime(2199, 9, 16, 14, tzinfo=UTC)
CANARY = "494041.60"


@pytest.fixture
async def office(clock: Time, host: Host, seeded: None) -> Office:
    """A sandbox: its messages are captured and not sent."""
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    return Office(requests.with_ports(host), clock, organization_id)


async def hear(office: Office, event: Any, *, times: int = 1) -> None:
    """React as the consumer would, as often as the event is delivered."""
    event_id = new_id()
    for _ in range(times):
        origin = Origin("test", "test", "test", causation_id=str(event_id))
        work = Work(office.host, "notification", Scope(SYSTEM, office.organization_id), origin)
        envelope = Envelope(
            id=event_id,
            type=event.type,
            source="/bid",
            subject="x",
            time=work.now,
            organizationid=office.organization_id,
            sequence=1,
            data=event.model_dump(mode="json", by_alias=True),
        )
        for reaction in reactions.all:
            if reaction.event_type == event.type:
                await reaction.handle(work, envelope)
        await work.finish()


def facts(office: Office) -> dict[str, Any]:
    return {
        "organization_id": office.organization_id,
        "workspace_id": uuid4(),
        "tender_opportunity_id": uuid4(),
        "label": "Road to the school",
    }


async def asked(office: Office) -> list[Request]:
    return await office.all(select(Request).order_by(Request.created_at, Request.id))


def assigned(office: Office, owner: UUID | None, status: str = "todo") -> bid.BidTaskAssigned:
    return bid.BidTaskAssigned(
        **facts(office), task_id=uuid4(), owner_user_id=owner, status=status, due_at=DUE
    )


@pytest.mark.rule("NOT-4")
async def test_a_task_is_told_to_whom_it_is_assigned(host: Host, office: Office) -> None:
    owner = await people.member(host, office.organization_id, role="contributor")

    await hear(office, assigned(office, owner.user_id), times=2)
    await hear(office, assigned(office, None))
    await hear(office, assigned(office, owner.user_id, "done"))

    (request,) = await asked(office)
    assert request.topic_code == "bid.task_assigned"
    assert request.audience[0]["user_ids"] == [str(owner.user_id)]
    assert request.facts == {
        "task": "Road to the school",
        "dueAt": "16 September 2199, 16:00 SAST",
    }


@pytest.mark.rule("NOT-4")
async def test_an_approval_is_told_to_the_named_or_to_all(host: Host, office: Office) -> None:
    who = await people.member(host, office.organization_id, role="approver")
    about = bid.ApprovedSubject(type="workbook", id=uuid4(), version=1, sha256="0" * 64)
    given = facts(office) | {"kind": "price", "about": about, "expires_at": DUE}

    for named in ([who.user_id], []):
        event = bid.ApprovalRequested(**given, approval_id=uuid4(), approver_user_ids=named)
        await hear(office, event)

    first, second = await asked(office)
    assert first.audience[0]["user_ids"] == [str(who.user_id)]
    assert second.audience[0]["permission"] == "bid:approval:decide"
    assert first.facts["subject"] == "price"


@pytest.mark.rule("NOT-41")
@pytest.mark.parametrize("ended", ["reconfirmed", "lapsed", "preparing"])
async def test_an_amended_bid_is_escalated_until_it_is_decided(office: Office, ended: str) -> None:
    about = facts(office)
    more = {"amendment_number": 2, "ripple_id": uuid4(), "closing_at": DUE}
    await hear(office, bid.BidReconfirmationRequired(**about, **more, effect_keys=[]), times=3)
    (opened,) = await office.all(select(Escalation))

    if ended == "reconfirmed":
        await hear(office, bid.BidReconfirmed(**about, **more, decision="proceed"))
    else:
        changed = {"previous_status": "ready", "reason_code": None, "bid_manager_user_id": None}
        event = bid.BidWorkspaceChanged(**about, **changed, status=ended, closing_at=DUE)
        await hear(office, event)
    (found,) = await office.all(select(Escalation))

    (request,) = await asked(office)
    assert (opened.policy_key, opened.level, opened.status) == ("bid.reconfirm", 1, "open")
    assert found.status == ("open" if ended == "preparing" else "resolved")
    assert (request.lane, request.acknowledgement) == ("urgent", "required")
    assert request.facts["amendment"] == "2"


@pytest.mark.rule("BID-4")
async def test_readers_hear_how_a_bid_goes_and_no_amount(office: Office) -> None:
    about = facts(office)
    pack = {"pack_id": uuid4(), "number": 1, "manifest_sha256": "0" * 64}
    value = {"amount": CANARY, "currency": "ZAR"}
    subject = bid.ApprovedSubject(type="pack", id=uuid4(), version=1, sha256="0" * 64)
    outcome = {"outcome_id": uuid4(), "award_reference": "A 1"}
    for event in (
        bid.BidApproved(**about, approval_id=uuid4(), about=subject),
        bid.SubmissionPackSealed(**about, **pack, overrides=0),
        bid.SubmissionPackUnsealed(**about, **pack, cause="amendment"),
        bid.BidSubmitted(
            **about,
            pack_id=pack["pack_id"],
            proof_id=uuid4(),
            submitted_at=DUE,
            channel="box",
            recorded_late=False,
        ),
        bid.BidWithdrawn(**about, reason_code="withdrawn"),
        bid.BidAwarded(
            **about,
            **outcome,
            awarded_on=date(2027, 5, 1),
            awarded_value=value,
            buyer_name=None,
            document_refs=[],
            pack_id=None,
            manifest_sha256=None,
            bidders=[],
        ),
        bid.BidLost(
            **about,
            outcome_id=uuid4(),
            result="lost",
            reasons=["price_too_high"],
            bid_total=value,
        ),
        bid.BidAwardSetAside(**about, **outcome, reason_code="appeal"),
    ):
        await hear(office, event, times=2)

    found = await asked(office)
    topics = [one.topic_code for one in found]
    assert topics == [
        *("bid.changed", "bid.changed", "bid.unsealed", "bid.changed", "bid.changed"),
        *("bid.outcome", "bid.outcome", "bid.outcome"),
    ]
    assert {one.status for one in found} == {RequestStatus.ACCEPTED}
    assert {one.audience[0]["permission"] for one in found} == {"bid:workspace:read"}
    assert CANARY not in str([one.facts for one in found])
