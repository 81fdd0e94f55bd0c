"""Contract E, a worked example, as rows: active and planned, with a company that can invoice it.

Beginning and delivery have tests of their own; here a contract is in force from the start.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx2
from sqlalchemy import select

from tests.factories import facts
from tests.factories import identity as people
from tests.factories import organization as companies
from tests.factories.contract_money import SHARES_E, TERMS_E, add_rows, working
from tests.factories.identity import Member
from tests.settling import SameClock
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.contract.tables import JournalLine, Milestone, MilestoneStatus, Workspace
from thenga.domains.contract.values.terms import Terms
from thenga.domains.identity.public import Decisions
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

VAT_NUMBER = "4123456784"
BANK = {
    "bankName": "First National Bank",
    "accountNumber": "62001234567",
    "branchCode": "250655",
    "accountType": "business",
    "holder": "Mokoena Civils (Pty) Ltd",
}
_MORNING = datetime(2026, 11, 2, 8, tzinfo=UTC)


PROOF: dict[str, Any] = {
    "evidenceRefs": [
        {"domain": "compliance", "type": "document", "id": "019a0000-0000-7000-8000-00000000000a"}
    ],
    "confirmedOn": "2026-11-02",
    "byPosition": "Project manager",
}


def zar(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "ZAR"}


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
        self.timeline = Timeline(worker_of(self.host), self.clock, domains, self.id)

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

    async def at(self, moment: datetime) -> None:
        """Go on at another moment; sessions end when time passes, so the owner signs in again."""
        self.clock.set(moment)
        await self.sign_in()

    async def sign_in(self) -> None:
        self.owner = await people.member(self.host, self.id, role="owner")

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


class Desk:
    """Whoever drafts variations, and the colleague who files what the buyer decided."""

    def __init__(self, e: Deal, filer: Member) -> None:
        self.e, self.filer = e, filer

    async def draft(self, delta: str, **more: Any) -> Any:
        body = {
            "title": "Rock excavation",
            "kinds": ["value"],
            "reasonCode": "unforeseen_conditions",
            "valueDelta": zar(delta),
            "milestoneChanges": [{"key": "M2", "amountDelta": zar(delta)}],
        }
        path = f"/contracts/workspaces/{self.e.workspace_id}/variations"
        answer = await self.e.post(path, body | more)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def move(self, variation: Any, verb: str, **more: Any) -> httpx2.Response:
        path = f"/contracts/variations/{variation['id']}"
        who = self.filer if "confirmation" in more else None
        return await self.e.patch(path, {"move": {"verb": verb} | more}, who=who)

    async def approve(self, delta: str, **more: Any) -> Any:
        """A variation that the buyer approved."""
        variation = await self.draft(delta, **more)
        assert (await self.move(variation, "submit")).status_code == 200
        answer = await self.move(variation, "approve", confirmation=PROOF)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def sign(self, variation: Any, party: str) -> httpx2.Response:
        more: dict[str, Any] = {"party": party, "reason": "Agreed on site"}
        if party == "buyer":
            more["confirmation"] = PROOF
        return await self.move(variation, "sign", **more)

    async def execute(self, delta: str, **more: Any) -> httpx2.Response:
        variation = await self.approve(delta, **more)
        await self.sign(variation, "supplier")
        return await self.sign(variation, "buyer")

    async def value(self) -> str:
        row = await self.e.workspace()
        return f"{row.current_value_minor / 100:.2f}"


def _origin() -> Origin:
    return Origin(action="test", request_id="test", correlation_id="test")


def worker_of(host: Host) -> Host:
    """The host of a worker: by the same clock, with every port answered."""
    made = replace(host, bindings=Bindings(), closing=[], told={}, clock=SameClock(host))
    topology.bind(made, topology.load(topology.DOMAINS), gate=Decisions)
    return made


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
    has_bank: bool = True,
    mode: str = "live",
    at: datetime = _MORNING,
    **columns: Any,
) -> Deal:
    """Contract E, with all milestones met unless the test meets them itself."""
    clock.set(at)
    founder = await people.person(host)
    name = "Mokoena Civils (Pty) Ltd"
    company = await companies.organization(host, founder.user_id, name=name, mode=mode)
    sandbox = mode == "sandbox"
    owner = await people.member(host, company.id, role="owner", who=founder, sandbox=sandbox)
    known = {"vatNumber": VAT_NUMBER} | ({"bankAccount": BANK} if has_bank else {})
    await facts.stated(host, company.id, founder.user_id, **known)
    await companies.address(
        host, company.id, founder.user_id, line1="14 Tshilidzini Road", city="Gaborone"
    )
    work = working(host, company.id)
    workspace_id, milestones = await add_rows(work, company.id, Money.of(value), terms, columns)
    await work.finish()
    made = Deal(api, host, clock, owner, workspace_id, milestones)
    if met:
        await made.meet(*SHARES_E)
    return made
