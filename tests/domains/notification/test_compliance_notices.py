"""Papers and proofs: each event of Compliance is told once, to those who can act on it."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import compliance_filed
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories.compliance_filed import Filed
from tests.factories.identity import Member
from tests.factories.notification_requests import Office

from thenga.domains.compliance.public import (
    ComplianceRiskChanged,
    ComplianceRiskRaised,
    DocumentExpired,
    DocumentExpiring,
    ReadinessChanged,
    VerificationFailed,
    VerificationRequested,
)
from thenga.domains.compliance.public.documents import RenewalInProgress
from thenga.domains.notification.reactions import compliance as told
from thenga.domains.notification.services.templates import topics
from thenga.domains.notification.tables import Escalation, Notification, Request, RequestStatus
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host

UNTIL = date(2026, 12, 31)
LETTER: dict[str, Any] = {
    "document_version": 2,
    "document_type_code": "coida_letter",
    "valid_until": UNTIL,
    "requirement_codes": ["coida_good_standing"],
}


@pytest.fixture
async def office(clock: Time, host: Host, seeded: None) -> Office:
    """A sandbox: its messages are captured and not sent."""
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


def expiring(filed: Filed, organization_id: UUID, window: int, left: int) -> DocumentExpiring:
    return DocumentExpiring(
        organization_id=organization_id,
        document_id=filed.document_id,
        **LETTER,
        window=window,
        days_left=left,
        renewal=RenewalInProgress(expected_on=date(2026, 12, 1)),
    )


async def filed(office: Office, document_class: str = "ordinary") -> Filed:
    """A document of the company with its evidence."""
    return await compliance_filed.filed(office.host, office.organization_id, document_class)


async def test_an_expiring_document_is_told_once_for_each_window(office: Office) -> None:
    here, letter = office.organization_id, await filed(office)
    for window, left in ((30, 30), (30, 29), (14, 14)):
        await hear(office, told.tell_of_expiring_document, expiring(letter, here, window, left))

    first, second = await asked(office)
    assert [first.topic_code, second.topic_code] == ["compliance.document_expiring"] * 2
    assert (first.facts["daysLeft"], second.facts["daysLeft"]) == ("30", "14")
    assert first.facts["document"] == "COIDA letter"
    assert first.facts["requirements"] == "COIDA good standing"
    assert first.facts["renewal"] == "The renewed document is expected on 01 December 2026."
    assert first.audience[0]["permission"] == "compliance:document:update"


async def test_an_expired_document_is_told_once(office: Office) -> None:
    letter = await filed(office)
    event = DocumentExpired(
        organization_id=office.organization_id, document_id=letter.document_id, **LETTER
    )

    await hear(office, told.tell_of_expired_document, event, times=2)

    (request,) = await asked(office)
    assert (request.topic_code, request.lane) == ("compliance.document_expired", "urgent")
    assert request.facts["validUntil"] == "2026-12-31"
    assert request.facts["renewal"] == "No renewal has been recorded."


def requested(organization_id: UUID, whom: str, evidence: Filed) -> VerificationRequested:
    return VerificationRequested(
        organization_id=organization_id,
        verification_id=uuid4(),
        evidence_id=evidence.evidence_id,
        method="manual",
        requested_from=whom,
    )


async def test_those_who_verify_are_told_of_a_request(host: Host, office: Office) -> None:
    roles = ("owner", "compliance_officer", "approver", "contributor", "viewer")
    members = {role: await people.member(host, office.organization_id, role=role) for role in roles}

    await hear(
        office,
        told.tell_verifiers,
        requested(office.organization_id, "internal", await filed(office)),
    )
    await office.work_off()

    reached = await persons(office, members)
    assert reached == ["approver", "compliance_officer", "owner"]


def failed(organization_id: UUID, evidence: Filed) -> VerificationFailed:
    return VerificationFailed(
        organization_id=organization_id,
        evidence_id=evidence.evidence_id,
        verification_id=uuid4(),
        proof_version=1,
        reason_code="wrong_document",
        requirement_codes=["bbbee_status"],
    )


async def _reached_by(office: Office, document_class: str) -> list[list[str]]:
    """Who was told that a document expires, has expired and failed, and of a verification."""
    roles = ("compliance_officer", "bid_manager", "contributor", "approver", "viewer")
    here = office.organization_id
    members = {role: await people.member(office.host, here, role=role) for role in roles}
    paper = await filed(office, document_class)
    letter = LETTER | {"document_id": paper.document_id}
    reached = []
    for react, event in (
        (
            told.tell_of_expiring_document,
            DocumentExpiring(organization_id=here, **letter, window=30, days_left=30),
        ),
        (told.tell_of_expired_document, DocumentExpired(organization_id=here, **letter)),
        (told.tell_of_failed_verification, failed(here, paper)),
        (told.tell_verifiers, requested(here, "internal", paper)),
    ):
        known = {one.id for one in await office.all(select(Notification))}
        await hear(office, react, event)
        await office.work_off()
        new = [one for one in await office.all(select(Notification)) if one.id not in known]
        found = {one.user_id for one in new}
        reached.append(sorted(role for role, who in members.items() if who.user_id in found))
    return reached


_CONFIDANTS = ["approver", "bid_manager", "compliance_officer"]
_KEEPERS = ["bid_manager", "compliance_officer", "contributor"]
_VERIFIERS = ["approver", "compliance_officer"]


@pytest.mark.rule("CMP-48")
@pytest.mark.parametrize(
    ("document_class", "reached"),
    [
        ("personal", [["compliance_officer"]] * 4),
        ("confidential", [_CONFIDANTS] * 3 + [_VERIFIERS]),
        ("ordinary", [_KEEPERS] * 3 + [_VERIFIERS]),
    ],
)
async def test_notices_of_a_document_reach_its_readers(
    office: Office, document_class: str, reached: list[list[str]]
) -> None:
    assert await _reached_by(office, document_class) == reached


async def test_planted_notice_for_all_keepers_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told, "_READERS", {})

    assert (await _reached_by(office, "personal"))[:3] == [_KEEPERS] * 3


async def persons(office: Office, members: dict[str, Member]) -> list[str]:
    """The roles of those who got a message."""
    found = {one.user_id for one in await office.all(select(Notification))}
    return sorted(role for role, member in members.items() if member.user_id in found)


async def test_a_request_to_the_platform_is_told_to_staff_only(office: Office) -> None:
    event = requested(office.organization_id, "platform", await filed(office))

    await hear(office, told.tell_verifiers, event)

    key = f"verification {event.verification_id} requested"
    mine = await office.all(select(Request).where(Request.dedupe_key == key), OPERATOR)
    assert await asked(office) == []
    assert [one.channel_kinds for one in mine] == [["in_app"]]  # a sandbox sends nothing outside


@pytest.mark.rule("NOT-3")
async def test_a_failed_verification_is_told_in_writing(office: Office) -> None:
    event = failed(office.organization_id, await filed(office))

    await hear(office, told.tell_of_failed_verification, event, times=2)

    (request,) = await asked(office)
    topic = topics()[request.topic_code]
    assert (topic.mandatory, topic.minimum_channels) == (True, ("email", "sms"))
    assert request.facts == {"requirements": "B-BBEE status", "reason": "wrong document"}


async def test_only_readiness_that_falls_is_told(office: Office) -> None:
    for direction, score in (("up", 80), ("level", 80), (None, 80), ("down", 49)):
        event = ReadinessChanged(
            organization_id=office.organization_id,
            verdict="not_ready" if direction == "down" else "ready_with_warnings",
            score=score,
            direction=direction,
            blockers=["tax_compliance", "coida_good_standing"],
            tender_opportunity_id=uuid4(),
        )
        await hear(office, told.tell_of_lower_readiness, event)

    (request,) = await asked(office)
    assert request.topic_code == "compliance.readiness_fell"
    assert request.facts == {
        "scope": "a tender that you follow",
        "verdict": "not ready",
        "blockers": "tax compliance, COIDA good standing",
    }
    assert request.about is not None
    assert request.about["type"] == "tenderOpportunity"


@pytest.mark.rule("NOT-41")
async def test_a_critical_risk_is_escalated_until_it_is_settled(office: Office) -> None:
    risk_id = uuid4()
    about = {"organization_id": office.organization_id, "risk_id": risk_id}

    def risk(event: Any, level: str, status: str) -> Any:
        return event(**about, rule_code="gate_expired", level=level, score=25, status=status)

    await hear(office, told.escalate_risk, risk(ComplianceRiskRaised, "medium", "open"))
    quiet = await office.all(select(Escalation))
    await hear(office, told.escalate_risk, risk(ComplianceRiskRaised, "critical", "open"), times=2)
    (opened,) = await office.all(select(Escalation))
    await hear(office, told.resolve_risk, risk(ComplianceRiskChanged, "critical", "mitigating"))
    (treated,) = await office.all(select(Escalation))
    await hear(office, told.resolve_risk, risk(ComplianceRiskChanged, "critical", "closed"))
    (settled,) = await office.all(select(Escalation))

    (request,) = await asked(office)
    assert quiet == []
    assert (opened.policy_key, opened.level, treated.status) == ("compliance.risk", 1, "open")
    assert (settled.status, settled.resolution_code) == ("resolved", "automatic")
    assert request.facts["risk"] == "a mandatory document has expired"
    assert (request.facts["level"], request.facts["score"]) == ("critical", "25")


async def test_every_notice_fits_its_template(office: Office) -> None:
    organization_id, letter = office.organization_id, await filed(office)
    await hear(office, told.tell_of_expiring_document, expiring(letter, organization_id, 7, 7))
    await hear(office, told.tell_verifiers, requested(organization_id, "internal", letter))

    found = await asked(office)
    assert {one.status for one in found} == {RequestStatus.ACCEPTED}
    assert [one.errors for one in found] == [[], []]
