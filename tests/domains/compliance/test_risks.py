"""Risks: raised and closed by rules, accepted by another person for a time."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import compliance_treated as treated
from tests.factories import identity as people
from tests.factories.compliance_readiness import Prover
from tests.factories.identity import Member
from tests.planting import plant
from tests.timeline import Timeline
from thenga import topology
from thenga.domains.compliance.services import recomputing, risks
from thenga.domains.compliance.services.risks import risks as risk_moves
from thenga.domains.compliance.tables import Risk
from thenga.kernel.process.host import Host

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)


class Board(Prover):
    """A company with risks and two people who may treat and accept them."""

    def __init__(self, api: httpx2.AsyncClient, host: Host, clock: Time) -> None:
        super().__init__(host, uuid4())
        self.api, self.clock = api, clock
        domains = topology.load(["compliance"])
        self.timeline = Timeline(host, clock, domains, self.organization_id)

    async def member(self) -> Member:
        return await people.member(self.host, self.organization_id, role="compliance_officer")

    async def change(self, who: Member, risk: Any, version: int, **body: Any) -> httpx2.Response:
        headers = who.acting | {"If-Match": f'"{version}"'}
        return await self.api.patch(f"/compliance/risks/{risk}", json=body, headers=headers)

    async def listed(self, **query: Any) -> list[Any]:
        """The list as somebody sees it who has just signed in; sessions do not last for months."""
        who = await self.member()
        query["organizationId"] = str(self.organization_id)
        answer = await self.api.get("/compliance/risks", params=query, headers=who.acting)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["items"])

    async def told(self, name: str) -> list[Any]:
        text = (
            "SELECT envelope::jsonb->'data' AS data FROM compliance.outbox "
            "WHERE organization_id = $1 AND mesh_subject LIKE $2 ORDER BY position"
        )
        subject = f"thenga.compliance.{name}.%"
        async with self.host.engines.connection("compliance", "compliance_system") as link:
            found = await link.fetch(text, self.organization_id, subject)
        return [one["data"] for one in found]


@pytest.fixture
async def board(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> Board:
    clock.set(NOW)
    return Board(api, host, clock)


MOVE = {"verb": "accept", "reason": "Renewal is on its way", "until": "2026-12-16"}


async def accepted_by_owner(board: Board) -> tuple[int, str | None]:
    """How the owner of a risk of score 20 is answered who accepts it."""
    owner = await board.member()
    made = await treated.risk(board.host, board.organization_id, owner_user_id=owner.user_id)
    answer = await board.change(owner, made.id, 1, move=MOVE)
    return answer.status_code, answer.json().get("code")


@pytest.mark.rule("CMP-35")
async def test_a_serious_risk_is_not_accepted_by_its_owner(board: Board) -> None:
    assert await accepted_by_owner(board) == (403, "same-person")


async def test_a_planted_owner_who_accepts_the_risk_is_found(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, risk_moves, "_check_acceptance", lambda *_: None)

    assert await accepted_by_owner(board) == (200, None)


async def statuses_of_accepted(board: Board) -> tuple[list[str], list[str]]:
    """A risk accepted until day 30: its status on days 30 and 31, and what was told."""
    owner, other = await board.member(), await board.member()
    made = await treated.risk(board.host, board.organization_id, owner_user_id=owner.user_id)
    unsaid = await board.change(other, made.id, 1, move=MOVE | {"reason": None})
    too_long = await board.change(other, made.id, 1, move=MOVE | {"until": "2027-11-16"})
    taken = await board.change(other, made.id, 1, move=MOVE)
    assert (unsaid.status_code, too_long.status_code) == (422, 422)
    assert (taken.status_code, taken.json()["status"]) == (200, "accepted")
    seen = []
    for days in (30, 31):
        await board.timeline.until(NOW + timedelta(days=days))
        seen += [one["status"] for one in await board.listed()]
    told = [one["status"] for one in await board.told("ComplianceRiskChanged")]
    print(f"days_30_31={seen} risk_events={told}")
    return seen, told


LAPSED = ["accepted", "open"]


@pytest.mark.rule("CMP-35")
async def test_an_accepted_risk_is_open_again_after_its_last_day(board: Board) -> None:
    assert await statuses_of_accepted(board) == (LAPSED, LAPSED)


async def test_a_planted_acceptance_that_never_ends_is_found(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, risk_moves, "_ONE_DAY", timedelta(days=400))

    assert await statuses_of_accepted(board) == (["accepted", "accepted"], ["accepted"])


@pytest.mark.rule("CMP-33")
async def test_residual_stands_beside_the_score(board: Board) -> None:
    who = await board.member()
    made = await treated.risk(board.host, board.organization_id)

    early = await board.change(who, made.id, 1, move={"verb": "mitigate"})
    changed = await board.change(
        who,
        made.id,
        1,
        likelihood=3,
        residualLikelihood=1,
        residualImpact=2,
        actions=[{"text": "Ask SARS for a new PIN"}],
        move={"verb": "mitigate"},
    )

    found = changed.json()
    assert early.json()["code"] == "rule-violated"
    assert (found["score"], found["level"], found["residualScore"]) == (15, "high", 2)
    assert (found["status"], found["actions"][0]["text"]) == (
        "mitigating",
        "Ask SARS for a new PIN",
    )


@pytest.mark.rule("CMP-34")
async def test_a_rule_raises_once_and_closes_when_the_cause_is_gone(board: Board) -> None:
    needs = await board.build()
    await board.timeline.until(datetime(2026, 12, 17, 8, tzinfo=UTC))
    expired = [one for one in await board.listed() if one["ruleCode"] == "gate_expired"]
    tax = [one for one in expired if one["requirementId"] == str(needs["tax_compliance"])]

    work = board.work()
    ends = NOW.date().replace(year=2027)
    await board.prove(work, needs["tax_compliance"], "tcs_pin_letter", ends=ends)
    await recomputing.mark_due(work)
    await work.finish()
    await board.timeline.until(datetime(2026, 12, 17, 9, tzinfo=UTC))
    after = await board.listed(status="closed")

    assert [(one["score"], one["level"], one["status"]) for one in tax] == [
        (25, "critical", "open")
    ]
    closed = [one["id"] for one in after if one["id"] == tax[0]["id"]]
    assert closed == [tax[0]["id"]]
    told = {
        name: [one["status"] for one in await board.told(name) if one["riskId"] == closed[0]]
        for name in ("ComplianceRiskRaised", "ComplianceRiskChanged")
    }
    assert told == {"ComplianceRiskRaised": ["open"], "ComplianceRiskChanged": ["closed"]}


async def test_whoever_leaves_owns_no_risk(board: Board) -> None:
    who = await board.member()
    made = await treated.risk(board.host, board.organization_id, owner_user_id=who.user_id)
    work = board.work()
    await risks.clear_owner(work, who.user_id)
    await work.finish()

    work = board.work()
    found = await work.get(Risk, made.id)
    await work.close()
    assert found.owner_user_id is None
