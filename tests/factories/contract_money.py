"""Contract E, a worked example, as rows: active and planned, and what its money needs: invoices,
payments and variations, made by the services."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from thenga.domains.contract.services import ledger
from thenga.domains.contract.services.invoicing import invoices, payments
from thenga.domains.contract.services.invoicing.drafts import LineGiven
from thenga.domains.contract.services.invoicing.payments import PaymentGiven
from thenga.domains.contract.services.invoicing.submission import Seller
from thenga.domains.contract.services.variations import variations
from thenga.domains.contract.tables import (
    Award,
    AwardKind,
    AwardStatus,
    DayCount,
    Invoice,
    InvoiceKind,
    Milestone,
    Payment,
    PlanRevision,
    PlanStatus,
    Technique,
    Variation,
    VariationReason,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.values.plans import PlannedMilestone, rows_of_plan
from thenga.domains.contract.values.terms import Advance, Retention, Terms
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

TERMS_E = Terms(
    payment_days=30,
    advance=Advance(Decimal(10), Decimal(25)),
    retention=Retention(Decimal(10), Decimal(5), Decimal(50), 90),
)
VALUE_E = Money.of("4830000.00")
SHARES_E = {"M1": "20", "M2": "35", "M3": "25", "M4": "20"}
BUYER = {
    "name": "Emfuleni Local Municipality",
    "kind": "municipality",
    "address": "Corner Klasie Havenga and Frikkie Meyer Boulevard\nVanderbijlpark\n1911",
    "vatNumber": "4000846412",
    "emailDomain": "emfuleni.gov.za",
}
SELLER = Seller(
    {"legal_name": "Mokoena Civils", "vat_number": "4123456789", "address": "14 Main Road"},
    refs=[],
    is_sandbox=False,
)


def working(host: Host, organization_id: UUID) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "contract", Scope(actor=SYSTEM, organization_id=organization_id), origin)


async def contract(
    host: Host, organization_id: UUID, **columns: Any
) -> tuple[UUID, dict[str, UUID]]:
    """Contract E in force, all milestones met; its id and those of its milestones."""
    work = working(host, organization_id)
    known = {"contract_number": f"8/2/{uuid4().hex[:8]}"}
    made = await add_rows(work, organization_id, VALUE_E, TERMS_E, known | columns)
    await work.finish()
    work = working(host, organization_id)
    for milestone_id in made[1].values():
        milestone = await work.lock(Milestone, milestone_id)
        milestone.accepted_percent = Decimal(100)
        await work.save(milestone)
    await work.finish()
    return made


async def invoice(host: Host, organization_id: UUID, *, is_submitted: bool = True) -> Invoice:
    """An invoice of the first milestone of a new contract."""
    workspace_id, milestones = await contract(host, organization_id)
    work = working(host, organization_id)
    made = await invoices.create_invoice(
        work,
        workspace_id,
        kind=InvoiceKind.PROGRESS,
        lines=[LineGiven("M1, as certified", Money.of("966000.00"), milestones["M1"])],
        fields={},
        submit_as=SELLER if is_submitted else None,
        is_submitted=is_submitted,
    )
    work._jobs.clear()  # a worker of another test would print it
    await work.finish()
    return made


async def payment(host: Host, organization_id: UUID) -> Payment:
    """A recorded payment on a submitted invoice."""
    claimed = await invoice(host, organization_id)
    work = working(host, organization_id)
    given = PaymentGiven(Money.of("100.00"), local_day(work.now))
    made = await payments.record_payment(work, claimed.id, given)
    await work.finish()
    return made


async def variation(host: Host, organization_id: UUID) -> Variation:
    """A draft of a variation."""
    workspace_id, _ = await contract(host, organization_id)
    work = working(host, organization_id)
    fields = {
        "title": "Rock excavation",
        "kinds": ["scope"],
        "scope": "Excavate rock",
        "reason_code": VariationReason.UNFORESEEN_CONDITIONS,
    }
    made = await variations.create_variation(work, workspace_id, fields=fields)
    await work.finish()
    return made


async def add_rows(
    work: Work, organization_id: UUID, value: Money, terms: Terms, columns: dict[str, Any]
) -> tuple[UUID, dict[str, UUID]]:
    """The award, the contract with its counters, the milestones and the plan."""
    award = await work.add(_award(organization_id, value))
    known: dict[str, Any] = {
        "category": "works",
        "counterparty": BUYER,
        "counterparty_key": BUYER["name"].casefold(),
        "counterparty_kind": BUYER["kind"],
        "regime": "mfma",
        "starts_on": date(2026, 10, 1),
        "ends_on": date(2027, 6, 30),
        "current_ends_on": date(2027, 6, 30),
    }
    given: dict[str, Any] = {
        "organization_id": organization_id,
        "award_id": award.id,
        "award_event_id": award.event_id,
        "source_domain": "bid",
        "outcome_id": award.outcome_id,
        "contract_number": "8/2/RNM0614",
        "order_number": "PO-4500012345",
        "title": "Rehabilitation of Frikkie Meyer Boulevard",
        "currency": value.currency,
        "contract_value_minor": value.minor,
        "current_value_minor": value.minor,
        "document_refs": [],
        "terms": terms.to_row(),
        "content_hash": "0" * 64,
        "status": WorkspaceStatus.ACTIVE,
        "plan_number": 1,
        "warnings": [],
        "correlation_id": "correlation-e",
        "activated_on": date(2026, 10, 1),
    }
    workspace = await work.add(Workspace(**given | known | columns))
    await ledger.open_money(work, workspace)
    amounts = value.share([Decimal(share) for share in SHARES_E.values()])
    milestones = {}
    for position, (key, share) in enumerate(SHARES_E.items(), start=1):
        row = _milestone(workspace, key, position, Decimal(share), amounts[position - 1])
        milestones[key] = (await work.add(row)).id
    await work.add(_plan(workspace, milestones))
    return workspace.id, milestones


def _award(organization_id: UUID, value: Money) -> Award:
    return Award(
        organization_id=organization_id,
        event_id=uuid4(),
        event_type="bid.BidAwarded.v1",
        kind=AwardKind.AWARD,
        source_domain="bid",
        outcome_id=uuid4(),
        bid_workspace_id=uuid4(),
        label="Rehabilitation of Frikkie Meyer Boulevard",
        awarded_on=date(2026, 9, 1),
        awarded_value_minor=value.minor,
        currency=value.currency,
        bidders=[],
        document_refs=[],
        correlation_id="correlation-e",
        payload_hash="0" * 64,
        status=AwardStatus.OPENED,
    )


def _milestone(
    workspace: Workspace, key: str, position: int, share: Decimal, amount: Money
) -> Milestone:
    return Milestone(
        id=new_id(),
        organization_id=workspace.organization_id,
        workspace_id=workspace.id,
        key=key,
        position=position,
        title=f"Milestone {key}",
        kind="delivery",
        value_percent=share,
        duration_days=10,
        calendar=DayCount.WORKING,
        due_on=date(2027, 4, 21),
        technique=Technique.ZERO_HUNDRED,
        depends_on=[],
        practical_completion=key == "M4",
        currency=amount.currency,
        amount_minor=amount.minor,
        evidence_refs=[],
        missing=[],
        plan_number=1,
        told_reasons=[],
    )


def _plan(workspace: Workspace, milestones: dict[str, UUID]) -> PlanRevision:
    planned = [
        PlannedMilestone(
            key=key,
            title=f"Milestone {key}",
            value_percent=Decimal(SHARES_E[key]),
            duration_days=10,
            due_on=date(2027, 4, 21),
            practical_completion=key == "M4",
        )
        for key in milestones
    ]
    return PlanRevision(
        organization_id=workspace.organization_id,
        workspace_id=workspace.id,
        number=1,
        status=PlanStatus.BASELINED,
        milestones=rows_of_plan(planned),
        content_hash="0" * 64,
        finish_on=date(2027, 4, 21),
        warnings=[],
    )
