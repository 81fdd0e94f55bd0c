"""Calls of flags, reviews, decisions, dashboards and tenants, by staff."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote
from uuid import UUID

from tests.factories import flags, identity, reviews
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, filled
from thenga.kernel.process.host import Host

Before = Callable[[Host], Awaitable[dict[str, UUID]]]


async def _nothing(host: Host) -> dict[str, UUID]:
    return {}


async def _flag(host: Host) -> dict[str, UUID]:
    return {"flagId": (await flags.flag(host)).id}


async def _review(host: Host) -> dict[str, UUID]:
    return {"reviewId": (await reviews.review(host)).id}


async def _submitted(host: Host) -> dict[str, UUID]:
    return {"reviewId": (await reviews.review(host, submitted=True)).id}


async def _finding(host: Host) -> dict[str, UUID]:
    return {"findingId": (await reviews.finding(host)).id}


async def _decision(host: Host) -> dict[str, UUID]:
    return {"decisionId": (await reviews.decision(host)).id}


def _by(
    role: str,
    before: Before = _nothing,
    given: dict[str, Any] | None = None,
    *,
    named: bool = True,
    **more: Any,
) -> Maker:
    """A call of staff with that role, on what was made before."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids, staff = await before(host), await identity.staff(host, role)
        body = None if given is None else filled(given)

        def sent(_: Ids) -> Body:
            return body

        return Sent(ids if named else {}, sent, staff.headers, by_staff=True, **more)

    return make


async def _tenant(host: Host, who: Person, organization_id: UUID) -> Sent:
    staff = await identity.staff(host, "platform_support")
    headers = staff.headers | {"X-Admin-Reason": quote("the customer called us about a payment")}
    return Sent({"organizationId": organization_id}, headers=headers, by_staff=True)


OPERATOR, AUDITOR = "platform_operator", "platform_auditor"
_REASON = {"reason": reviews.REASON}

MAKERS: dict[str, Maker] = {
    "list_feature_flags": _by(OPERATOR, _flag, named=False),
    "create_feature_flag": _by(
        OPERATOR, given={"key": "bid.f*", "description": "Explains prices", **_REASON}
    ),
    "get_feature_flag": _by(OPERATOR, _flag),
    "roll_out_feature_flag": _by(
        OPERATOR, _flag, {"mode": "percentage", "percentage": "12.5", **_REASON}
    ),
    "open_audit_review": _by(AUDITOR, given=reviews.review_body()),
    "list_audit_reviews": _by(AUDITOR, _review, named=False),
    "get_audit_review": _by(AUDITOR, _review),
    "record_finding": _by(AUDITOR, _review, reviews.finding_body()),
    "submit_audit_review": _by(AUDITOR, _review, _REASON),
    "close_audit_review": _by(AUDITOR, _submitted, {"conclusion": "All is well. *", **_REASON}),
    "get_finding": _by(AUDITOR, _finding),
    "verify_finding": _by(AUDITOR, _finding, _REASON),
    "record_governance_decision": _by(OPERATOR, given=reviews.decision_body()),
    "list_governance_decisions": _by(OPERATOR, _decision, named=False),
    "get_governance_decision": _by(OPERATOR, _decision),
    "list_dashboards": _by(OPERATOR),
    "get_dashboard": _by(OPERATOR, parts={"dashboardId": "support"}),
    "get_tenant": _tenant,
}
