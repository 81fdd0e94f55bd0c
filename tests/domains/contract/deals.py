"""Contract E of the sheet as rows, active and planned, with a company that can invoice it.

Beginning and delivery have tests of their own; here a contract is in force from the start.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx2
from sqlalchemy import select

from tests.factories import facts
from tests.factories import identity as people
from tests.factories import organization as companies
from tests.factories.identity import Member
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.contract.services import ledger
from thenga.domains.contract.tables import (
    Award,
    AwardKind,
    AwardStatus,
    JournalLine,
    Milestone,
    MilestoneStatus,
    PlanRevision,
    PlanStatus,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.values.plans import PlannedMilestone, rows_of_plan
from thenga.domains.contract.values.terms import Advance, Retention, Terms
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

TERMS_E = Terms(
    payment_days=30,
    advance=Advance(Decimal(10), Decimal(25)),
    retention=Retention(Decimal(10), Decimal(5), Decimal(50), 90),
)
SHARES_E = {"M1": "20", "M2": "35", "M3": "25", "M4": "20"}
BANK = {
    "bankName": "First National Bank",
    "accountNumber": "62001234567",
    "branchCode": "250655",
    "accountType": "business",
    "holder": "Mokoena Civils (Pty) Ltd",
}
BUYER = {
    "name": "Emfuleni Local Municipality",
    "kind": "municipality",
    "address": "Corner Klasie Havenga and Frikkie Meyer Boulevard\nVanderbijlpark\n1911",
    "vatNumber": "4000846412",
    "emailDomain": "emfuleni.gov.za",
}
_MORNING = datetime(2026, 11, 2, 8, tzinfo=UTC)


def zar(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "ZAR"}


def working(host: Host, organization_id: UUID) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "contract", Scope(actor=SYSTEM, organization_id=organization_id), origin)


@dataclass
class Deal:
    """A contract in force, and the owner of the company that performs it."""

    api: httpx2.AsyncClient
    host: Host
    clock: Clock
    owner: Member
    workspace_id: UUID
    milestones: dict[str, UUID]
    timeline: Timeline = field(init=False)

    def __post_init__(self) -> None:
        domains = topology.load(["contract"])
        self.timeline = Timeline(self.host, self.clock, domains, self.id)

    @property
    def id(self) -> UUID:
        return self.owner.organization_id

    async def post(self, path: str, body: Any, *, who: Member | None = None) -> httpx2.Response:
        return await self.api.post(path, json=body, headers=(who or self.owner).acting)

    async def get(self, path: str) -> Any:
        answer = await self.api.get(path, headers=self.owner.acting)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def patch(
        self, path: str, body: Any, *, who: Member | None = None, version: int | None = None
    ) -> httpx2.Response:
        acting = (who or self.owner).acting
        if version is None:
            version = (await self.get(path))["version"]
        return await self.api.patch(path, json=body, headers=acting | {"If-Match": f'"{version}"'})

    # --- invoices ---------------------------------------------------------------------------------

    def lines(self, **amounts: str) -> list[dict[str, Any]]:
        """Lines of milestones by key: `M1="966000.00"`."""
        return [
            {
                "milestoneId": str(self.milestones[key]),
                "description": f"{key}, as certified",
                "amount": zar(amount),
            }
            for key, amount in amounts.items()
        ]

    async def draft(self, lines: Sequence[Any], **fields: Any) -> httpx2.Response:
        body = {"lines": list(lines)} | fields
        return await self.post(f"/contracts/workspaces/{self.workspace_id}/invoices", body)

    async def invoice(self, **amounts: str) -> Any:
        """A submitted invoice of milestones."""
        return await self.submitted(self.lines(**amounts))

    async def submitted(self, lines: Sequence[Any], **fields: Any) -> Any:
        answer = await self.draft(lines, submit=True, **fields)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def claim(self, kind: str, amount: str) -> httpx2.Response:
        line = {"description": kind.replace("_", " "), "amount": zar(amount)}
        return await self.draft([line], kind=kind, submit=True)

    async def move(
        self, invoice: Any, verb: str, *, who: Member | None = None, **more: Any
    ) -> httpx2.Response:
        path = f"/contracts/invoices/{invoice['id']}"
        return await self.patch(path, {"move": {"verb": verb} | more}, who=who)

    async def receive(self, invoice: Any, **more: Any) -> Any:
        answer = await self.move(invoice, "receive", **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def pay(self, invoice: Any, amount: str, **more: Any) -> httpx2.Response:
        today = self.host.now().date().isoformat()
        body = {"amount": zar(amount), "receivedOn": today, "seenInBank": True} | more
        return await self.post(f"/contracts/invoices/{invoice['id']}/payments", body)

    # --- what stands behind -----------------------------------------------------------------------

    async def balances(self) -> dict[str, str]:
        """The balance of each account that is not 0."""
        page = await self.get(f"/contracts/workspaces/{self.workspace_id}/journal")
        found = {one["account"]: one["balance"]["amount"] for one in page["balances"]}
        return {account: amount for account, amount in found.items() if amount != "0.00"}

    async def journal_sum(self) -> int:
        read = Reader(self.host, "contract", working(self.host, self.id)._scope, _origin())
        try:
            rows = await read.all(select(JournalLine), limit=100_000)
        finally:
            await read.close()
        return sum(row.amount_minor for row in rows)

    async def workspace(self) -> Workspace:
        work = working(self.host, self.id)
        try:
            return await work.get(Workspace, self.workspace_id)
        finally:
            await work.close()

    async def told(self, name: str) -> list[dict[str, Any]]:
        """Data of the events of this name, in the order of publishing."""
        async with self.host.engines.connection("contract", "contract_system") as connection:
            rows = await connection.fetch(
                "SELECT envelope FROM contract.outbox WHERE mesh_subject = $1 ORDER BY position",
                f"thenga.contract.{name}.{self.id}",
            )
        return [_data(row["envelope"]) for row in rows]

    async def meet(self, *keys: str, on: date | None = None) -> None:
        """Milestones that the buyer has accepted, practical completion with the last."""
        work = working(self.host, self.id)
        for key in keys:
            milestone = await work.lock(Milestone, self.milestones[key])
            milestone.status = MilestoneStatus.MET
            milestone.met_on = on or self.host.now().date()
            milestone.accepted_percent = Decimal(100)
            await work.save(milestone)
        if "M4" in keys:
            workspace = await work.lock(Workspace, self.workspace_id, beside=True)
            workspace.practical_completion_on = on or self.host.now().date()
            workspace.next_check_at = work.now
            await work.save(workspace)
        await work.finish()


def _origin() -> Origin:
    return Origin(action="test", request_id="test", correlation_id="test")


def _data(envelope: Any) -> dict[str, Any]:
    read = json.loads(envelope) if isinstance(envelope, str | bytes) else envelope
    data: dict[str, Any] = read["data"]
    return data


async def deal(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Clock,
    *,
    value: str = "4830000.00",
    terms: Terms = TERMS_E,
    met: bool = True,
    at: datetime = _MORNING,
    **columns: Any,
) -> Deal:
    """Contract E, with all milestones met unless the test meets them itself."""
    clock.set(at)
    founder = await people.person(host)
    company = await companies.organization(host, founder.user_id, name="Mokoena Civils (Pty) Ltd")
    owner = await people.member(host, company.id, role="owner", who=founder)
    await facts.stated(host, company.id, founder.user_id, vatNumber="4123456789", bankAccount=BANK)
    await companies.address(
        host, company.id, founder.user_id, line1="14 Tshilidzini Road", city="Gaborone"
    )
    workspace_id, milestones = await _rows(host, company.id, Money.of(value), terms, columns)
    made = Deal(api, host, clock, owner, workspace_id, milestones)
    if met:
        await made.meet(*SHARES_E)
    return made


async def _rows(
    host: Host, organization_id: UUID, value: Money, terms: Terms, columns: dict[str, Any]
) -> tuple[UUID, dict[str, UUID]]:
    work = working(host, organization_id)
    made = await add_rows(work, organization_id, value, terms, columns)
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
    workspace = await work.add(
        Workspace(
            **(
                {
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
                | known
                | columns
            )
        )
    )
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
        calendar="working",
        due_on=date(2027, 4, 21),
        technique="zero_hundred",
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
