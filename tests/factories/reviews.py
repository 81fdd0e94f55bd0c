"""Audit reviews, findings and governance decisions, made by staff over HTTP or by the service."""

from datetime import date
from typing import Any
from uuid import uuid4

import httpx2

from tests.factories import identity
from tests.factories.flags import by_staff
from tests.factories.identity import Person
from thenga.domains.administration.services import reviews
from thenga.domains.administration.tables import (
    AuditFinding,
    AuditReview,
    DecisionCategory,
    GovernanceDecision,
    ReviewKind,
)
from thenga.kernel.process.host import Host

REVIEWS = "/administration/audit-reviews"
FINDINGS = "/administration/findings"
DECISIONS = "/administration/governance-decisions"
REASON = "the yearly review of what staff did"


def review_body(**fields: Any) -> dict[str, Any]:
    return {
        "kind": "periodic",
        "title": "Access in the third quarter",
        "scope": {"domains": ["identity"], "from": "2026-07-01", "to": "2026-09-30"},
        "startsOn": "2026-10-01",
        "dueOn": "2026-10-31",
        "reviewerUserIds": [str(uuid4())],
        "reason": REASON,
    } | fields


def finding_body(**fields: Any) -> dict[str, Any]:
    return {
        "title": "A role was not removed",
        "severity": "high",
        "description": "A person who left still holds a platform role.",
        "ownerUserId": str(uuid4()),
        "reason": REASON,
    } | fields


def decision_body(**fields: Any) -> dict[str, Any]:
    return {
        "title": "Sign in with a second factor",
        "category": "security",
        "context": "Passwords alone were guessed.",
        "decision": "Staff sign in with a second factor.",
        "consequences": "Every member of staff needs a device.",
        "decidedOn": "2026-11-01",
        "decidedBy": [str(uuid4())],
        "reason": REASON,
    } | fields


async def auditor(host: Host) -> Person:
    """A member of staff who reviews."""
    return await identity.staff(host, "platform_auditor")


async def operator(host: Host) -> Person:
    """A member of staff who records decisions."""
    return await identity.staff(host, "platform_operator")


async def made(
    api: httpx2.AsyncClient, who: Person, path: str, body: dict[str, Any]
) -> dict[str, Any]:
    """What a POST made."""
    answer = await api.post(path, json=body, headers=who.headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def review(host: Host, *, submitted: bool = False) -> AuditReview:
    """A review that is open, or submitted by somebody."""
    work = by_staff(host)
    fields = {
        "kind": ReviewKind.PERIODIC,
        "title": "Access in the third quarter",
        "scope": {"domains": [], "actions": [], "from": "2026-07-01", "to": "2026-09-30"},
        "starts_on": date(2026, 10, 1),
        "due_on": date(2026, 10, 31),
        "reviewer_user_ids": [uuid4()],
    }
    opened = await reviews.open_review(work, fields=fields, reason=REASON)
    await work.finish()
    if submitted:
        work = by_staff(host)
        opened = await reviews.submit_review(work, opened.id, reason=REASON)
        await work.finish()
    return opened


async def finding(host: Host) -> AuditFinding:
    """An open finding of a new review."""
    found_in = await review(host)
    work = by_staff(host)
    fields = {
        "title": "A role was not removed",
        "severity": "high",
        "description": "A person who left still holds a platform role.",
        "evidence": [],
        "owner_user_id": uuid4(),
    }
    recorded = await reviews.record_finding(work, found_in.id, fields=fields, reason=REASON)
    await work.finish()
    return recorded


async def decision(host: Host) -> GovernanceDecision:
    """A decision that nothing supersedes yet."""
    work = by_staff(host)
    fields = {
        "title": "Sign in with a second factor",
        "category": DecisionCategory.SECURITY,
        "context": "Passwords alone were guessed.",
        "decision": "Staff sign in with a second factor.",
        "consequences": "Every member of staff needs a device.",
        "decided_on": date(2026, 11, 1),
        "decided_by": [uuid4()],
    }
    recorded = await reviews.record_decision(work, fields=fields, reason=REASON)
    await work.finish()
    return recorded
