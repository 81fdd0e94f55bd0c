"""Support cases as customers and staff make them, and what staff know of an organization."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2

from tests.factories import identity
from tests.factories.identity import Member, Person
from thenga.domains.administration.schemas.support_cases import OpenCase, WriteMessage
from thenga.domains.administration.services import support
from thenga.domains.administration.tables import CaseCategory, SupportCase, TenantCard
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Actor, ActorKind, Scope
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

PATH = "/administration/support-cases"
REASON = "the customer asked for help by phone"


def working(host: Host, user_id: UUID, organization_id: UUID) -> Work:
    """A unit of work of a member of an organization."""
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    actor = Actor(kind=ActorKind.USER, id=user_id)
    scope = Scope(actor=actor, organization_id=organization_id, user_id=user_id)
    work = Work(host, "administration", scope, origin)
    work.held_as = HeldAs.TENANT
    return work


async def case(host: Host, user_id: UUID, organization_id: UUID, **fields: Any) -> SupportCase:
    """A case that a member opened."""
    given: dict[str, Any] = {
        "subject": "We cannot sign in",
        "description": "The page stays empty after the password.",
        "category": CaseCategory.ACCESS,
        "impact": "team",
        "urgency": "medium",
        "links": [],
    }
    work = working(host, user_id, organization_id)
    made = await support.open_case(work, OpenCase.model_validate(given | fields))
    await work.finish()
    return made


async def standing_case(host: Host, user_id: UUID, organization_id: UUID) -> SupportCase:
    """A case as a row, which no limit counts against: walks make hundreds of them."""
    work = working(host, user_id, organization_id)
    made = await work.add(
        SupportCase(
            organization_id=organization_id,
            counterparty_id=OPERATOR,
            number=f"SC-{uuid4()}",
            requester_user_id=user_id,
            channel="web",
            priority="normal",
            clock_from=work.now,
            response_due_at=work.now + timedelta(days=1),
            due_at=work.now + timedelta(days=2),
            subject="We cannot sign in",
            description="The page stays empty after the password.",
            category=CaseCategory.ACCESS,
            impact="team",
            urgency="medium",
            links=[],
        )
    )
    await work.finish()
    return made


async def message(host: Host, made: SupportCase) -> None:
    """A message of the person who opened the case."""
    work = working(host, made.requester_user_id, made.organization_id)
    await support.write_message(work, made.id, WriteMessage(body="Any news of this?"))
    await work.finish()


_OPEN = """
    SELECT id FROM administration.support_case
    WHERE organization_id = $1 AND status <> 'resolved' ORDER BY id DESC FOR UPDATE SKIP LOCKED
"""
_MADE_EARLIER = """
    UPDATE administration.support_case SET created_at = created_at - interval '2 days'
    WHERE organization_id = $1 AND id = ANY ($2) AND created_at > $3::timestamptz - interval '1 day'
"""
_RESOLVED = """
    UPDATE administration.support_case
    SET status = 'resolved', next_check_at = NULL, resolved_at = $3, resolution_code = 'spam'
    WHERE organization_id = $1 AND id = ANY ($2)
"""


async def make_room(host: Host, organization_id: UUID, *, newest: int) -> None:
    """Have older cases resolved and all opened days ago, so that no limit is met.

    The newest stay open: they may be those of calls that a walk makes at the same time.
    """
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    work = Work(host, "administration", scope, origin)
    found = [row["id"] for row in await work.query(_OPEN, organization_id)]
    await work.run(_MADE_EARLIER, organization_id, found, work.now)
    await work.run(_RESOLVED, organization_id, found[newest:], work.now)
    await work.finish()


async def tenant_card(host: Host, organization_id: UUID, *, plan_code: str | None = None) -> None:
    """What the events of Organization and Billing would have told."""
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    work = Work(host, "administration", Scope(SYSTEM, organization_id), origin)
    card = TenantCard(id=organization_id, organization_id=organization_id, plan_code=plan_code)
    card.sandbox = False
    await work.add(card)
    await work.finish()


async def agent(host: Host) -> Person:
    """A member of staff who helps customers."""
    return await identity.staff(host, "platform_support")


async def opened(api: httpx2.AsyncClient, who: Member, **fields: Any) -> dict[str, Any]:
    """A case opened over HTTP."""
    body = {
        "subject": "We cannot sign in",
        "description": "The page stays empty after the password.",
        "category": "access",
        "impact": "organization",
        "urgency": "medium",
    } | fields
    answer = await api.post(PATH, json=body, headers=who.acting)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def triaged(
    api: httpx2.AsyncClient, staff: Person, case_id: str, **fields: Any
) -> httpx2.Response:
    """The triage of a case."""
    body = {
        "category": "access",
        "impact": "organization",
        "urgency": "medium",
        "reason": REASON,
    } | fields
    return await api.post(f"{PATH}/{case_id}/triage", json=body, headers=staff.headers)


async def resolved(
    api: httpx2.AsyncClient, staff: Person, case_id: str, code: str = "fixed"
) -> httpx2.Response:
    """The resolution of a case."""
    body = {"code": code, "text": "The page works again.", "reason": REASON}
    return await api.post(f"{PATH}/{case_id}/resolve", json=body, headers=staff.headers)
