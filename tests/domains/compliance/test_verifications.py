"""Verifications: another person decides about exactly the bytes that count."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.factories import compliance_rows as rows
from tests.factories import identity as people
from tests.factories.compliance_documents import VERIFICATIONS, Office, pdf
from tests.factories.identity import Member
from tests.planting import plant
from tests.suites.calls import keys
from thenga.domains.compliance.lifecycles import VerificationLifecycle as Moves
from thenga.domains.compliance.permissions import Permission as P
from thenga.domains.compliance.services import evidence as room
from thenga.domains.compliance.services.evidence import decisions
from thenga.domains.compliance.tables import Verification, VerificationStatus
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.values.calendar import local_day


async def _linked(office: Office, officer: Member) -> tuple[Any, Any]:
    issued = local_day(office.host.now()) - timedelta(days=15)
    document = await office.clean(officer, issuedOn=issued.isoformat())
    return document, (
        await office.link(officer, document, await office.requirement(tender=True))
    ).json()


async def decided_by(office: Office, officer: Member, who: Member) -> tuple[Any, httpx2.Response]:
    """A proof that an officer brought, and the answer to somebody who verifies it."""
    _, made = await _linked(office, officer)
    asked = (await office.ask(officer, made["id"])).json()
    outcome = {"outcome": "verified", "evidenceSha256": made["sha256"]}
    return made, await office.decide(who.acting, asked["id"], **outcome)


@pytest.mark.rule("CMP-17", "CMP-18")
async def test_somebody_else_verifies_a_proof(office: Office) -> None:
    officer, approver = await office.member(), await office.member("approver")

    _, own = await decided_by(office, officer, officer)
    made, good = await decided_by(office, officer, approver)

    shown = await office.evidence(officer, made["id"])
    (told,) = await office.events("EvidenceVerified")
    print(f"own={own.json()['code']} colleague={good.json()['assurance']}")
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (good.status_code, good.json()["assurance"]) == (200, "internal")
    assert (shown["status"], shown["assurance"]) == ("verified", "internal")
    assert told["assurance"] == "internal"
    assert good.json()["validUntil"] <= made["validUntil"]


async def test_a_planted_decider_who_brought_the_proof_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody(*_: object) -> None: ...

    plant(monkeypatch, decisions, "_check_person", nobody)
    officer = await office.member()

    _, own = await decided_by(office, officer, officer)

    assert own.status_code == 200


@pytest.mark.rule("CMP-17")
async def test_a_proof_brought_by_a_key_counts_as_its_owner(office: Office) -> None:
    officer, approver = await office.member(), await office.member("approver")
    scopes = [str(code) for code in (P.DOCUMENT_UPLOAD, P.DOCUMENT_READ, P.EVIDENCE_LINK)]
    text = await keys.key(office.host, officer, officer.organization_id, scopes)
    _, made = await _linked(office, replace(officer, token=text))
    asked = (await office.ask(officer, made["id"])).json()
    outcome = {"outcome": "verified", "evidenceSha256": made["sha256"]}

    own = await office.decide(officer.acting, asked["id"], **outcome)
    good = await office.decide(approver.acting, asked["id"], **outcome)

    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert good.status_code == 200


@pytest.mark.rule("CMP-18")
async def test_one_verification_is_open_and_a_failure_has_a_reason(office: Office) -> None:
    officer, approver = await office.member(), await office.member("approver")
    _, made = await _linked(office, officer)

    asked = await office.ask(officer, made["id"])
    second = await office.ask(officer, made["id"])
    outcome = {"outcome": "failed", "evidenceSha256": made["sha256"]}
    unsaid = await office.decide(approver.acting, asked.json()["id"], **outcome)

    assert (asked.status_code, second.json()["code"]) == (201, "duplicate")
    assert unsaid.json()["code"] == "rule-violated"


@pytest.mark.rule("CMP-16")
async def test_of_two_deciders_one_wins(office: Office) -> None:
    officer = await office.member()
    both = [await office.member("approver"), await office.member("approver")]
    _, made = await _linked(office, officer)
    asked = (await office.ask(officer, made["id"])).json()
    sha = made["sha256"]
    bodies = [
        {"outcome": "verified", "evidenceSha256": sha},
        {"outcome": "failed", "reasonCode": "forged", "evidenceSha256": sha},
    ]

    answers = await asyncio.gather(
        *(
            office.decide(who.acting, asked["id"], **body)
            for who, body in zip(both, bodies, strict=True)
        )
    )

    assert sorted(one.status_code for one in answers) == [200, 409]


async def decided_about_old_bytes(office: Office) -> tuple[int, str | None]:
    """How a decision is answered about bytes that were replaced meanwhile."""
    officer, approver = await office.member(), await office.member("approver")
    document, made = await _linked(office, officer)
    waits = (await office.ask(officer, made["id"])).json()
    await office.renew(officer, document, pdf(mark="new bytes"))
    await office.settle()
    moved = await office.decide(
        approver.acting, waits["id"], outcome="verified", evidenceSha256=made["sha256"]
    )
    assert moved.json().get("currentSha256") != made["sha256"]
    return moved.status_code, moved.json().get("code")


@pytest.mark.rule("CMP-16")
async def test_new_bytes_move_what_is_decided_about(office: Office) -> None:
    assert await decided_about_old_bytes(office) == (409, "compliance-evidence-moved")


async def test_a_planted_decision_about_old_bytes_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def whatever(*_: object) -> None: ...

    plant(monkeypatch, decisions, "_check_unmoved", whatever)

    assert await decided_about_old_bytes(office) == (200, None)


@pytest.mark.rule("CMP-17")
async def test_the_work_of_somebody_who_left_is_free_again(office: Office) -> None:
    officer, leaver = await office.member(), await office.member("approver")
    other = await office.member("approver")
    _, made = await _linked(office, officer)
    asked = (await office.ask(officer, made["id"])).json()
    claimed = await office.decide(leaver.acting, asked["id"], claim=True)
    review = (await office.evidence(officer, made["id"]))["status"]

    work = office.work()
    await room.release_from(work, leaver.user_id)
    await work.finish()
    path = f"{VERIFICATIONS}/{asked['id']}"
    free = (await office.api.get(path, headers=officer.acting)).json()
    good = await office.decide(
        other.acting, asked["id"], outcome="verified", evidenceSha256=made["sha256"]
    )

    assert (claimed.json()["status"], review) == ("in_progress", "in_review")
    assert claimed.json()["assigneeUserId"] == str(leaver.user_id)
    assert (free["status"], free["assigneeUserId"]) == ("pending", None)
    assert good.status_code == 200


@pytest.mark.rule("CMP-18")
async def test_doubt_changes_no_status_and_a_failure_rejects(office: Office) -> None:
    officer, approver = await office.member(), await office.member("approver")
    _, made = await _linked(office, officer)
    statuses = []
    for body in (
        {"outcome": "inconclusive", "reasonCode": "source_down"},
        {"outcome": "failed", "reasonCode": "mismatch"},
    ):
        asked = (await office.ask(officer, made["id"])).json()
        answer = await office.decide(
            approver.acting, asked["id"], evidenceSha256=made["sha256"], **body
        )
        assert answer.status_code == 200, answer.text
        statuses.append((await office.evidence(officer, made["id"]))["status"])

    assert statuses == ["submitted", "rejected"]
    assert len(await office.events("VerificationInconclusive")) == 1
    assert len(await office.events("VerificationFailed")) == 1


@pytest.mark.rule("CMP-17")
async def test_the_platform_verifies_for_a_company_of_one(office: Office) -> None:
    officer = await office.member("owner")
    _, made = await _linked(office, officer)
    asked = (await office.ask(officer, made["id"], requestedFrom="platform")).json()
    await office.settle()
    staff = await people.staff(office.host, "platform_operator")
    queue = await office.api.get(
        f"{VERIFICATIONS}?queue=platform&sort=-createdAt", headers=staff.headers
    )
    mine = [one for one in queue.json()["items"] if one["id"] == asked["id"]]
    theirs = await office.api.get(f"{VERIFICATIONS}?queue=platform", headers=officer.acting)

    good = await office.decide(
        staff.headers, asked["id"], outcome="verified", evidenceSha256=made["sha256"]
    )
    await office.settle()

    again = await office.api.get(
        f"{VERIFICATIONS}?queue=platform&sort=-createdAt", headers=staff.headers
    )
    assert [one["organizationId"] for one in mine] == [str(office.organization_id)]
    assert theirs.status_code == 404
    assert (good.status_code, good.json()["assurance"]) == (200, "independent")
    assert asked["id"] not in [one["id"] for one in again.json()["items"]]


# Two doors, of which one is told what to decide.
DOORS: tuple[tuple[Move, dict[str, Any]], ...] = (
    (Moves.claim, {"claim": True}),
    (Moves.verify, {"outcome": "verified"}),
    (Moves.fail, {"outcome": "failed", "reasonCode": "mismatch"}),
    (Moves.doubt, {"outcome": "inconclusive", "reasonCode": "ambiguous"}),
    (Moves.return_, {"outcome": "needs_revision"}),
    (Moves.cancel, {}),
)
OPEN = (VerificationStatus.PENDING, VerificationStatus.IN_PROGRESS)


async def _standing(office: Office, status: VerificationStatus, who: Member) -> tuple[str, str]:
    """A verification in a state, asked and worked on by the person; its ID and what it is about."""
    made, evidence = await rows.verification(office.host, office.organization_id)
    work = office.work()
    held = await work.lock(Verification, made.id)
    held.status, held.requested_by, held.assignee_user_id = status, who.user_id, who.user_id
    held.checked_at = None if status in (*OPEN, VerificationStatus.CANCELLED) else work.now
    await work.save(held)
    await work.finish()
    return str(made.id), str(evidence.sha256)


@pytest.mark.parametrize("status", VerificationStatus)
async def test_the_doors_keep_to_the_table(office: Office, status: VerificationStatus) -> None:
    officer = await office.member()
    for move, told in DOORS:
        verification_id, sha = await _standing(office, status, officer)
        body = told | ({"evidenceSha256": sha} if "outcome" in told else {})
        path = f"{VERIFICATIONS}/{verification_id}/{move.called}"

        first = await office.api.post(path, json=body or None, headers=officer.acting)
        second = await office.api.post(path, json=body or None, headers=officer.acting)

        if status in move.sources or status is move.to:
            assert (first.status_code, first.json()["status"]) == (200, move.to), move.verb
            assert second.status_code == 200
            assert second.json()["version"] == first.json()["version"]  # a repeat does nothing
        else:
            refused = first.json()
            assert (first.status_code, refused["code"]) == (409, "invalid-transition"), move.verb
            assert (refused["from"], refused["operation"]) == (status, move.verb)


async def cancelled_by(office: Office, who: Member, verification_id: str) -> httpx2.Response:
    return await office.api.post(f"{VERIFICATIONS}/{verification_id}/cancel", headers=who.acting)


@pytest.mark.rule("CMP-18")
async def test_who_requested_a_verification_cancels_it(office: Office) -> None:
    officer, bidder = await office.member(), await office.member("bid_manager")
    _, made = await _linked(office, officer)
    asked = (await office.ask(bidder, made["id"])).json()

    theirs = await cancelled_by(office, officer, asked["id"])
    mine = await cancelled_by(office, bidder, asked["id"])
    again = await cancelled_by(office, bidder, asked["id"])

    shown = await office.evidence(officer, made["id"])
    assert [one["move"] for one in asked["allowedMoves"]] == ["decide", "cancel"]
    assert (theirs.status_code, theirs.json()["code"]) == (403, "forbidden")
    assert (mine.status_code, mine.json()["status"]) == (200, "cancelled")
    assert again.json()["version"] == mine.json()["version"]  # a repeat does nothing
    assert shown["status"] == "submitted"
    assert (await office.ask(bidder, made["id"])).status_code == 201


@pytest.mark.parametrize("days", [-1, 0])
async def test_a_verification_ends_today_at_the_earliest(office: Office, days: int) -> None:
    officer, approver = await office.member(), await office.member("approver")
    _, made = await _linked(office, officer)
    asked = (await office.ask(officer, made["id"])).json()
    ends = (local_day(office.host.now()) + timedelta(days=days)).isoformat()

    answer = await office.decide(
        approver.acting,
        asked["id"],
        outcome="verified",
        evidenceSha256=made["sha256"],
        validUntil=ends,
    )

    if days < 0:
        assert (answer.status_code, answer.json()["field"]) == (422, "validUntil")
    else:
        assert (answer.status_code, answer.json()["validUntil"]) == (200, ends)
