"""Awards of Bid, and contracts with what belongs to them, made by the services."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from tests.factories import held
from tests.factories.contract_money import contract, working
from thenga.domains.bid import public as bid
from thenga.domains.billing.provider import LocalEntitlements
from thenga.domains.billing.public import Entitlements
from thenga.domains.contract.reactions import reactions
from thenga.domains.contract.services import closeout, delivery, risks, suppliers, workspaces
from thenga.domains.contract.services.closeout import GivenCloseout
from thenga.domains.contract.services.delivery import GivenPerformance, Period
from thenga.domains.contract.services.workspaces import ContractFields
from thenga.domains.contract.tables import (
    Coordination,
    Deliverable,
    Lesson,
    Milestone,
    PerformanceMetric,
    Risk,
    Workspace,
)
from thenga.domains.contract.values.packages import PackageMilestone, rows_of_package
from thenga.kernel.declare.event import Envelope, Event
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

FEATURE = "contract.workspaces"
VALUE = Money.of("4830000.00")


def awarded(organization_id: UUID, **fields: Any) -> bid.BidAwarded:
    """A bid that was won, as Bid tells it."""
    given: dict[str, Any] = {
        "organization_id": organization_id,
        "workspace_id": uuid4(),
        "tender_opportunity_id": uuid4(),
        "label": "Road to the school",
        "outcome_id": uuid4(),
        "award_reference": "8/2/RNM0614",
        "awarded_on": date(2026, 11, 1),
        "awarded_value": VALUE,
        "buyer_name": None,
        "document_refs": [Reference(domain="compliance", type="document", id=uuid4())],
        "pack_id": None,
        "manifest_sha256": None,
        "bidders": [],
    }
    return bid.BidAwarded(**given | fields)


def won_outside(organization_id: UUID, **fields: Any) -> bid.ContractCreationRecorded:
    """A contract that was won outside of the platform, as Bid tells it."""
    more = {"tender_opportunity_id": None, "buyer_name": "Sedibeng Water"}
    return bid.ContractCreationRecorded(**awarded(organization_id, **more | fields).model_dump())


async def hear(
    host: Host,
    organization_id: UUID,
    event: Event,
    *,
    event_id: UUID | None = None,
    sequence: int = 1,
) -> UUID:
    """React to an event of another domain, as the consumer would; the ID of the event."""
    work = working(host, organization_id)
    envelope = Envelope(
        id=event_id or new_id(),
        type=event.type,
        source=f"/{event.domain()}",
        subject="x",
        time=work.now,
        organizationid=organization_id,
        correlationid=f"award-{event.aggregate_id}",
        sequence=sequence,
        data=event.model_dump(mode="json", by_alias=True),
    )
    for reaction in reactions.all:
        if reaction.event_type == event.type:
            await reaction.handle(work, envelope)
    await work.finish()
    return envelope.id


async def award(host: Host, organization_id: UUID, **fields: Any) -> UUID:
    """A stored award; the ID of its event. The plan has room for many contracts."""
    await held.granted(host, organization_id, FEATURE, 100_000)
    return await hear(host, organization_id, awarded(organization_id, **fields))


async def pending(host: Host, organization_id: UUID) -> Workspace:
    """A contract that nobody signed yet."""
    event_id = await award(host, organization_id)
    made_on = replace(host, bindings=Bindings(), closing=[], told={})
    made_on.bindings.bind(Entitlements, LocalEntitlements(made_on))
    work = working(made_on, organization_id)
    today = local_day(work.now)
    made = await workspaces.open_workspace(
        work,
        event_id,
        ContractFields(
            contract_number=f"8/2/{uuid4().hex[:10]}",
            title="Road to the school",
            category="works",
            counterparty={"name": "Emfuleni Local Municipality", "kind": "municipality"},
            value=VALUE,
            starts_on=today,
            ends_on=today + timedelta(days=300),
            terms=None,
        ),
    )
    work._jobs.clear()  # a worker of another test would tell Billing
    await work.finish()
    return made


async def active(host: Host, organization_id: UUID) -> UUID:
    """A contract in force with a baseline."""
    return (await contract(host, organization_id))[0]


async def milestone(host: Host, organization_id: UUID) -> Milestone:
    """A milestone of a contract in force."""
    _, milestones = await contract(host, organization_id)
    work = working(host, organization_id)
    try:
        return await work.get(Milestone, milestones["M1"])
    finally:
        await work.close()


async def deliverable(host: Host, organization_id: UUID) -> Deliverable:
    """Something that a milestone of a contract in force needs."""
    owner = await milestone(host, organization_id)
    work = working(host, organization_id)
    made = await work.add(
        Deliverable(
            organization_id=organization_id,
            workspace_id=owner.workspace_id,
            milestone_id=owner.id,
            key="D1",
            position=0,
            title="Drawings as built",
            evidence_refs=[],
        )
    )
    await work.finish()
    return made


def package_fields(**more: Any) -> dict[str, Any]:
    """A package of one milestone."""
    part = PackageMilestone("P1", "Culverts", date(2027, 4, 1), Decimal(100))
    given: dict[str, Any] = {
        "kind": "package",
        "supplier_id": uuid4(),
        "title": "Culverts",
        "value": Money.of("400000.00"),
        "pay_days": 30,
        "package_milestones": rows_of_package([part]),
    }
    return given | more


async def package(host: Host, organization_id: UUID, **more: Any) -> Coordination:
    """A package of a contract in force."""
    workspace_id = await active(host, organization_id)
    work = working(host, organization_id)
    made = await suppliers.add_coordination(work, workspace_id, package_fields(**more))
    await work.finish()
    return made


async def risk(host: Host, organization_id: UUID) -> Risk:
    """A risk of a contract in force."""
    workspace_id = await active(host, organization_id)
    work = working(host, organization_id)
    fields = {
        "title": "Rain",
        "category": "schedule",
        "likelihood": 2,
        "impact": 2,
        "response": "reduce",
        "milestone_ids": [],
    }
    made = await risks.add_risk(work, workspace_id, fields)
    await work.finish()
    return made


async def metric(host: Host, organization_id: UUID) -> PerformanceMetric:
    """Measured performance of a contract in force whose milestones are all met."""
    workspace_id, milestones = await contract(host, organization_id)
    work = working(host, organization_id)
    for milestone_id in milestones.values():
        met = await work.lock(Milestone, milestone_id, beside=True)
        met.met_on = met.due_on
        await work.save(met)
    await work.finish()
    work = working(host, organization_id)
    period = Period(date(2000, 1, 1), date(2199, 1, 1))
    made = await delivery.record_performance(work, workspace_id, GivenPerformance("own", period))
    await work.finish()
    return made


async def lesson(host: Host, organization_id: UUID) -> Lesson:
    """A draft of a lesson."""
    workspace_id = await active(host, organization_id)
    work = working(host, organization_id)
    fields = {
        "title": "Order pipes early",
        "text": "Pipes take eight weeks.",
        "tags": ["supply"],
        "visibility": "organization",
    }
    made = await closeout.capture_lesson(work, workspace_id, fields, publish=False)
    await work.finish()
    return made


async def closing(host: Host, organization_id: UUID) -> UUID:
    """A contract with a closeout."""
    workspace_id = await active(host, organization_id)
    work = working(host, organization_id)
    await closeout.manage_closeout(work, workspace_id, GivenCloseout())
    await work.finish()
    return workspace_id
