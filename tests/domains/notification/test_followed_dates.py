"""Reminders follow the dates of tenders and documents, and their people hear the news."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories import notification_times as factory
from tests.factories import opportunity as tenders
from tests.factories.notification_requests import Office

from thenga.domains.compliance.public import DocumentChanged, DocumentUploaded
from thenga.domains.notification.reactions import reactions
from thenga.domains.notification.services import reminders
from thenga.domains.notification.tables import Reminder, Request
from thenga.domains.opportunity.public import (
    BriefingScheduled,
    DeadlineApproaching,
    DeadlineChanged,
    TenderOpportunityAmended,
    TenderOpportunityAwarded,
    TenderOpportunityClosed,
)
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

MARCH = datetime(2027, 3, 1, 8, tzinfo=UTC)
LATER = tenders.CLOSING + timedelta(days=7)
PATH = "/notifications/reminders"


@pytest.fixture
async def office(app: FastAPI, host: Host, seeded: None) -> AsyncIterator[Office]:
    """A sandbox: its messages are captured and not sent."""
    made = requests.with_ports(host)
    time = Time(app.state.shared.host, host, made)
    time.set(MARCH)
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    yield Office(made, time, organization_id)
    time.restore()


@pytest.fixture
async def owner(host: Host, office: Office) -> people.Member:
    return await people.member(host, office.organization_id, role="owner")


@pytest.fixture
async def tender(host: Host, office: Office) -> TenderOpportunity:
    """A tender that the company captured itself."""
    return await tenders.tender(host, office.organization_id)


async def hear(office: Office, event: Any, *, sequence: int) -> None:
    """React as the consumer would, and do what follows in this organization."""
    origin = Origin("test", "test", "test", causation_id=str(uuid4()))
    work = Work(office.host, "notification", Scope(SYSTEM, office.organization_id), origin)
    envelope = Envelope(
        id=new_id(),
        type=event.type,
        source=f"/{event.domain()}",
        subject="x",
        time=work.now,
        organizationid=office.organization_id,
        sequence=sequence,
        data=event.model_dump(mode="json", by_alias=True),
    )
    for reaction in reactions.all:
        if reaction.event_type == event.type:
            await reaction.handle(work, envelope)
    await work.finish()
    await office.work_off()


async def remind(
    api: httpx2.AsyncClient,
    who: people.Member,
    domain: str,
    kind: str,
    row_id: UUID,
    of: str,
    **given: Any,
) -> Any:
    """A reminder five working days before a date of something."""
    reference = {"domain": domain, "type": kind, "id": str(row_id)}
    given |= {"about": reference, "anchor": {"reference": reference, "kind": of}}
    body = factory.reminder_body(**given)
    made = await api.post(PATH, json=body, headers=who.acting)
    assert made.status_code == 201, made.text
    return made.json()


async def remind_of_closing(
    api: httpx2.AsyncClient, who: people.Member, tender_id: UUID, **given: Any
) -> Any:
    kind = "tenderOpportunity"
    return await remind(api, who, "opportunity", kind, tender_id, "closing", **given)


def facts(tender: TenderOpportunity, **given: Any) -> dict[str, Any]:
    """What every event of a tender says."""
    return {
        "organization_id": None if tender.shared else tender.organization_id,
        "tender_opportunity_id": tender.id,
        "ocid": None,
        "visibility": "private",
        "status": "open",
        "label": tender.title,
        "tender_number": "SCM 45/2026",
        "buyer_name": "Umzimkhulu Municipality",
        "closing_at": tender.closing_at,
        "time_zone": factory.HOME,
    } | given


def amended(tender: TenderOpportunity, closing_at: datetime) -> TenderOpportunityAmended:
    return TenderOpportunityAmended(
        **facts(tender, closing_at=closing_at),
        provinces=["KZN"],
        requirement_set_version=1,
        deadlines=[],
        amendment_number=1,
        material=True,
        level="material",
        short_notice=False,
        origin="source_diff",
        changes=[{"path": "/closingAt", "kind": "changed", "level": "material"}],
        previous_closing_at=tender.closing_at,
        reopened=False,
    )


async def asked(office: Office) -> list[Request]:
    return await office.all(select(Request).order_by(Request.created_at, Request.id))


@pytest.mark.rule("NOT-39")
async def test_a_reminder_knows_the_closing_and_follows_it(
    api: httpx2.AsyncClient, office: Office, owner: people.Member, tender: TenderOpportunity
) -> None:
    made = await remind_of_closing(api, owner, tender.id)

    await hear(office, amended(tender, LATER), sequence=tender.version + 1)
    await hear(office, amended(tender, tenders.CLOSING), sequence=tender.version)

    reminder = await office.get(Reminder, UUID(made["id"]))
    (event,) = await office.events("ReminderReanchored")
    (request,) = await asked(office)
    assert (made["status"], made["dueAt"]) == ("active", "2198-12-20T09:00:00Z")
    assert (reminder.due_at, event["rearmed"], event["collapsed"]) == (LATER, 0, 0)
    assert (request.topic_code, request.errors) == ("opportunity.amended", [])
    assert request.facts == {
        "tender": tender.title,
        "number": "SCM 45/2026",
        "change": "it closes later than before",
        "closingAt": "27 December 2198, 11:00 SAST",
    }
    assert request.audience == reminder.audience


async def test_a_reminder_on_an_unseen_tender_waits(
    api: httpx2.AsyncClient, host: Host, office: Office, owner: people.Member
) -> None:
    elsewhere = await tenders.tender(host, uuid4())

    hidden = await remind_of_closing(api, owner, elsewhere.id)
    missing = await remind_of_closing(api, owner, uuid4())

    assert (hidden["status"], missing["status"]) == ("awaiting_anchor", "awaiting_anchor")
    assert (hidden["dueAt"], missing["dueAt"]) == (None, None)


@pytest.mark.parametrize(
    ("kind", "audience", "messages"),
    [
        ("closing", [{"kind": "members"}], 0),
        ("closing", [{"kind": "role", "roleCode": "owner"}], 1),
        ("own", [{"kind": "members"}], 1),
    ],
)
async def test_a_reminder_for_all_covers_an_approaching_deadline(
    api: httpx2.AsyncClient,
    office: Office,
    owner: people.Member,
    tender: TenderOpportunity,
    kind: Any,
    audience: list[dict[str, str]],
    messages: int,
) -> None:
    await remind_of_closing(api, owner, tender.id, audience=audience)
    event = DeadlineApproaching(
        organization_id=office.organization_id,
        saved_opportunity_id=uuid4(),
        tender_opportunity_id=tender.id,
        deadline_id=uuid4(),
        kind=kind,
        due_at=tenders.CLOSING,
        time_zone=factory.HOME,
        threshold="P3D",
        label="closing: Construction of a community hall",
    )

    await hear(office, event, sequence=1)

    found = [one.topic_code for one in await asked(office)]
    assert found == ["opportunity.deadline_approaching"] * messages


@pytest.mark.rule("NOT-39")
async def test_people_who_heard_that_a_deadline_moved_hear_it_once(
    api: httpx2.AsyncClient, office: Office, owner: people.Member, tender: TenderOpportunity
) -> None:
    await remind_of_closing(api, owner, tender.id)

    soon = MARCH + timedelta(days=1)
    await hear(office, amended(tender, soon), sequence=tender.version + 1)

    assert [one.topic_code for one in await asked(office)] == ["notification.deadline_moved"]


async def test_a_cancelled_tender_ends_its_reminders(
    api: httpx2.AsyncClient, office: Office, owner: people.Member, tender: TenderOpportunity
) -> None:
    made = await remind_of_closing(api, owner, tender.id)
    closed = facts(tender, status="cancelled")

    by_time = TenderOpportunityClosed(**closed, reason="closing_time")
    await hear(office, by_time, sequence=tender.version + 1)
    kept = await office.get(Reminder, UUID(made["id"]))
    cancelled = TenderOpportunityClosed(**closed, reason="cancelled")
    await hear(office, cancelled, sequence=tender.version + 2)

    ended = await office.get(Reminder, UUID(made["id"]))
    assert kept.status == "active"
    assert (ended.status, ended.cancelled_reason) == ("cancelled", "anchor_withdrawn")
    assert [one.topic_code for one in await asked(office)] == ["notification.deadline_withdrawn"]


async def test_an_award_is_told_to_those_with_a_reminder(
    api: httpx2.AsyncClient, office: Office, owner: people.Member, tender: TenderOpportunity
) -> None:
    award = TenderOpportunityAwarded(**facts(tender, status="awarded"), awards=[])
    await hear(office, award, sequence=tender.version + 1)
    nobody = await asked(office)
    await remind_of_closing(api, owner, tender.id)

    await hear(office, award, sequence=tender.version + 2)

    (request,) = await asked(office)
    assert nobody == []
    assert (request.topic_code, request.errors) == ("opportunity.awarded", [])
    assert request.facts == {"tender": tender.title, "number": "SCM 45/2026"}


@pytest.mark.parametrize(
    ("state", "before", "words"),
    [
        ("scheduled", None, "compulsory site visit is scheduled"),
        ("scheduled", MARCH, "compulsory site visit moved"),
        ("cancelled", None, "compulsory site visit was cancelled"),
    ],
)
async def test_a_briefing_is_told_to_those_who_follow_the_tender(
    api: httpx2.AsyncClient,
    office: Office,
    owner: people.Member,
    tender: TenderOpportunity,
    state: Any,
    before: datetime | None,
    words: str,
) -> None:
    await remind_of_closing(api, owner, tender.id)
    event = BriefingScheduled(
        organization_id=office.organization_id,
        briefing_id=uuid4(),
        tender_opportunity_id=tender.id,
        kind="site_visit",
        starts_at=tenders.BRIEFING,
        time_zone=factory.HOME,
        compulsory=True,
        state=state,
        previous_starts_at=before,
        label=tender.title,
    )

    await hear(office, event, sequence=1)

    (request,) = await asked(office)
    assert (request.topic_code, request.errors) == ("opportunity.briefing_scheduled", [])
    assert (request.facts["briefing"], request.facts["tender"]) == (words, tender.title)
    assert request.about is not None
    assert request.about["id"] == str(tender.id)


async def test_a_reminder_follows_an_own_deadline(
    api: httpx2.AsyncClient, office: Office, owner: people.Member, tender: TenderOpportunity
) -> None:
    deadline_id = uuid4()
    made = await remind(api, owner, "opportunity", "deadline", deadline_id, "deadline")

    def changed(due_at: datetime, before: datetime | None, state: Any) -> DeadlineChanged:
        return DeadlineChanged(
            organization_id=office.organization_id,
            deadline_id=deadline_id,
            tender_opportunity_id=tender.id,
            kind="clarification",
            label="",
            due_at=due_at,
            time_zone=factory.HOME,
            state=state,
            previous_due_at=before,
        )

    await hear(office, changed(tenders.BRIEFING, None, "upcoming"), sequence=1)
    known = await office.get(Reminder, UUID(made["id"]))
    await hear(office, changed(tenders.CLOSING, tenders.BRIEFING, "upcoming"), sequence=2)
    moved = await office.get(Reminder, UUID(made["id"]))
    await hear(office, changed(tenders.CLOSING, None, "withdrawn"), sequence=3)
    ended = await office.get(Reminder, UUID(made["id"]))

    assert (known.status, known.due_at) == ("active", tenders.BRIEFING)
    assert moved.due_at == tenders.CLOSING
    assert ended.status == "cancelled"


async def test_a_reminder_follows_the_expiry_of_a_document(
    api: httpx2.AsyncClient, office: Office, owner: people.Member
) -> None:
    document_id = uuid4()
    about = {"organization_id": office.organization_id, "document_id": document_id}
    about |= {"document_version": 1, "document_type_code": "coida_letter"}
    uploaded = DocumentUploaded(**about, valid_until=date(2027, 4, 30))
    await hear(office, uploaded, sequence=1)

    made = await remind(api, owner, "compliance", "document", document_id, "expiry")
    later = DocumentChanged(**about, valid_until=date(2028, 4, 30), changed_fields=["expiresOn"])
    await hear(office, later, sequence=2)

    moved = await office.get(Reminder, UUID(made["id"]))
    assert (made["status"], made["dueAt"]) == ("active", "2027-04-30T22:00:00Z")
    assert moved.due_at == datetime(2028, 4, 30, 22, tzinfo=UTC)
    assert await asked(office) == []


async def test_a_shared_date_moves_in_each_company_that_follows_it(
    api: httpx2.AsyncClient, host: Host, office: Office, owner: people.Member
) -> None:
    shared = await tenders.tender(host)
    other = await people.member(host, uuid4(), role="owner")
    await deliveries.tenant(host, other.organization_id, sandbox=True)
    made = [await remind_of_closing(api, one, shared.id) for one in (owner, other)]
    event = amended(shared, LATER)

    origin = Origin("test", "test", "test", causation_id=str(uuid4()))
    work = Work(office.host, "notification", Scope(SYSTEM), origin, login="notification_system")
    await reminders.enqueue_followers(
        work,
        f"opportunity/tenderOpportunity/{shared.id}",
        kind="closing",
        due_at=event.closing_at,
        time_zone=event.time_zone,
        sequence=shared.version + 1,
        beside_key=None,
        news=None,
    )
    await work.finish()
    for whose in (office.organization_id, other.organization_id):
        await office.work_off(whose)

    first = await office.get(Reminder, UUID(made[0]["id"]))
    second = await office.get(Reminder, UUID(made[1]["id"]), other.organization_id)
    assert [first.due_at, second.due_at] == [LATER, LATER]
