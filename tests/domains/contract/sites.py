"""A company and its contracts over HTTP, from the award on."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2

from tests.factories import contract as factory
from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.kernel.process.host import Host

MUNICIPALITY = {"name": "Emfuleni Local Municipality", "kind": "municipality"}
PRIVATE = {"name": "Mokoena Homes", "kind": "private"}


def zar(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "ZAR"}


def reference() -> dict[str, str]:
    return {"domain": "compliance", "type": "document", "id": str(uuid4())}


async def occasions(host: Host, organization_id: UUID) -> list[str]:
    """What Billing is to be told of a company's contracts, in its order."""
    async with host.engines.connection("contract", "contract_system") as connection:
        queued = await connection.fetch(
            "SELECT args->'arguments'->>'occasion' AS occasion FROM contract.procrastinate_jobs "
            "WHERE task_name = 'contract.meter_workspace' AND args->>'organization_id' = $1 "
            "ORDER BY id",
            str(organization_id),
        )
    return [row["occasion"].split(":")[0] for row in queued]


def milestone(key: str, percent: str, due_on: str, **more: Any) -> dict[str, Any]:
    """One milestone of a plan."""
    given = {
        "key": key,
        "title": f"Part {key}",
        "valuePercent": percent,
        "durationDays": 10,
        "dueOn": due_on,
    }
    return given | more


@dataclass
class Site:
    """One company; whoever acts has just signed in, because what is grave needs a fresh proof."""

    api: httpx2.AsyncClient
    host: Host
    clock: Clock
    organization_id: UUID = field(default_factory=uuid4)
    timeline: Timeline = field(init=False)

    def __post_init__(self) -> None:
        domains = topology.load(["contract"])
        self.timeline = Timeline(
            *(self.host, self.clock, domains, self.organization_id), undone=("meter_workspace",)
        )

    async def member(self, role: str = "owner") -> Member:
        return await people.member(self.host, self.organization_id, role=role)

    def at(self, day: str, hour: int = 8) -> None:
        """Be in the morning of a day."""
        moment = datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC)
        self.clock.set(moment)

    async def post(self, path: str, body: Any, *, who: Member | None = None) -> httpx2.Response:
        acting = (who or await self.member()).acting
        return await self.api.post(path, json=body, headers=acting)

    async def made(self, path: str, body: Any) -> Any:
        answer = await self.post(path, body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def get(self, path: str) -> Any:
        answer = await self.api.get(path, headers=(await self.member("viewer")).acting)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def patch(self, path: str, body: Any, *, who: Member | None = None) -> httpx2.Response:
        acting = (who or await self.member()).acting
        version = (await self.get(path))["version"] if "deliverables" not in path else None
        headers = acting if version is None else acting | {"If-Match": f'"{version}"'}
        return await self.api.patch(path, json=body, headers=headers)

    async def moved(self, path: str, verb: str, **more: Any) -> Any:
        answer = await self.patch(path, {"move": {"verb": verb} | more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def proof(self, on: str | None = None) -> dict[str, Any]:
        """What shows that the buyer confirmed something."""
        day = on or self.host.now().date().isoformat()
        return {"evidenceRefs": [reference()], "confirmedOn": day, "byPosition": "Engineer"}

    # --- the contract -----------------------------------------------------------------------------

    async def award(self, **fields: Any) -> UUID:
        await held.granted(self.host, self.organization_id, factory.FEATURE, 100_000)
        event = factory.awarded(self.organization_id, **fields)
        return await factory.hear(self.host, self.organization_id, event)

    def contract(self, event_id: UUID, **fields: Any) -> dict[str, Any]:
        given = {
            "awardEventId": str(event_id),
            "contractNumber": f"8/2/{uuid4().hex[:8]}",
            "title": "Road to the school",
            "category": "works",
            "counterparty": PRIVATE,
            "contractValue": zar("4830000.00"),
            "startsOn": "2026-11-01",
            "endsOn": "2027-09-30",
        }
        return given | fields

    async def opened(self, **fields: Any) -> Any:
        event_id = await self.award()
        return await self.made("/contracts/workspaces", self.contract(event_id, **fields))

    async def sign(self, workspace: Any) -> None:
        path = f"/contracts/workspaces/{workspace['id']}"
        await self.moved(path, "sign", reason="Agreed")
        more = {"party": "buyer", "reason": "Signed copy", "confirmation": self.proof()}
        await self.moved(path, "sign", **more)

    async def active(self, **fields: Any) -> Any:
        workspace = await self.opened(**fields)
        await self.sign(workspace)
        path = f"/contracts/workspaces/{workspace['id']}"
        return await self.moved(path, "activate", reason="Both signed")

    async def plan(self, workspace: Any, *milestones: Any, **more: Any) -> httpx2.Response:
        path = f"/contracts/workspaces/{workspace['id']}/delivery-plan"
        return await self.post(path, {"milestones": list(milestones), "baseline": True} | more)

    async def planned(self, workspace: Any, *milestones: Any) -> dict[str, Any]:
        """The milestones of a baseline, by key."""
        answer = await self.plan(workspace, *milestones)
        assert answer.status_code == 201, answer.text
        page = await self.get(f"/contracts/milestones?workspaceId={workspace['id']}")
        return {one["key"]: one for one in page["items"]}

    async def live(self, event_id: UUID) -> Any:
        """The whole life of a contract from its award on; the closeout in which it ends."""
        contract = await self.made("/contracts/workspaces", self.contract(event_id))
        path = f"/contracts/workspaces/{contract['id']}"
        await self.sign(contract)
        await self.moved(path, "activate", reason="Both signed")
        plan = milestone("M1", "100", self.host.now().date().isoformat())
        found = (await self.planned(contract, plan))["M1"]
        for verb, more in (
            ("start", {}),
            ("submit", {}),
            ("accept", {"confirmation": self.proof()}),
        ):
            await self.moved(f"/contracts/milestones/{found['id']}", verb, **more)
        line = {"milestoneId": found["id"], "description": "All", "amount": found["amount"]}
        invoice = await self.made(
            f"{path}/invoices",
            {"lines": [line], "externalNumber": "A-1", "documentRef": reference(), "submit": True},
        )
        paid = {"amount": found["amount"], "receivedOn": plan["dueOn"], "seenInBank": True}
        await self.made(f"/contracts/invoices/{invoice['id']}/payments", paid)
        await self.made(f"{path}/lessons", {"title": "Early", "text": "Order", "publish": True})
        period = {"from": plan["dueOn"], "to": plan["dueOn"]}
        await self.made(f"{path}/performance", {"subject": "own", "period": period})
        await self.made(f"{path}/closeout", {})
        await self.close(contract["id"], {"verb": "submit"})
        last = {"verb": "complete", "reason": "Agreed", "confirmation": self.proof()}
        return await self.close(contract["id"], last)

    async def close(self, workspace_id: str, move: dict[str, Any]) -> Any:
        """One move of the closeout, each by another person."""
        path = f"/contracts/workspaces/{workspace_id}/closeout"
        seen = {"If-Match": f'"{(await self.get(path))["version"]}"'}
        who = await self.member()
        answer = await self.api.post(path, json={"move": move}, headers=who.acting | seen)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def told(self, name: str) -> list[dict[str, Any]]:
        """Data of the events of this name, in the order of publishing."""
        async with self.host.engines.connection("contract", "contract_system") as connection:
            rows = await connection.fetch(
                "SELECT envelope FROM contract.outbox WHERE mesh_subject = $1 ORDER BY position",
                f"thenga.contract.{name}.{self.organization_id}",
            )
        return [json.loads(row["envelope"])["data"] for row in rows]
