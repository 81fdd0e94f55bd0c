"""Marketplace: decisions about listings and answers to support requests are told once."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories.notification_requests import Office

from thenga.domains.marketplace.public import ListingModerated, SupportRequestResolved
from thenga.domains.notification.reactions import marketplace as told
from thenga.domains.notification.services.templates.contents import platform_content
from thenga.domains.notification.tables import Request
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host
from thenga.kernel.values.references import Reference


@pytest.fixture
async def office(clock: Time, host: Host, seeded: None) -> Office:
    """A sandbox: its messages are captured and not sent."""
    clock.set(datetime(2026, 11, 16, 8, tzinfo=UTC))
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    return Office(requests.with_ports(host), clock, organization_id)


def resolved(reporter: UUID) -> SupportRequestResolved:
    return SupportRequestResolved(
        support_request_id=uuid4(),
        reporter_organization_id=reporter,
        operator_organization_id=OPERATOR,
        kind="appeal_moderation",
        about=Reference(domain="marketplace", type="listing", id=uuid4()),
        outcome="upheld",
        status="resolved",
    )


async def test_a_decision_and_an_answer_are_told_once(office: Office) -> None:
    moderated = ListingModerated(
        organization_id=office.organization_id,
        listing_id=uuid4(),
        supplier_id=uuid4(),
        label="Concrete pipes up to 900 mm",
        version_number=2,
        decision="request_changes",
        reason_codes=["contact_in_text", "misleading"],
        status="changes_requested",
        served=False,
    )
    answered = resolved(office.organization_id)
    for _ in range(2):
        work = requests.working(office.host, office.organization_id)
        await told.notify_of_moderation(work, moderated)
        await told.notify_of_resolution(work, answered)
        await work.finish()

    found = await office.all(select(Request).order_by(Request.id))

    facts = {request.topic_code: request.facts for request in found}
    assert len(found) == 2
    assert facts["marketplace.listing_moderated"]["decision"] == "Changes are requested"
    assert facts["marketplace.listing_moderated"]["reasons"] == "contact in text, misleading"
    assert facts["marketplace.support_request_resolved"] == {
        "subject": "your appeal against a decision",
        "outcome": "It is upheld",
    }


async def test_the_operators_copy_tells_nobody(office: Office) -> None:
    work = requests.working(office.host, office.organization_id)
    await told.notify_of_resolution(work, resolved(uuid4()))
    await work.finish()

    assert await office.all(select(Request)) == []


def test_the_letters_name_the_next_step_where_there_is_one() -> None:
    bodies = []
    for topic in ("listing_moderated", "support_request_resolved"):
        email = platform_content(f"marketplace.{topic}").texts["en-ZA"].email
        assert email is not None
        bodies.append(" ".join(email.body.split()))

    moderated, resolved_ = bodies
    assert "explanation if there is one" in moderated  # a publication often has none
    assert "If the decision is against your listing" in moderated  # nobody appeals a publication
    assert "An upheld appeal does not change the listing by itself" in resolved_
