"""Tenders: a private watchlist is told to its owner, a match to all who read matches."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests

from thenga.domains.notification.reactions import opportunity as told
from thenga.domains.notification.tables import Request
from thenga.domains.opportunity.public import (
    Because,
    DeadlineApproaching,
    OpportunityMatched,
    QualificationCompleted,
    RecommendationChanged,
    SourceHealthChanged,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

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


@pytest.mark.rule("NOT-4")
async def test_judgements_are_told_to_those_who_decide(host: Host, seeded: None) -> None:
    made = requests.with_ports(host)
    organization_id, tender_id = uuid4(), uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)

    async def hear(react: Any, event: Any) -> None:
        work = requests.working(made, organization_id)
        work.origin = replace(work.origin, causation_id=str(uuid4()))
        await react(work, event)
        await work.finish()

    await hear(
        told.tell_of_qualification,
        QualificationCompleted(
            organization_id=organization_id,
            qualification_id=uuid4(),
            tender_opportunity_id=tender_id,
            revision=1,
            verdict="conditional",
            unmet=["coida_good_standing"],
        ),
    )
    recommendation_id = uuid4()
    for status, preliminary in (("proposed", True), ("proposed", False), ("accepted", False)):
        await hear(
            told.tell_of_recommendation,
            RecommendationChanged(
                organization_id=organization_id,
                recommendation_id=recommendation_id,
                tender_opportunity_id=tender_id,
                verdict="bid_minor_gaps",
                status=status,
                preliminary=preliminary,
            ),
        )

    work = requests.working(made, organization_id)
    stored = await work.all(select(Request).order_by(Request.created_at, Request.id))
    await work.close()
    assert [(one.topic_code.partition(".")[2], one.errors) for one in stored] == [
        ("qualification_completed", []),
        ("recommendation_changed", []),
        ("recommendation_changed", []),
    ]
    assert stored[0].facts == {"verdict": "conditional", "unmet": "1"}
    assert stored[1].facts == {"verdict": "bid, with minor gaps", "status": "proposed"}
    permissions = [one.audience[0]["permission"].partition(":")[2] for one in stored]
    assert permissions == [
        "recommendation:decide",
        "recommendation:decide",
        "saved_opportunity:read",
    ]


@pytest.mark.rule("NOT-4")
async def test_keepers_of_a_source_learn_that_it_fails(host: Host, seeded: None) -> None:
    made = requests.with_ports(host)
    company, source_id = uuid4(), uuid4()
    await deliveries.tenant(host, company, sandbox=True)
    stored = []
    for organization_id in (OPERATOR, company):
        for before, after in (("unknown", "ok"), ("ok", "late"), ("late", "failing")):
            work = requests.working(made, organization_id)
            work.origin = replace(work.origin, causation_id=str(uuid4()))
            await told.report_unhealthy_source(
                work,
                SourceHealthChanged(
                    organization_id=organization_id,
                    source_id=source_id,
                    from_health=before,
                    to_health=after,
                    reason="no_success" if after != "ok" else None,
                ),
            )
            await work.finish()
        work = requests.working(made, organization_id)
        topic = Request.topic_code == "opportunity.source_unhealthy"
        stored.append(await work.all(select(Request).where(topic).order_by(Request.created_at)))
        await work.close()

    for requested in stored:
        assert [(each.facts["health"], each.facts["cause"], each.errors) for each in requested] == [
            ("is late", "no success", []),
            ("fails", "no success", []),
        ]
        permissions = {each.audience[0]["permission"] for each in requested}
        assert permissions == {"opportunity:source:update"}
