"""Calls of Contract: awards, contracts, delivery, packages, risks and the end."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

from tests.factories import contract as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent
from thenga.kernel.process.host import Host


def _acting(organization_id: UUID, **more: str) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)} | more


async def _listing(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent({}, headers=_acting(organization_id))


Made = Callable[[Host, UUID], Awaitable[Any]]


def _on(name: str, make: Made, given: Body = None, *, versioned: bool = False) -> Maker:
    """A call on a row that a factory makes; with its version where the call needs it."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        row = await make(host, organization_id)
        headers = _acting(organization_id)
        if versioned:
            headers["If-Match"] = f'"{row.version}"'
        return Sent({name: row.id}, lambda _: given, headers=headers)

    return sent


def _below(given: Body = None) -> Maker:
    """A call below a contract in force."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        workspace_id = await factory.active(host, organization_id)
        return Sent({"workspaceId": workspace_id}, lambda _: given, _acting(organization_id))

    return sent


async def _opening(host: Host, who: Person, organization_id: UUID) -> Sent:
    event_id = await factory.award(host, organization_id)

    def body(ids: Ids) -> dict[str, Any]:
        return {
            "awardEventId": str(ids["awardEventId"]),
            "contractNumber": f"8/2/{uuid4().hex[:12]}",
            "title": "Road to the school",
            "category": "works",
            "counterparty": {"name": "Emfuleni Local Municipality", "kind": "municipality"},
            "contractValue": {"amount": "4830000.00", "currency": "ZAR"},
            "startsOn": "2026-11-01",
            "endsOn": "2027-09-30",
        }

    return Sent({"awardEventId": event_id}, body, _acting(organization_id))


async def _measuring(host: Host, who: Person, organization_id: UUID) -> Sent:
    metric = await factory.metric(host, organization_id)
    period = {"from": "2000-01-01", "to": "2198-01-01"}
    body = {"subject": "own", "period": period}
    return Sent({"workspaceId": metric.workspace_id}, lambda _: body, _acting(organization_id))


async def _closing(host: Host, who: Person, organization_id: UUID) -> Sent:
    workspace_id = await factory.closing(host, organization_id)
    return Sent({"workspaceId": workspace_id}, headers=_acting(organization_id))


async def _changing_closeout(host: Host, who: Person, organization_id: UUID) -> Sent:
    workspace_id = await factory.active(host, organization_id)
    body: dict[str, Any] = {"adjustments": []}
    return Sent({"workspaceId": workspace_id}, lambda _: body, _acting(organization_id))


PLAN = {
    "milestones": [
        {
            "key": "M1",
            "title": "Handover",
            "valuePercent": "100.0000",
            "durationDays": 10,
            "dueOn": "2027-04-14",
        }
    ]
}
PACKAGE = {
    "kind": "matter",
    "supplierName": "Kagiso Pipes",
    "title": "Late pipes",
    "dueOn": "2027-02-01",
}
RISK = {"title": "Rain", "likelihood": 2, "impact": 3}
LESSON = {"title": "Order pipes early", "text": "Pipes take eight weeks."}

MAKERS: dict[str, Maker] = {
    "list_awards": _listing,
    "open_contract_workspace": _opening,
    "list_contract_workspaces": _listing,
    "get_contract_workspace": _on("workspaceId", factory.pending),
    "change_contract_workspace": _on(
        "workspaceId", factory.pending, {"orderNumber": "PO-77"}, versioned=True
    ),
    "write_delivery_plan": _below(PLAN),
    "get_delivery_plan": _below(),
    "list_milestones": _listing,
    "get_milestone": _on("milestoneId", factory.milestone),
    "change_milestone": _on("milestoneId", factory.milestone, {"percentComplete": "40"}),
    "change_deliverable": _on("deliverableId", factory.deliverable, {"note": "On its way"}),
    "add_supplier_coordination": _below(PACKAGE),
    "list_supplier_coordination": _listing,
    "get_supplier_coordination": _on("coordinationId", factory.package),
    "change_supplier_coordination": _on("coordinationId", factory.package, {"text": "By rail"}),
    "add_contract_risk": _below(RISK),
    "list_contract_risks": _listing,
    "get_contract_risk": _on("riskId", factory.risk),
    "change_contract_risk": _on("riskId", factory.risk, {"actions": "Order covers"}),
    "record_performance": _measuring,
    "list_performance": _listing,
    "get_performance": _on("metricId", factory.metric),
    "write_closeout": _changing_closeout,
    "get_closeout": _closing,
    "add_lesson": _below(LESSON),
    "list_lessons": _listing,
    "get_lesson": _on("lessonId", factory.lesson),
    "change_lesson": _on("lessonId", factory.lesson, {"category": "supply"}),
}
