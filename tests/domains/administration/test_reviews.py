"""Audit reviews with findings, and governance decisions that never change."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Time
from tests.factories import reviews as staff
from tests.factories.identity import Person
from tests.factories.reviews import DECISIONS, FINDINGS, REASON, REVIEWS, made
from tests.planting import plant, together
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.reviews import decisions
from thenga.domains.administration.tables import GovernanceDecision
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

ONCE = "administration-already-superseded"


@pytest.fixture
async def auditor(host: Host, seeded: None) -> Person:
    return await staff.auditor(host)


@pytest.fixture
async def other(host: Host, seeded: None) -> Person:
    return await staff.auditor(host)


@pytest.fixture
async def operator(host: Host, seeded: None) -> Person:
    return await staff.operator(host)


def platform(host: Host) -> Work:
    origin = Origin(action="test", request_id="test", correlation_id="test")
    return Work(host, "administration", Scope(actor=SYSTEM, platform=True), origin)


async def move(api: httpx2.AsyncClient, who: Person, path: str, **fields: Any) -> httpx2.Response:
    return await api.post(path, json={"reason": REASON} | fields, headers=who.headers)


async def test_a_review_is_submitted_and_closed_by_two_persons(
    api: httpx2.AsyncClient, auditor: Person, other: Person
) -> None:
    review = await made(api, auditor, REVIEWS, staff.review_body())
    path = f"{REVIEWS}/{review['id']}"

    early = await move(api, other, f"{path}/close", conclusion="All is well.")
    submitted = await move(api, auditor, f"{path}/review")
    alone = await move(api, auditor, f"{path}/close", conclusion="All is well.")
    closed = await move(api, other, f"{path}/close", conclusion="All is well.")
    again = await move(api, auditor, f"{path}/close", conclusion="Something else.")
    late = await api.post(f"{path}/findings", json=staff.finding_body(), headers=auditor.headers)

    assert review["number"].startswith("AR-")
    assert (early.status_code, early.json()["code"]) == (409, "invalid-transition")
    assert submitted.json()["reviewedBy"] == str(auditor.user_id)
    assert (alone.status_code, alone.json()["code"]) == (403, "same-person")
    assert (closed.json()["status"], closed.json()["closedBy"]) == ("closed", str(other.user_id))
    assert again.json() == closed.json()
    assert (late.status_code, late.json()["code"]) == (409, "invalid-transition")


async def test_the_database_refuses_one_person_for_both(
    api: httpx2.AsyncClient, host: Host, auditor: Person
) -> None:
    review = await made(api, auditor, REVIEWS, staff.review_body())
    finding = await made(api, auditor, f"{REVIEWS}/{review['id']}/findings", staff.finding_body())
    refused = 0

    for statement, row in (
        ("UPDATE administration.audit_review SET reviewed_by = $1, closed_by = $1", review),
        ("UPDATE administration.audit_finding SET owner_user_id = $1, verified_by = $1", finding),
    ):
        work = platform(host)
        with pytest.raises(asyncpg.CheckViolationError):
            await work.run(f"{statement} WHERE id = $2", auditor.user_id, UUID(row["id"]))
        await work.close()
        refused += 1

    print(f"checks=2 refused={refused}")


@pytest.mark.rule("ADM-30")
async def test_open_findings_keep_a_review_open(
    api: httpx2.AsyncClient, host: Host, clock: Time
) -> None:
    clock.set(datetime(2026, 12, 15, 10, tzinfo=UTC))
    auditor, other = await staff.auditor(host), await staff.auditor(host)
    review = await made(api, auditor, REVIEWS, staff.review_body())
    path = f"{REVIEWS}/{review['id']}"
    owned = staff.finding_body(ownerUserId=str(auditor.user_id))
    finding = await made(api, auditor, f"{path}/findings", owned)
    await move(api, auditor, f"{path}/review")

    refused = await move(api, other, f"{path}/close", conclusion="All is well.")
    by_owner = await move(api, auditor, f"{FINDINGS}/{finding['id']}/verify")
    proof = {"domain": "identity", "type": "role", "id": str(uuid4())}
    verified = await move(api, other, f"{FINDINGS}/{finding['id']}/verify", evidence=[proof])
    read = await api.get(f"{FINDINGS}/{finding['id']}", headers=other.headers)
    closed = await move(api, other, f"{path}/close", conclusion="All is well.")
    seen = await api.get(path, headers=other.headers)

    assert seen.json() == closed.json()
    assert (finding["dueOn"], finding["overdue"]) == ("2026-12-31", False)
    assert (refused.status_code, refused.json()["code"]) == (409, "administration-findings-open")
    assert refused.json()["openFindings"] == 1
    assert (by_owner.status_code, by_owner.json()["code"]) == (403, "same-person")
    assert (verified.json()["status"], verified.json()["evidence"]) == ("closed", [proof])
    assert read.json() == verified.json()
    assert [one["id"] for one in closed.json()["findings"]] == [finding["id"]]


@pytest.mark.rule("ADM-30")
async def test_an_incident_closes_only_with_the_regulator_told(
    api: httpx2.AsyncClient, auditor: Person, other: Person
) -> None:
    incident = {"detectedAt": "2026-11-01T08:00:00Z", "description": "A laptop was lost."}
    body = staff.review_body(kind="incident", incident=incident)
    review = await made(api, auditor, REVIEWS, body)
    path = f"{REVIEWS}/{review['id']}"
    await move(api, auditor, f"{path}/review")

    silent = await move(api, other, f"{path}/close", conclusion="The disk was sealed.")
    unknown = await move(
        api, other, f"{path}/close", conclusion="Sealed.", governanceDecisionId=str(uuid4())
    )
    closed = await move(
        api, other, f"{path}/close", conclusion="Sealed.",
        regulatorNotifiedAt="2026-11-02T08:00:00Z",
    )  # fmt: skip
    wide = staff.review_body(scope={"from": "2025-01-01", "to": "2026-09-30"})
    refused = await api.post(REVIEWS, json=wide, headers=auditor.headers)
    without = await api.post(
        REVIEWS, json=staff.review_body(kind="incident"), headers=auditor.headers
    )

    assert review["incident"]["description"] == "A laptop was lost."
    assert (silent.status_code, silent.json()["rule"]) == (422, "ADM-30")
    assert unknown.status_code == 422
    assert closed.json()["status"] == "closed"
    assert without.status_code == 422
    assert (refused.status_code, refused.json()["rule"]) == (422, "review-scope")


async def test_reviews_are_listed_and_filtered(api: httpx2.AsyncClient, auditor: Person) -> None:
    late = await made(api, auditor, REVIEWS, staff.review_body())
    coming = await made(api, auditor, REVIEWS, staff.review_body(dueOn="2199-01-01"))

    async def listed(query: str) -> set[str]:
        answer = await api.get(f"{REVIEWS}?limit=200&{query}", headers=auditor.headers)
        return {one["id"] for one in answer.json()["items"]}

    overdue, rest = await listed("overdue=true"), await listed("overdue=false&sort=dueOn")

    assert late["id"] in overdue
    assert coming["id"] not in overdue
    assert coming["id"] in rest
    assert await listed("kind=break_glass&status=closed&sort=-dueOn") == set()


@pytest.mark.rule("ADM-31")
async def test_a_decision_is_recorded_with_its_hash(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    made_ = await made(api, operator, DECISIONS, staff.decision_body())
    path = f"{DECISIONS}/{made_['id']}"

    read = await api.get(path, headers=operator.headers)
    found = await api.get(f"{DECISIONS}?q=SECOND&sort=-number", headers=operator.headers)
    ahead = await api.post(
        DECISIONS, json=staff.decision_body(decidedOn="2199-01-01"), headers=operator.headers
    )

    assert read.json() == made_
    assert (made_["integrity"], len(made_["contentHash"])) == ("ok", 64)
    assert made_["id"] in {one["id"] for one in found.json()["items"]}
    assert (ahead.status_code, ahead.json()["rule"]) == (422, "decided-on")


@pytest.mark.rule("ADM-31")
async def test_the_text_of_a_decision_cannot_be_changed(
    api: httpx2.AsyncClient, host: Host, operator: Person
) -> None:
    recorded = await made(api, operator, DECISIONS, staff.decision_body())
    change = "UPDATE administration.governance_decision SET decision = 'else' WHERE id = $1"
    refused = 0

    work = platform(host)
    with pytest.raises(asyncpg.RaiseError, match="stays as it is"):
        await work.run(change, UUID(recorded["id"]))
    await work.close()
    refused += 1
    async with host.engines.connection("administration", "administration_system") as connection:
        with pytest.raises(asyncpg.RaiseError, match="stays as it is"):
            await connection.execute(change, UUID(recorded["id"]))
        refused += 1

    print(f"logins=2 refused={refused}")


async def _two_successors(
    api: httpx2.AsyncClient, operator: Person
) -> tuple[list[str], dict[str, Any]]:
    """What two successors of one decision are answered that are recorded at once."""
    first = await made(api, operator, DECISIONS, staff.decision_body())
    body = staff.decision_body(supersedes=first["id"])

    answers = await asyncio.gather(
        *(api.post(DECISIONS, json=body, headers=operator.headers) for _ in range(2)),
        return_exceptions=True,
    )
    read = await api.get(f"{DECISIONS}/{first['id']}", headers=operator.headers)
    told = [
        "failed" if isinstance(one, BaseException) else one.json().get("code", "recorded")
        for one in answers
    ]
    return sorted(told), read.json()


@pytest.mark.rule("ADM-31")
async def test_a_decision_has_one_successor_only(api: httpx2.AsyncClient, operator: Person) -> None:
    told, former = await _two_successors(api, operator)

    third = await api.post(
        DECISIONS, json=staff.decision_body(supersedes=former["id"]), headers=operator.headers
    )
    print(f"successors=2 recorded={told.count('recorded')} refused={told.count(ONCE)}")
    assert told == [ONCE, "recorded"]
    assert (former["status"], former["integrity"]) == ("superseded", "ok")
    assert former["supersededBy"] is not None
    assert (third.status_code, third.json()["code"]) == (409, ONCE)


async def test_a_planted_look_before_the_insert_is_found(
    api: httpx2.AsyncClient, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_looked = together(2)

    async def look_then_insert(work: Work, fields: dict[str, Any]) -> GovernanceDecision:
        superseded = fields.get("supersedes")
        if superseded:
            if await work.find(GovernanceDecision, supersedes=superseded):
                raise decisions.AlreadySuperseded
            await both_looked()
        decision = GovernanceDecision(
            number=f"GD-2099-{await next_number(work, 'governance_decision:2099'):04d}",
            content_hash="",
            created_by=actions.actor_of(work),
            **fields,
        )
        decision.content_hash = decisions.content_hash(decision)
        return await work.add(decision)

    plant(monkeypatch, decisions, "_add", look_then_insert)

    told, _ = await _two_successors(api, operator)

    assert told != [ONCE, "recorded"]


@pytest.mark.rule("ADM-31")
async def test_numbers_of_decisions_have_no_gap(api: httpx2.AsyncClient, operator: Person) -> None:
    first = await made(api, operator, DECISIONS, staff.decision_body())
    unknown = staff.decision_body(supersedes=str(uuid4()))
    taken = staff.decision_body(supersedes=first["id"])

    answers = await asyncio.gather(
        *(
            api.post(
                DECISIONS,
                json=(unknown, taken, staff.decision_body())[n % 3],
                headers=operator.headers,
            )
            for n in range(24)
        )
    )

    numbers = sorted(int(a.json()["number"][-4:]) for a in answers if a.status_code == 201)
    begun = int(first["number"][-4:]) + 1
    gaps = len(set(range(begun, begun + len(numbers))) - set(numbers))
    print(f"records={len(answers)} recorded={len(numbers)} gaps={gaps}")
    assert len(numbers) == 9
    assert gaps == 0
