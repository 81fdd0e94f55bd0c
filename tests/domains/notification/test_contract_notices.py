"""Contracts: each event is told once, to those who can act; reminders follow a payment."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories import notification_times as times
from tests.factories.notification_requests import Office

from thenga.domains.contract.public import (
    ContractClosed,
    ContractRiskRaised,
    ContractWorkspaceOpened,
    InvoiceChanged,
    InvoiceOverdue,
    MilestoneAtRisk,
    MilestoneReached,
    PaymentRecorded,
    VariationExecuted,
)
from thenga.domains.notification.reactions import contract as told
from thenga.domains.notification.services.templates import topics
from thenga.domains.notification.tables import Escalation, Reminder, Request, RequestStatus
from thenga.kernel.declare.event import Envelope
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

VALUE = Money.of("4830000.00")
DUE = date(2026, 12, 2)


@pytest.fixture
async def office(clock: Time, host: Host, seeded: None) -> Office:
    """A sandbox: its messages are captured and not sent."""
    clock.set(datetime(2026, 11, 16, 8, tzinfo=UTC))
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    return Office(requests.with_ports(host), clock, organization_id)


async def hear(
    office: Office, react: Callable[..., Awaitable[None]], event: Any, *, times: int = 1
) -> None:
    for _ in range(times):
        work = requests.working(office.host, office.organization_id)
        await react(work, event)
        await work.finish()


async def asked(office: Office) -> list[Request]:
    return await office.all(select(Request).order_by(Request.created_at, Request.id))


async def test_a_life_of_a_contract_is_told_once_each(office: Office) -> None:
    about: dict[str, Any] = {"organization_id": office.organization_id, "workspace_id": uuid4()}
    opened = ContractWorkspaceOpened(
        **about,
        label="Road to the school",
        award_event_id=uuid4(),
        bid_workspace_id=uuid4(),
        tender_opportunity_id=None,
        contract_value=VALUE,
        category="works",
        regime="mfma",
        starts_on=date(2026, 11, 16),
        ends_on=date(2027, 9, 30),
    )
    varied = VariationExecuted(
        **about,
        variation_id=uuid4(),
        number="VO-001",
        label="Rock excavation",
        value_delta=Money.of("460000.00"),
        days_delta=14,
        current_value=Money.of("5290000.00"),
        current_ends_on=date(2027, 10, 14),
        cumulative_percent=Decimal("9.52"),
        limit_state="within",
        plan_number=2,
        strength="document",
    )
    risky = ContractRiskRaised(
        **about,
        risk_id=uuid4(),
        label="Strike at the quarry",
        score=20,
        band="critical",
        category="supplier",
        materialised=False,
    )
    closed = ContractClosed(
        **about,
        contract_number="8/2/RNM0614",
        title="Road to the school",
        buyer_name="Emfuleni Local Municipality",
        final_value=VALUE,
        started_on=date(2026, 11, 16),
        completed_on=date(2027, 10, 14),
        outcome="completed",
        tender_opportunity_id=None,
    )
    for react, event in (
        (told.tell_of_contract, opened),
        (told.tell_of_variation, varied),
        (told.tell_of_contract_risk, risky),
        (told.tell_of_closed_contract, closed),
    ):
        await hear(office, react, event, times=2)

    found = await asked(office)
    assert [(one.topic_code, one.errors) for one in found] == [
        ("contract.opened", []),
        ("contract.variation_executed", []),
        ("contract.risk_raised", []),
        ("contract.closed", []),
    ]
    assert {one.status for one in found} == {RequestStatus.ACCEPTED}
    assert found[1].facts["variation"] == "VO-001: Rock excavation"
    assert found[2].facts["state"] == "It is critical"
    assert topics()["contract.variation_executed"].mandatory


@pytest.mark.rule("NOT-41")
async def test_a_milestone_is_escalated_until_it_is_met(office: Office) -> None:
    about: dict[str, Any] = {"organization_id": office.organization_id, "workspace_id": uuid4()}
    about |= {"milestone_id": uuid4(), "due_on": DUE, "amount": VALUE}
    late = MilestoneAtRisk(
        **about, label="M2: Layer works", reasons=["behind"], overdue=True, forecast_on=None
    )

    def reached(outcome: str) -> MilestoneReached:
        return MilestoneReached(
            **about, outcome=outcome, met_on=DUE, days_late=0, strength="document"
        )

    await hear(office, told.escalate_milestone, late, times=2)
    await hear(office, told.resolve_milestone, reached("partially_met"))
    (open_,) = await office.all(select(Escalation))
    await hear(office, told.resolve_milestone, reached("met"))
    (settled,) = await office.all(select(Escalation))

    (request,) = await asked(office)
    assert request.facts["reasons"] == (
        "its due date has passed and its progress is behind the plan"
    )
    assert (open_.policy_key, open_.status) == ("contract.milestone", "open")
    assert (settled.status, settled.resolution_code) == ("resolved", "automatic")


@pytest.mark.rule("NOT-41")
async def test_an_overdue_invoice_is_escalated_until_settled(office: Office) -> None:
    about: dict[str, Any] = {"organization_id": office.organization_id, "workspace_id": uuid4()}
    about |= {"invoice_id": uuid4(), "outstanding": Money.of("627900.00")}

    def overdue(bucket: str) -> InvoiceOverdue:
        return InvoiceOverdue(
            **about,
            number="INV-0042",
            due_on=DUE,
            bucket=bucket,
            interest_per_day=None,
            counterparty_kind="municipality",
        )

    def paid(settled: bool) -> PaymentRecorded:
        return PaymentRecorded(
            **about,
            payment_id=uuid4(),
            amount=Money.of("100.00"),
            state="confirmed",
            received_on=DUE,
            settled=settled,
            days_from_receipt=30,
        )

    await hear(office, told.escalate_invoice, overdue("days_1_30"), times=2)
    await hear(office, told.escalate_invoice, overdue("days_31_60"))
    await hear(office, told.resolve_invoice, paid(False))
    (open_,) = await office.all(select(Escalation))
    await hear(office, told.resolve_invoice, paid(True))
    (settled,) = await office.all(select(Escalation))

    (request,) = await asked(office)
    assert (request.topic_code, request.errors) == ("contract.invoice_overdue", [])
    assert (request.facts["amount"], request.facts["age"]) == ("ZAR 627900.00", "1 to 30 days")
    assert (open_.status, settled.status) == ("open", "resolved")


@pytest.mark.rule("NOT-39")
async def test_a_reminder_follows_the_due_date_of_an_invoice(
    api: httpx2.AsyncClient, host: Host, office: Office
) -> None:
    owner = await people.member(host, office.organization_id, role="owner")
    invoice_id = uuid4()
    reference = {"domain": "contract", "type": "invoice", "id": str(invoice_id)}
    body = times.reminder_body(about=reference, anchor={"reference": reference, "kind": "payment"})
    made = await api.post("/notifications/reminders", json=body, headers=owner.acting)
    assert made.status_code == 201, made.text

    async def changed(sequence: int, change: str, due_on: date | None, owed: str) -> Reminder:
        event = InvoiceChanged(
            organization_id=office.organization_id,
            workspace_id=uuid4(),
            invoice_id=invoice_id,
            number="INV-0042",
            change=change,
            status="received",
            received_on=None,
            due_on=due_on,
            expected_on=due_on,
            outstanding=Money.of(owed),
            disputed=None,
            strength=None,
        )
        work = requests.working(office.host, office.organization_id)
        envelope = Envelope(
            id=new_id(),
            type=event.type,
            source="/contract",
            subject="x",
            time=work.now,
            organizationid=office.organization_id,
            sequence=sequence,
            data=event.model_dump(mode="json", by_alias=True),
        )
        await told.follow_payment(work, envelope)
        await work.finish()
        found: Reminder = await office.get(Reminder, UUID(made.json()["id"]))
        return found

    received = await changed(2, "received", DUE, "100.00")
    disputed = await changed(3, "disputed", DUE, "100.00")
    settled = await changed(4, "settled", DUE, "0.00")

    assert made.json()["status"] == "awaiting_anchor"
    assert received.due_at == disputed.due_at == datetime(2026, 12, 2, 22, tzinfo=UTC)
    assert settled.status == "cancelled"
