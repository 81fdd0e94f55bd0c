"""Tenders: a private watchlist is told to its owner, a match to all who read matches."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests

from thenga.domains.notification.reactions import opportunity as told
from thenga.domains.notification.tables import Request
from thenga.domains.opportunity.public import Because, DeadlineApproaching, OpportunityMatched
from thenga.kernel.host import Host

CLOSING = datetime(2199, 9, 16, 9, tzinfo=UTC)


def matched(organization_id: UUID, because: list[Because]) -> OpportunityMatched:
    return OpportunityMatched(
        organization_id=organization_id,
        match_id=uuid4(),
        tender_opportunity_id=uuid4(),
        score=None,
        band=None,
        coverage=None,
        because=because,
        label="Repair of the road",
        closing_at=CLOSING,
    )


@pytest.mark.rule("NOT-4")
async def test_reasons_decide_who_is_told_of_a_tender(host: Host, seeded: None) -> None:
    made = requests.with_ports(host)
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    owner = await people.member(host, organization_id, role="owner")
    private = Because(kind="watchlist", watchlist_id=uuid4(), owner_user_id=owner.user_id)

    for because in ([private], [private, Because(kind="match")]):
        work = requests.working(made, organization_id)
        await told.tell_of_match(work, matched(organization_id, because))
        await work.finish()
    work = requests.working(made, organization_id)
    await told.tell_of_deadline(
        work,
        DeadlineApproaching(
            organization_id=organization_id,
            saved_opportunity_id=uuid4(),
            tender_opportunity_id=uuid4(),
            deadline_id=uuid4(),
            kind="closing",
            due_at=CLOSING,
            time_zone="Africa/Johannesburg",
            threshold="P3D",
            label="closing: Repair of the road",
        ),
    )
    await work.finish()

    work = requests.working(made, organization_id)
    stored = await work.all(select(Request).order_by(Request.created_at, Request.id))
    await work.close()
    kinds = [[one["kind"] for one in request.audience] for request in stored]
    assert kinds == [["users"], ["users", "permission"], ["permission"]]
    assert stored[1].facts["reason"] == "it fits your company and it fits a watchlist"
